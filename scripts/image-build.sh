#!/bin/bash
# The later steps of the Dockerfile: the programs, for TARGETARCH (scripts/image-arch.sh).
#
#   scripts/image-build.sh programs        static programs, laid out below /out as the images hold them
#   scripts/image-build.sh check WHAT      tests of the static programs: fast (as `make check-fast`), unit, or '' for none.
#                                          Of another architecture than this machine's only unit tests, in qemu-user
#
# Environment: VERSION.
set -euo pipefail

cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8
. scripts/image-arch.sh
make_options+=(-j"$(nproc)" VERSION="${VERSION:-unknown}")

programs() {
    make "${make_options[@]}" all image-root IMAGE_ROOT=/out
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt /out/headroom/etc/ssl/certs/ca-certificates.crt
    # the same bytes whenever it is built
    find /out -exec touch -h -d @0 {} +
    (cd /out && sha256sum ./*/usr/local/bin/*)
}

check() {
    local what=$1
    case $what in
    '') return 0 ;;
    unit | fast) ;;
    *) echo "image-build: CHECK is fast, unit or nothing" >&2; return 2 ;;
    esac
    make "${make_options[@]}" units
    if [ "$what" = fast ] && [ -z "$emulator" ]; then
        tests/run --build build/static unit cli
    else
        HEADROOM_TEST_EMULATOR=$emulator tests/run --build build/static unit
    fi
}

case ${1-} in
programs) programs ;;
check) check "${2-}" ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
