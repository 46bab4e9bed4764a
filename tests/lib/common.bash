# Loaded by bats files: load ../lib/common
#
#   $top         the source tree          $build      where the programs are (HEADROOM_BUILD, default build/)
#   $fixtures    tests/fixtures           $BATS_TEST_TMPDIR   a folder of the test's own, removed afterwards

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${HEADROOM_BUILD:-$top/build}
case $build in /*) ;; *) build=$top/$build ;; esac
# shellcheck disable=SC2034 # for the files that load this
fixtures=$top/tests/fixtures
export LC_ALL=C

# need PROGRAM...: a test of something that was not built is a failure, never a skip
need() {
    local program
    for program in "$@"; do
        [ -x "$build/$program" ] || { echo "$build/$program was not built" >&2; return 1; }
    done
}

# not_on_this_host REASON: skips, also in strict mode: only for what the hardware or the kernel here cannot do
not_on_this_host() { skip "not on this host: $1"; }

# wait_until SECONDS COMMAND...: until it succeeds; fails when the time is up
wait_until() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $deadline ] || { echo "still not after the time allowed: $*" >&2; return 1; }
        sleep 0.05
    done
}

# gone PID...: proves that no such process is left (a zombie counts as left)
gone() {
    local pid
    for pid in "$@"; do
        [ ! -e "/proc/$pid" ] || { echo "process $pid is still there: $(tr '\0' ' ' <"/proc/$pid/cmdline")" >&2; return 1; }
    done
}

# end_processes PID...: SIGTERM, then SIGKILL after 5 s; children of this shell are reaped; proves them gone
end_processes() {
    local pid
    for pid in "$@"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "$@"; do
        wait_until 5 no_process "$pid" 2>/dev/null || kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    gone "$@"
}
no_process() { ! kill -0 "$1" 2>/dev/null || [ "$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)" = Z ]; }
