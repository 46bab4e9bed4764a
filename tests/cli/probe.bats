#!/usr/bin/env bats
# headroom-probe as its users see it: options, answers, overload, draining. No timing finer than 100 ms.
# tests/run: parallel
# tests/run: limit 300
# shellcheck disable=SC2154,SC2034,SC2016 # variables from and for the helpers that are loaded
bats_require_minimum_version 1.5.0

setup() {
    load ../lib/common
    load ../lib/probe
    need headroom-probe
}

teardown() { end_probes; }

body() { cat "$BATS_TEST_TMPDIR/body"; }

# error_is TEXT: the body is JSON and its sentence begins so
error_is() {
    local error
    error=$(body | key error)
    [[ $error == "$1"* ]] || { echo "error: $error" >&2; return 1; }
}

# in_background PATH: one request; its status and time go to $BATS_TEST_TMPDIR/background.N
requests=()
in_background() {
    curl -sS -m 30 -o /dev/null -w '%{http_code} %{time_total}\n' "$url$1" >"$BATS_TEST_TMPDIR/background.${#requests[@]}" 2>&1 3>&- &
    requests+=($!)
}
# background_is "2 200": waits for them all; how many had which status
background_is() {
    local i statuses
    for i in "${!requests[@]}"; do wait "${requests[$i]}" || true; done
    statuses=$(for i in "${!requests[@]}"; do cut -d' ' -f1 "$BATS_TEST_TMPDIR/background.$i"; done | sort | uniq -c | xargs)
    [ "$statuses" = "$1" ] || { echo "background: $statuses" >&2; return 1; }
}
# busy_is KEY NUMBER: what /healthz says; without another program, since the state may last for a second only
busy_is() { [[ $(curl -s "$url/healthz") == *"\"$1\": $2"[,"}"]* ]]; }

# ---- start and options ----

@test "the listening line says where, with what, and who" {
    start_probe --rounds 1234 --cpu-ms 0.5 --workers 3
    [ "$(wc -l <"$probe_out")" = 1 ]
    local line
    line=$(head -1 "$probe_out")
    [ "$(key event <<<"$line")" = listening ]
    [ "$(key level <<<"$line")" = info ]
    [ "$(key address <<<"$line")" = 127.0.0.1 ]
    [ "$(key url <<<"$line")" = "http://127.0.0.1:$(key port <<<"$line")" ]
    [ "$(key workers <<<"$line")" = 3 ]
    [ "$(key rounds <<<"$line")" = 1234 ]
    [ "$(key cpu_ms <<<"$line")" = 0.5 ]
    [ "$(key calibrated <<<"$line")" = false ]
    [ "$(key pid <<<"$line")" = "$probe" ]
    [[ $(key time <<<"$line") =~ ^20[0-9-]+T[0-9:.]+Z$ ]]
    stop_probe
    [ ! -s "$probe_err" ]
}

@test "options come from the environment too, the command line wins" {
    HEADROOM_ROUNDS=77 HEADROOM_WORKERS=2 HEADROOM_POOL=db=1:1ms start_probe --workers 4
    [ "$(key rounds <"$probe_out")" = 77 ]
    [ "$(key workers <"$probe_out")" = 4 ]
    [ "$(status '/work?pool=db')" = 200 ]
}

