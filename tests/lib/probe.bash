# Loaded by bats files about headroom-probe, after common: load ../lib/probe
#
#   start_probe OPTIONS...   starts it on a free port of 127.0.0.1 and waits until it listens: sets $url, $port, $probe
#   stop_probe               SIGTERM, its exit status, and the proof that it is gone
#   end_probes               for teardown(): whatever is left
#   field FILE KEY           a key of a JSON file; `null` as null
# Its stdout is in $probe_out, its stderr in $probe_err. A command in front of it: probe_prefix=(taskset -c 0).

probes=()
probe_prefix=()

start_probe() {
    probe_out=$(mktemp "$BATS_TEST_TMPDIR/probe.XXXXXX")
    probe_err=$probe_out.err
    # shellcheck disable=SC2154 # $build comes from common
    "${probe_prefix[@]}" "$build/headroom-probe" --listen "${probe_listen:-127.0.0.1:0}" "$@" >"$probe_out" 2>"$probe_err" 3>&- &
    probe=$!
    probes+=("$probe")
    wait_until 15 listening || { cat "$probe_out" "$probe_err" >&2; return 1; }
    url=$(head -1 "$probe_out" | key url)
    # shellcheck disable=SC2034 # for the files that load this
    port=${url##*:}
}

listening() {
    grep -q '"event": "listening"' "$probe_out" || { kill -0 "$probe" 2>/dev/null && return 1; }
}

stop_probe() {
    local status=0
    kill -TERM "$probe"
    wait "$probe" || status=$?
    gone "$probe"
    return $status
}

end_probes() {
    [ ${#probes[@]} = 0 ] || end_processes "${probes[@]}"
}

# key NAME: that key of the JSON object on stdin
key() { python3 -c 'import json, sys; v = json.loads(sys.stdin.readline())[sys.argv[1]]; print("null" if v is None else json.dumps(v) if isinstance(v, bool) else v)' "$1"; }

# status PATH [CURL OPTIONS]: the status of the answer; the body in $BATS_TEST_TMPDIR/body
status() {
    local path=$1
    shift
    curl -sS -m 30 -o "$BATS_TEST_TMPDIR/body" -w '%{http_code}' "$@" "$url$path"
}

# quota_cgroup QUOTA_US|none: makes a cgroup with that quota of 100 ms and sets $cgroup; skips where none can be made
quota_cgroup() {
    local quota=$1 v1=/sys/fs/cgroup/cpu v2=/sys/fs/cgroup
    if [ -w $v1/cgroup.procs ] && [ -e $v1/cpu.shares ]; then
        cgroup=$v1/headroom-probe-test-$$
        mkdir "$cgroup"
        echo 100000 >"$cgroup/cpu.cfs_period_us"
        echo "${quota/none/-1}" >"$cgroup/cpu.cfs_quota_us"
    elif [ -w $v2/cgroup.procs ] && grep -qw cpu $v2/cgroup.subtree_control 2>/dev/null; then
        cgroup=$v2/headroom-probe-test-$$
        mkdir "$cgroup"
        echo "${quota/none/max} 100000" >"$cgroup/cpu.max"
    else
        not_on_this_host "no cgroup with the cpu controller that can be written"
    fi
}

# in_cgroup COMMAND...: runs it there, from its first instruction on
in_cgroup() { bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cgroup" "$@"; }

throttled_periods() { sed -n 's/^nr_throttled //p' "$cgroup/cpu.stat"; }

remove_cgroup() { [ -z "${cgroup:-}" ] || rmdir "$cgroup"; }
