#!/bin/bash
# Builds the container images `headroom` (all programs) and `headroom-sidecar` with docker or buildah, whichever is there.
#
#   scripts/image.sh [--engine docker|buildah] [--arch amd64|arm64] [--tag TAG] [--check fast|unit|none] [IMAGE...]
#
# IMAGE: headroom, sidecar (default: both). --arch: another one than this machine's is cross-compiled, its unit tests run in
# qemu-user, and its images are tagged TAG-ARCH. --check: which tests run in the build (default fast: unit and command line).
#
# Environment: BASE (default debian:bookworm-slim), VERSION, REVISION, SOURCE_DATE_EPOCH (default: from git), and what the
# engine itself knows, such as DOCKER_HOST and http_proxy.
set -euo pipefail

say() { printf 'image: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

cd "$(dirname "$0")/.."
engine='' arch='' tag=latest check=fast images=()
while [ $# -gt 0 ]; do
    case $1 in
    --engine | --arch | --tag | --check)
        [ $# -ge 2 ] || { say "$1 needs a value"; exit 2; }
        printf -v "${1#--}" %s "$2"
        shift
        ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    headroom | sidecar) images+=("$1") ;;
    *) say "'$1' is not understood (--help)"; exit 2 ;;
    esac
    shift
done
[ ${#images[@]} -gt 0 ] || images=(headroom sidecar)
[ "$check" != none ] || check=

# --- which engine -----------------------------------------------------------------------------------------------------

docker_answers() { command -v docker >/dev/null && docker version >/dev/null 2>&1; }
if [ -z "$engine" ]; then
    if docker_answers; then
        engine=docker
    elif command -v buildah >/dev/null; then
        engine=buildah
    elif command -v docker >/dev/null; then
        die "docker is installed, but no engine answers: start it (systemctl start docker), or set DOCKER_HOST"
    else
        die "neither docker nor buildah is installed"
    fi
fi

# --- the base -----------------------------------------------------------------------------------------------------------

base=${BASE:-debian:bookworm-slim}
have_base() {
    case $engine in
    docker) docker image inspect "$base" >/dev/null 2>&1 || docker pull -q "$base" >/dev/null 2>&1 ;;
    buildah) buildah inspect --type image "$base" >/dev/null 2>&1 || buildah pull -q "$base" >/dev/null 2>&1 ;;
    esac
}
have_base || die "$base is not there and cannot be pulled. \`make base-image\` makes one from Debian's packages" \
    "(debootstrap, as root); BASE=... names another Debian 12 image"

# --- what it is a build of ------------------------------------------------------------------------------------------------

# Only in a checkout of its own: an unpacked archive inside of somebody else's checkout is none.
from_git() { [ -e .git ] && git "$@" 2>/dev/null; }
version=${VERSION:-$(from_git describe --tags --always --dirty || echo unknown)}
revision=${REVISION:-$(from_git rev-parse HEAD || true)}
epoch=${SOURCE_DATE_EPOCH:-$(from_git log -1 --format=%ct || echo 0)}
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
own_arch=$(dpkg --print-architecture 2>/dev/null || uname -m | sed 's/x86_64/amd64/;s/aarch64/arm64/')
[ "${arch:-$own_arch}" = "$own_arch" ] || tag=$tag-$arch

classic=''
options=(--build-arg BASE="$base" --build-arg VERSION="$version" --build-arg REVISION="$revision"
    --build-arg CREATED="$created" --build-arg CHECK="$check")
buildkit() { [ "${DOCKER_BUILDKIT-}" != 0 ] && docker buildx version >/dev/null 2>&1; }
if [ "$engine" = docker ] && buildkit; then
    [ -z "$arch" ] || options+=(--platform "linux/$arch")
    options+=(--load)
else
    # the classic builder sets neither by itself
    classic=1
    options+=(--build-arg BUILDPLATFORM="linux/$own_arch" --build-arg TARGETARCH="${arch:-$own_arch}")
fi
# An engine without its default network: the build's package manager uses the host's.
if [ "$engine" = docker ] && ! docker network inspect bridge >/dev/null 2>&1; then
    options+=(--network host)
fi

# --- build ------------------------------------------------------------------------------------------------------------

build() {
    case $engine in
    docker) docker build "${options[@]}" --target "$1" -t "$2" . ;;
    buildah) buildah bud "${options[@]}" --layers --target "$1" -t "$2" . ;;
    esac
}
# The classic builder writes its own architecture into every image from scratch: corrected in what the engine saves.
correct_architecture() {
    local dir config
    dir=$(mktemp -d)
    docker save "$1" | tar -C "$dir" -x
    config=$(sed -n 's/.*"Config":"\([^"]*\)".*/\1/p' "$dir/manifest.json")
    sed -i "s/\"architecture\":\"[^\"]*\"/\"architecture\":\"$arch\"/" "$dir/$config"
    tar -C "$dir" -c . | docker load -q
    rm -rf "$dir"
}
size() {
    case $engine in
    docker) echo "$(docker image inspect -f '{{.Size}}' "$1") bytes" ;;
    buildah) buildah images --format '{{.Size}}' "$1" ;;
    esac
}
names=()
for image in "${images[@]}"; do
    name=headroom
    [ "$image" = headroom ] || name=headroom-$image
    build "$image" "$name:$tag"
    if [ "$engine" = docker ] && [ -n "$classic" ] && [ "${arch:-$own_arch}" != "$own_arch" ]; then
        correct_architecture "$name:$tag"
    fi
    names+=("$name:$tag")
done
for name in "${names[@]}"; do
    say "$name $version ($engine): $(size "$name")"
done