@test "nproc is the affinity mask" {
    command -v taskset
    probe_prefix=(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')")
    start_probe --rounds 0 --workers nproc
    [ "$(key workers <"$probe_out")" = 1 ]
}

@test "wrong options end with status 2 and one sentence" {
    local options
    while read -r options; do
        # shellcheck disable=SC2086 # they are words
        run --separate-stderr "$build/headroom-probe" $options
        echo "$options: $status $stderr"
        [ "$status" = 2 ]
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" = 1 ]
        [[ $stderr == headroom-probe:* ]]
    done <<'END'
--workers 0
--workers many
--queue -1
--cpu-ms 4ms
--cpu-ms 60001
--rounds 1.5
--rounds 5 --calibrate
--rounds 5 --cpu-ms 0
--cpu-ms 0 --calibrate
--pool db
--pool db=0:1ms
--pool db=1:1ms --pool db=2:1ms
--ring 0
--connections 0
--idle-timeout 1
--listn 127.0.0.1:0
something
END
}

@test "what cannot be listened on ends with status 1 and one sentence" {
    start_probe --rounds 0
    local address
    for address in "127.0.0.1:$port" 192.0.2.1:0 nowhere:0 127.0.0.1:65536; do
        run --separate-stderr "$build/headroom-probe" --rounds 0 --listen "$address"
        echo "$address: $status $stderr"
        [ "$status" = 1 ]
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" = 1 ]
    done
    stop_probe
}

@test "IPv6" {
    [ -e /proc/net/if_inet6 ] && grep -q '^00000000000000000000000000000001 ' /proc/net/if_inet6 ||
        not_on_this_host "no IPv6 loopback"
    probe_listen='[::1]:0' start_probe --rounds 10
    [[ $url == 'http://[::1]:'* ]]
    [ "$(status /work -g)" = 200 ]
}

# ---- work ----

@test "one unit of work: the answer, its headers and its row in the log agree, and the parts add up" {
    start_probe --rounds 3000 --cpu-ms 1 --pool db=1:2ms --disk-dir "$BATS_TEST_TMPDIR"
    curl -sS -D "$BATS_TEST_TMPDIR/headers" -o "$BATS_TEST_TMPDIR/body" "$url/work?wait_ms=5&disk_kb=8&pool=db"
    curl -sS -o "$BATS_TEST_TMPDIR/csv" "$url/requests.csv"
    python3 - "$BATS_TEST_TMPDIR" <<'END'
import csv, hashlib, json, sys
folder = sys.argv[1]
body = json.load(open(folder + "/body"))
headers = dict(l.rstrip("\r\n").split(": ", 1) for l in open(folder + "/headers") if ": " in l)
(row,) = list(csv.DictReader(open(folder + "/csv")))
digest = bytes(32)
for _ in range(3000):
    digest = hashlib.sha256(digest).digest()
assert body["digest"] == digest.hex(), body["digest"]
assert body["schema_version"] == 1 and body["rounds"] == 3000 and body["worker"] == 0
names = [n for n in headers if n.startswith("Headroom-")]
assert len(names) >= 13, names
for name in names:
    key = name[len("Headroom-"):].lower().replace("-", "_")
    assert body[key] == int(headers[name]), (name, body[key])
for key in body:
    if key not in ("schema_version", "digest"):
        assert row[key] == ("" if body[key] is None else str(body[key])), (key, row[key])
assert row["status"] == "200" and int(row["answered_ns"]) > body["ended_ns"]
order = [body[k] for k in ("arrived_ns", "read_ns", "queued_ns", "dequeued_ns", "started_ns", "ended_ns")]
assert order == sorted(order), order
assert body["wait_ns"] == 5e6 and body["pool_hold_ns"] == 2e6 and body["cpu_ns"] > 0
parts = sum(body[k] for k in ("queue_ns", "cpu_ns", "runqueue_wait_ns", "wait_ns", "disk_ns", "pool_wait_ns",
                              "pool_hold_ns", "rest_ns"))
assert abs(parts - (body["ended_ns"] - body["arrived_ns"])) < 50e3, (parts, body)
END
}

@test "without CPU work nothing is hashed; cpu_ms and rounds change it" {
    start_probe --rounds 5000 --cpu-ms 2
    [ "$(status '/work?rounds=0')" = 200 ]
    [ "$(body | key digest)" = null ]
    [ "$(status '/work?cpu_ms=1')" = 200 ]
    [ "$(body | key rounds)" = 2500 ]
    [ "$(status /work)" = 200 ]
    [ "$(body | key rounds)" = 5000 ]
}

@test "wrong queries are answered 400 with one sentence, and change nothing" {
    start_probe --rounds 10 --pool db=1:1ms
    local query
    for query in cpu_ms=x cpu_ms= cpu_ms cpu_ms=-1 cpu_ms=1e2 cpu_ms=60001 'rounds=1&rounds=1' 'rounds=1&cpu_ms=1' wait_ms=600001 \
        disk_kb=1.5 disk_kb=%00 pool=other Cpu_ms=1 x=1; do
        echo "$query"
        [ "$(status "/work?$query")" = 400 ]
        [ -n "$(body | key error)" ]
        [ "$(body | key status)" = 400 ]
    done
    [ "$(status /work)" = 200 ]
    status /metrics >/dev/null
    grep -qx 'headroom_probe_requests_total{code="400"} 14' "$BATS_TEST_TMPDIR/body"
    grep -qx 'headroom_probe_requests_total{code="200"} 1' "$BATS_TEST_TMPDIR/body"
}

@test "unknown paths are 404, unsuitable methods 405 with Allow" {
    start_probe --rounds 10
    [ "$(status /wor)" = 404 ]
    error_is "there is nothing at /wor"
    [ "$(status /work/)" = 404 ]
    [ "$(status /work -X DELETE -D "$BATS_TEST_TMPDIR/headers")" = 405 ]
    error_is "DELETE is not possible here"
    grep -q $'^Allow: GET, HEAD, POST, PUT\r$' "$BATS_TEST_TMPDIR/headers"
    [ "$(status /metrics -X POST)" = 405 ]
    [ "$(status /)" = 200 ]
}

@test "HEAD does the work and sends no body; bodies are read up to a bound" {
    start_probe --rounds 10 --body-max-kb 64
    curl -sS -I "$url/work" | grep -q '^Headroom-Cpu-Ns: [1-9]'
    head -c 65536 /dev/zero >"$BATS_TEST_TMPDIR/fits"
    head -c 65537 /dev/zero >"$BATS_TEST_TMPDIR/large"
    [ "$(status /work --data-binary @"$BATS_TEST_TMPDIR/fits")" = 200 ]
    [ "$(status /work -T "$BATS_TEST_TMPDIR/fits" -H 'Transfer-Encoding: chunked')" = 200 ]
    [ "$(status /work --data-binary @"$BATS_TEST_TMPDIR/large")" = 413 ]
    error_is "the body of the request is larger than 64 kB"
    [ "$(status /work -T "$BATS_TEST_TMPDIR/large" -H 'Transfer-Encoding: chunked')" = 413 ]
    [ "$(status /healthz)" = 200 ]
}

@test "connections are kept" {
    start_probe --rounds 10
    run curl -sS -o /dev/null -o /dev/null -o /dev/null -w '%{num_connects}' "$url/work" "$url/metrics" "$url/work"
    [ "$output" = 100 ]
    status /requests.csv >/dev/null
    [ "$(tail -n +2 "$BATS_TEST_TMPDIR/body" | wc -l)" = 2 ]
    run python3 -c 'import csv, sys; print(*[r["connection"] for r in csv.DictReader(open(sys.argv[1]))])' "$BATS_TEST_TMPDIR/body"
    [ "$output" = "1 1" ]
}

@test "garbage and huge headers do no harm" {
    start_probe --rounds 10
    python3 - "$port" <<'END'
import socket, sys
def say(data):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
    s.settimeout(10)
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        return s.recv(65536)
    except (BrokenPipeError, ConnectionResetError):
        return b""
for data in (b"", b"\0" * 1000, b"GET\r\n\r\n", b"\xff\xfe /work\r\n\r\n", b"GET /work HTTP/9.9\r\n\r\n", b"A" * 200000):
    assert not say(data).startswith(b"HTTP/1.1 200"), data[:20]
assert b" 431 " in say(b"GET /work HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100000 + b"\r\n\r\n")[:20]
assert say(b"GET /work HTTP/1.1\r\nHost: x\r\n\r\n" * 3).count(b"HTTP/1.1 200") >= 1
END
    [ "$(status /work)" = 200 ]
    stop_probe
}

# ---- pools, disk ----

@test "a pool of one unit serves one at a time, the workers notwithstanding" {
    start_probe --rounds 0 --workers 4 --pool db=1:150ms
    local i
    for i in 1 2 3; do in_background '/work?pool=db'; done
    background_is "3 200"
    status /requests.csv >/dev/null
    python3 - "$BATS_TEST_TMPDIR/body" <<'END'
import csv, sys
waits = sorted(int(r["pool_wait_ns"]) / 1e6 for r in csv.DictReader(open(sys.argv[1])))
assert waits[0] < 100 and waits[1] > 10 and waits[2] > 150, waits
END
}

@test "disk work: a full or missing disk is an answer, not the end" {
    mkdir "$BATS_TEST_TMPDIR/disk"
    # a limit of the size of files is the nearest thing to a full disk that needs no privilege
    probe_prefix=(bash -c 'ulimit -f 64; exec "$@"' bash)
    start_probe --rounds 0 --disk-dir "$BATS_TEST_TMPDIR/disk"
    [ "$(status '/work?disk_kb=32')" = 200 ]
    [ "$(status '/work?disk_kb=4096')" = 500 ]
    error_is "cannot write 4096 kB to"
    rmdir "$BATS_TEST_TMPDIR/disk" # nothing was left in it
    [ "$(status '/work?disk_kb=32')" = 500 ]
    error_is "cannot make a file in"
    [ "$(status /work)" = 200 ]
}

@test "a disk without space is 507" {
    [ "$(id -u)" = 0 ] || not_on_this_host "only root can mount a small file system"
    unshare -m true 2>/dev/null || not_on_this_host "no new mount namespace can be made"
    mkdir "$BATS_TEST_TMPDIR/disk"
    probe_prefix=(unshare -m bash -c 'mount -t tmpfs -o size=1m none "$0" && exec "$@"' "$BATS_TEST_TMPDIR/disk")
    start_probe --rounds 0 --disk-dir "$BATS_TEST_TMPDIR/disk"
    [ "$(status '/work?disk_kb=4096')" = 507 ]
    error_is "cannot write 4096 kB to"
    [ "$(status '/work?disk_kb=512')" = 200 ]
}

# ---- overload, slowness ----

@test "a full queue is answered 503 at once, with Retry-After" {
    start_probe --rounds 0 --queue 2
    local i
    for i in 1 2 3; do in_background '/work?wait_ms=2000'; done
    wait_until 5 busy_is queue_depth 2
    [ "$(status /work -D "$BATS_TEST_TMPDIR/headers")" = 503 ]
    error_is "the queue is full: 2 requests wait for 1 workers"
    grep -q $'^Retry-After: 1\r$' "$BATS_TEST_TMPDIR/headers"
    background_is "3 200"
}

@test "a silent client is closed after the idle time-out, a request at work is not" {
    start_probe --rounds 0 --idle-timeout 1s
    in_background '/work?wait_ms=2500'
    python3 - "$port" <<'END'
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
s.sendall(b"GET /work HTTP/1.1\r\nHos")
began = time.monotonic()
s.settimeout(10)
assert s.recv(100) == b""
assert 0.5 < time.monotonic() - began < 5
END
    background_is "1 200"
}

@test "too few file descriptors: some clients wait, the server goes on" {
    probe_prefix=(bash -c 'ulimit -n 40; exec "$@"' bash)
    start_probe --rounds 0 --connections 100
    python3 - "$port" <<'END'
import socket, sys
request = b"GET /work HTTP/1.1\r\nHost: x\r\n\r\n"
def connect():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
    s.settimeout(0.2)
    return s
def works(s):
    try:
        s.sendall(request)
        return s.recv(4096).startswith(b"HTTP/1.1 200")
    except socket.timeout:
        return False
crowd = [connect() for _ in range(60)]
served = sum(works(s) for s in crowd)
assert 10 < served < 40, served
for s in crowd:
    s.close()
late = connect()
late.settimeout(10)
assert works(late)
END
    stop_probe
}

# ---- the end ----

@test "SIGTERM: requests at hand are done, health says 503, the last line counts" {
    start_probe --rounds 0
    in_background '/work?wait_ms=3000'
    wait_until 5 busy_is workers_busy 1
    in_background '/work?wait_ms=100' # waits in the queue
    wait_until 5 busy_is queue_depth 1
    exec 9<>"/dev/tcp/127.0.0.1/$port" # a connection that is open already is still served
    printf 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n' >&9
    read -r -t 5 line <&9
    [[ $line == *" 200 "* ]]
    kill -TERM "$probe"
    wait_until 5 refused
    printf 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n' >&9
    timeout 5 grep -q -m1 '"status": "draining"' <&9
    exec 9>&-
    background_is "2 200"
    wait "$probe"
    gone "$probe"
    [ "$(tail -1 "$probe_out" | key event)" = stopped ]
    [ "$(tail -1 "$probe_out" | key ok)" = 2 ]
    [ "$(tail -1 "$probe_out" | key failed)" = 0 ]
    [ "$(tail -1 "$probe_out" | key aborted)" = false ]
}
refused() { ! curl -s -o /dev/null "$url/healthz"; }

@test "SIGINT: what takes longer than --drain is cut short, with an answer" {
    start_probe --rounds 0 --workers 2 --drain 200ms --pool db=1:60s
    in_background '/work?wait_ms=60000'
    in_background '/work?pool=db'
    wait_until 5 busy_is workers_busy 2
    in_background '/work' # waits in the queue
    wait_until 5 busy_is queue_depth 1
    kill -INT "$probe"
    wait "$probe"
    background_is "3 503"
    [ "$(tail -1 "$probe_out" | key signal)" = SIGINT ]
    [ "$(tail -1 "$probe_out" | key aborted)" = true ]
    [ "$(tail -1 "$probe_out" | key failed)" = 3 ]
}

@test "a second signal ends it at once, also in the middle of CPU work" {
    start_probe --rounds 1000000000 --drain 60s
    in_background /work
    wait_until 5 busy_is workers_busy 1
    kill -TERM "$probe"
    wait_until 5 refused
    kill -TERM "$probe"
    wait "$probe"
    background_is "1 503"
}

@test "PID 1 of a container ends on SIGTERM" {
    unshare -pf --mount-proc true 2>/dev/null || not_on_this_host "no new PID namespace can be made"
    probe_prefix=(unshare -pf --kill-child --mount-proc)
    start_probe --rounds 0
    [ "$(key pid <"$probe_out")" = 1 ]
    kill -TERM "$(pgrep -P "$probe")"
    wait "$probe"
    [ "$(tail -1 "$probe_out" | key event)" = stopped ]
}

# ---- metrics, log ----

@test "metrics: promtool and the strict OpenMetrics parser find nothing to say" {
    start_probe --rounds 100 --pool db=3:0 --pool cache=1:0
    local i
    for i in 1 2 3; do status '/work?pool=db&wait_ms=1' >/dev/null; done
    status /metrics -D "$BATS_TEST_TMPDIR/headers" >/dev/null
    grep -q $'^Content-Type: text/plain; version=0.0.4; charset=utf-8\r$' "$BATS_TEST_TMPDIR/headers"
    run ! grep -q EOF "$BATS_TEST_TMPDIR/body"
    grep -qx 'headroom_probe_request_seconds_count 3' "$BATS_TEST_TMPDIR/body"
    grep -qx 'headroom_probe_pool_units{pool="db"} 3' "$BATS_TEST_TMPDIR/body"
    if command -v promtool; then promtool check metrics <"$BATS_TEST_TMPDIR/body"; else skip "promtool is not installed"; fi
}

@test "OpenMetrics for those who accept it" {
    start_probe --rounds 100 --pool db=3:0
    status /work >/dev/null
    status /metrics -D "$BATS_TEST_TMPDIR/headers" -H 'Accept: application/openmetrics-text; version=1.0.0,text/plain;q=0.5' >/dev/null
    grep -q $'^Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r$' "$BATS_TEST_TMPDIR/headers"
    [ "$(tail -1 "$BATS_TEST_TMPDIR/body")" = '# EOF' ]
    python3=/usr/bin/python3 # where Debian's package is
    "$python3" -c 'import prometheus_client' || skip "python3-prometheus-client is not installed"
    "$python3" - "$BATS_TEST_TMPDIR/body" <<'END'
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = {f.name: f for f in parse(open(sys.argv[1]).read())}
assert families["headroom_probe_cpu_seconds"].type == "histogram"
assert families["headroom_probe_requests"].type == "counter"
assert families["process_cpu_seconds"].type == "counter"
assert len(families) >= 20, sorted(families)
END
}

@test "the log keeps the last requests, refused ones too" {
    start_probe --rounds 1 --ring 5
    local i
    for i in 1 2 3 4 5 6 7; do status '/work?rounds=1' >/dev/null; done
    status '/work?x' >/dev/null
    [ "$(status /requests.csv -D "$BATS_TEST_TMPDIR/headers")" = 200 ]
    grep -q '^Content-Type: text/csv' "$BATS_TEST_TMPDIR/headers"
    python3 - "$BATS_TEST_TMPDIR/body" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["seq"] for r in rows] == ["4", "5", "6", "7", "8"], rows
assert [r["status"] for r in rows] == ["200"] * 4 + ["400"]
assert rows[-1]["started_ns"] == "" and rows[-1]["arrived_ns"] != "" and rows[-1]["answered_ns"] != ""
END
}

# ---- calibration ----

@test "--calibrate prints one JSON line, or says why it refuses" {
    run --separate-stderr "$build/headroom-probe" --calibrate --cpu-ms 2
    echo "$output $stderr"
    if [ "$status" = 0 ]; then
        [ "$(wc -l <<<"$output")" = 1 ]
        [ "$(key schema_version <<<"$output")" = 1 ]
        [ "$(key cpu_ms <<<"$output")" = 2.0 ]
        [ "$(key throttled <<<"$output")" = false ]
        python3 -c 'import json, sys; c = json.loads(sys.argv[1]); n = c["rounds"] * c["ns_per_round"]; assert 1.99e6 < n < 2.01e6, n; assert c["median_ns"] > 1e6 and c["spread"] >= 1 and c["samples"] > 0' "$output"
    else
        [ "$status" = 1 ]
        [ -z "$output" ]
        [[ $stderr == *"--rounds"* ]]
    fi
}

@test "a signal ends it while it calibrates" {
    "$build/headroom-probe" --listen 127.0.0.1:0 >"$BATS_TEST_TMPDIR/out" 3>&- &
    probe=$!
    probes+=("$probe")
    sleep 0.3
    kill -TERM "$probe"
    wait "$probe"
    [ ! -s "$BATS_TEST_TMPDIR/out" ]
}
