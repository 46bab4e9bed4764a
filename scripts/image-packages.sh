#!/bin/bash
# The first steps of the Dockerfile, which change seldom: compilers and libraries, for TARGETARCH (scripts/image-arch.sh).
#
#   scripts/image-packages.sh packages     Debian's packages: compilers, static libraries, what the tests need
#   scripts/image-packages.sh libraries    those that are built from Debian's source packages
#
# Meant for a container that is thrown away: it adds a foreign architecture to dpkg.
set -euo pipefail

cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
. scripts/image-arch.sh

case ${1-} in
packages)
    scripts/deps.sh build static test
    if [ -n "$emulator" ]; then
        dpkg --add-architecture "$arch"
        apt-get -q update
        apt-get -q install -y --no-install-recommends "gcc-$triplet" "libc6-dev:$arch" "libjansson-dev:$arch" \
            "libssl-dev:$arch" "libc-ares-dev:$arch" qemu-user-static
    fi
    # the lists stay: scripts/static-deps.sh asks apt where this machine gets its packages
    apt-get clean
    ;;
libraries) CC=${emulator:+$triplet-gcc} scripts/static-deps.sh build/static-deps ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
