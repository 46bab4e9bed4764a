# headroom: images FROM scratch with static programs. See docs/docker.md.
#
#   docker build -t headroom .                           all programs
#   docker build -t headroom-sidecar --target sidecar .  the sidecar alone
#   make image                                           both, with version, revision and time of the checkout
#
# Works with BuildKit, with the classic builder and with buildah. With BuildKit `--platform linux/arm64` compiles for that
# architecture by Debian's cross compiler (others: --build-arg TARGETARCH=arm64), and runs the unit tests in qemu-user.

ARG BASE=debian:bookworm-slim
# set by BuildKit and buildah; the classic builder is told by scripts/image.sh
ARG BUILDPLATFORM
ARG TARGETARCH

# --- the programs: compiled and tested ---------------------------------------------------------------------------------
FROM --platform=${BUILDPLATFORM:-linux/amd64} ${BASE} AS build
ARG TARGETARCH
WORKDIR /src
# From what changes seldom to what changes often: packages, libraries built from Debian's sources, the programs.
COPY scripts/deps.sh scripts/image-arch.sh scripts/image-packages.sh scripts/
RUN scripts/image-packages.sh packages
COPY scripts/static-deps.sh scripts/
RUN scripts/image-packages.sh libraries
COPY . .
ARG VERSION=unknown
RUN scripts/image-build.sh programs
# Tests of the programs that were just built: fast (unit and command line), unit, or nothing.
ARG CHECK=fast
RUN scripts/image-build.sh check "${CHECK}"

# --- the sidecar alone -------------------------------------------------------------------------------------------------
FROM --platform=linux/${TARGETARCH:-amd64} scratch AS sidecar
ARG VERSION=unknown
ARG REVISION=
ARG CREATED=
LABEL org.opencontainers.image.title="headroom-sidecar" \
      org.opencontainers.image.description="Says what the container beside it is limited to, and what it waits for" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
COPY --from=build /out/sidecar/ /
ENV PATH=/usr/local/bin
USER 65532:65532
ENTRYPOINT ["headroom-sidecar"]

# --- all programs (the default) ----------------------------------------------------------------------------------------
FROM --platform=linux/${TARGETARCH:-amd64} scratch AS headroom
ARG VERSION=unknown
ARG REVISION=
ARG CREATED=
LABEL org.opencontainers.image.title="headroom" \
      org.opencontainers.image.description="The service is slow, the CPU graph is below its limit: where is it waiting?" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
COPY --from=build /out/headroom/ /
ENV PATH=/usr/local/bin
USER 65532:65532
ENTRYPOINT ["headroom"]
CMD ["help"]
