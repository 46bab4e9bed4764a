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

# What qemu-user (7.2) is not: it knows no openat2() and no seccomp filters, has a thread of its own in each process, and is slow.
# These tests of what a kernel does fail in it; all others must pass.
not_in_qemu='unit/lib/test_textfile: test_links test_process_root test_live test_without_openat2
unit/sidecar/test_processes: test_live_cost test_live_wait test_live_end test_live_no_descriptors'

check_in_qemu() {
    local suites suite known output failed bad=0
    mapfile -t suites < <(tests/run --build build/static --list unit | grep -vxF "$(sed 's/:.*//' <<<"$not_in_qemu")")
    HEADROOM_TEST_EMULATOR=$emulator tests/run --build build/static "${suites[@]}" || bad=1
    while IFS=: read -r suite known; do
        output=$(CMOCKA_MESSAGE_OUTPUT=TAP "$emulator" "build/static/tests/$suite" 2>&1) || true
        failed=$(sed -n 's/^not ok [0-9]* - //p' <<<"$output" | grep -vxF "$(tr ' ' '\n' <<<"${known# }")") || true
        if [ -n "$failed" ] || ! grep -q '^ok ' <<<"$output"; then
            printf 'FAIL %s: %s\n%s\n' "$suite" "${failed//$'\n'/ }" "$output"
            bad=1
        else
            echo "ok   $suite: $(grep -c '^ok ' <<<"$output") passed, not in qemu:$known"
        fi
    done <<<"$not_in_qemu"
    return $bad
}

check() {
    local what=$1
    case $what in
    '') return 0 ;;
    unit | fast) ;;
    *) echo "image-build: CHECK is fast, unit or nothing" >&2; return 2 ;;
    esac
    make "${make_options[@]}" units
    if [ -n "$emulator" ]; then
        check_in_qemu
    elif [ "$what" = fast ]; then
        tests/run --build build/static unit cli
    else
        tests/run --build build/static unit
    fi
}

case ${1-} in
programs) programs ;;
check) check "${2-}" ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
esac
