#!/usr/bin/env bats
# headroom-load against a server that behaves well, and against every kind that does not.
# tests/run: limit 300

bats_require_minimum_version 1.5.0

setup() {
  load ../lib/common
  need headroom-load
  cd "$BATS_TEST_TMPDIR"
  fixture_pids=()
  for name in $(compgen -v HEADROOM_ | grep -v '^HEADROOM_\(BUILD\|TEST_.*\)$'); do unset "$name"; done
  unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
}

teardown() { [ ${#fixture_pids[@]} -eq 0 ] || end_processes "${fixture_pids[@]}"; }

load_() { "$build/headroom-load" "$@"; }

# serve [OPTION...]: starts the fixture server; sets $port, $url and $server_pid
serve() {
  : >listening.json
  "$top/tests/lib/http_fixture.py" "$@" >listening.json 2>server.err 3>&- &
  server_pid=$!
  fixture_pids+=("$server_pid")
  wait_until 10 test -s listening.json
  port=$(sed 's/[^0-9]//g' listening.json)
  url=http://127.0.0.1:$port
}

# json KEY: a key of out.json, by a Python expression on the object `r`
json() { python3 -c 'import json,sys; r = json.load(open("out.json")); print(eval(sys.argv[1]))' "$1"; }

# expect STATUS COMMAND...: runs it with stdout in out.json and stderr in err
expect() {
  local wanted=$1 status=0
  shift
  "$@" >out.json 2>err || status=$?
  [ "$status" = "$wanted" ] || { echo "status $status instead of $wanted: $(cat err) $(head -c 2000 out.json)" >&2; return 1; }
}

# says WORDS: stderr has them, in lines that each name the program
says() {
  grep -qF -- "$1" err || { echo "stderr does not say '$1': $(cat err)" >&2; return 1; }
  ! grep -v '^headroom-load' err
}

has_lines() { [ -e "$2" ] && [ "$(wc -l <"$2")" -gt "$1" ]; }

# Validity by the clock is for tests/bench: here the bound is wide, since this host may be busy.
quick() { load_ "$@" -o json --lateness-bound 10s; }

@test "paced: every planned request is sent, answered and recorded" {
  serve
  expect 0 quick "$url/ok" --interval 10ms --duration 500ms --requests r.csv
  [ "$(json 'r["schema_version"], r["pattern"], r["planned"], r["sent"], r["ok"], r["failed"], r["blocked"]')" = "(1, 'paced', 50, 50, 50, 0, 0)" ]
  [ "$(json 'r["by_status"]')" = "{'200': 50}" ]
  [ "$(json 'r["valid"], r["invalid_reason"], r["shard"], len(r["samples_ns"]), r["exact"]')" = "(True, None, None, 50, True)" ]
  [ "$(json 'r["connections_opened"]')" = 0 ]
  [ "$(wc -l <r.csv)" = 51 ]
  head -1 r.csv | grep -q '^seq,planned_ns,sent_ns,first_byte_ns,done_ns,status,bytes,error,server_queue_ns,server_cpu_ns,server_runqueue_wait_ns,'
  python3 - <<'END'
import csv, json
r = json.load(open("out.json"))
rows = list(csv.DictReader(open("r.csv")))
assert [int(x["seq"]) for x in rows] == list(range(50))
for i, x in enumerate(rows):
    planned, sent, first, done = (int(x[k]) for k in ("planned_ns", "sent_ns", "first_byte_ns", "done_ns"))
    assert planned == r["start_mono_ns"] + i * 10_000_000, x
    assert planned <= sent < first <= done, x
    assert x["status"] == "200" and x["bytes"] == "2" and x["error"] == "" and x["server_queue_ns"] == "", x
# nearest rank, from the planned instant: what the report says is what the lines say
times = sorted(int(x["done_ns"]) - int(x["planned_ns"]) for x in rows)
late = sorted(int(x["sent_ns"]) - int(x["planned_ns"]) for x in rows)
near = lambda a, b: abs(a - b) < 1e-5
assert near(times[24] / 1e6, r["p50_ms"]) and near(times[49] / 1e6, r["p99_ms"]) and near(times[49] / 1e6, r["max_ms"])
assert near(late[49] / 1e6, r["lateness_p99_ms"])
assert times == r["samples_ns"]
END
}

@test "burst: the requests of a burst share one instant" {
  serve
  expect 0 quick "$url/ok" --pattern burst --burst 4 --every 100ms --duration 300ms --requests r.csv
  [ "$(json 'r["planned"]')" = 12 ]
  [ "$(cut -d, -f2 r.csv | tail -n +2 | sort | uniq -c | awk '{print $1}' | tr '\n' ' ')" = "4 4 4 " ]
}

@test "poisson: the same seed gives the same schedule, another seed another" {
  serve
  local run
  for run in 1:7 2:7 3:8; do
    expect 0 quick "$url/ok" --pattern poisson --rate 200/s --seed "${run#*:}" --duration 300ms --requests "p${run%:*}.csv"
    python3 -c 'import csv,sys; t=[int(x["planned_ns"]) for x in csv.DictReader(open(sys.argv[1]))]; print([x-t[0] for x in t])' "p${run%:*}.csv" >"p${run%:*}"
  done
  cmp p1 p2
  run ! cmp -s p1 p3
}

@test "ramp and file: recorded times are replayed, faster when asked" {
  serve
  expect 0 quick "$url/ok" --pattern ramp --rate 10/s --ramp-to 90/s --duration 1s
  [ "$(json 'r["planned"]')" = 50 ]
  printf '%s\n' 1000.0 1000.4 1000.2 >recorded.txt
  expect 0 quick "$url/ok" --pattern file --file recorded.txt --speed 4 --requests r.csv
  [ "$(json 'r["planned"], r["pattern"]')" = "(3, 'file')" ]
  [ "$(python3 -c 'import csv; t=[int(x["planned_ns"]) for x in csv.DictReader(open("r.csv"))]; print([x-t[0] for x in t])')" = "[0, 50000000, 100000000]" ]
  printf '1.2.3.4 - - [30/Nov/2026:22:03:17 +0000] "GET / HTTP/1.1" 200 2\n' >access.log
  printf '{"time":"2026-11-30T22:03:17Z"}\nbroken\n' >lines.jsonl
  expect 0 quick "$url/ok" --pattern file --file access.log
  expect 0 quick "$url/ok" --pattern file --file lines.jsonl
  [ "$(json 'r["planned"], r["replay_lines_skipped"]')" = "(1, 1)" ]
  expect 1 quick "$url/ok" --pattern file --file none
  says "cannot open none"
  echo nonsense, more nonsense >bad
  echo nonsense >>bad
  expect 2 quick "$url/ok" --pattern file --file bad
  says "give a time"
}

@test "closed: users send one after the other; a sweep gives one result for each number" {
  serve
  expect 0 load_ "$url/slow/20" --pattern closed --threads 3 --duration 500ms -o json --requests r.csv
  [ "$(json '30 <= r["ok"] <= 78 and r["ok"] == r["sent"] and r["threads"] == 3 and r["lateness_p99_ms"] is None and r["mean_ms"] >= 20')" = True ]
  [ "$(sed -n 2p r.csv | cut -d, -f2)" = "" ]
  expect 0 load_ "$url/figures" --pattern closed --threads 1,2 --duration 200ms -o json
  [ "$(json '[x["threads"] for x in r["sweep"]]')" = "[1, 2]" ]
  [ "$(json 'all(x["ok"] > 0 and x["target_cpus"] > 0 for x in r["sweep"])')" = True ]
  expect 0 load_ "$url/ok" --pattern closed --threads 1,2 --duration 100ms
  [ "$(grep -c '^ *[12] ' out.json)" = 2 ]
}

@test "figures of the server are recorded; a broken one is not" {
  serve
  expect 0 quick "$url/figures" --interval 50ms --duration 100ms --requests r.csv
  [ "$(sed -n 2p r.csv | cut -d, -f9-12)" = "11,4000000,33," ]
  [ "$(json 'r["server"]["cpu"]["mean_ms"]')" = 4.0 ]
}

@test "never more than N connections, all of them opened before the first instant" {
  serve --log log
  expect 0 quick "$url/slow/10" --pattern burst --burst 6 --every 200ms --duration 600ms --connections 6
  [ "$(json 'r["connections_opened"], r["blocked"]')" = "(0, 0)" ]
  [ "$(grep -c '^open' log)" = 6 ]
  [ "$(grep -c '^GET' log)" = $((18 + 6)) ]
}

@test "a request without a free connection is blocked, sent later, and makes the run invalid" {
  serve --log log
  expect 1 load_ "$url/slow/150" --interval 20ms --duration 200ms --connections 2 -o json --lateness-bound 50ms --requests r.csv
  [ "$(json 'r["planned"], r["sent"], r["ok"], r["valid"]')" = "(10, 10, 10, False)" ]
  [ "$(json 'r["blocked"] >= 7 and "connections" in r["invalid_reason"]')" = True ]
  says "invalid"
  [ "$(grep -c '^open' log)" = 2 ]
  # the last requests waited for four answers before them: their time counts from the plan
  [ "$(json 'r["max_ms"] > 400 and r["service_p99_ms"] < r["max_ms"]')" = True ]
  [ "$(python3 -c 'import csv; print(sum(x["blocked"] == "1" for x in csv.DictReader(open("r.csv"))))')" = "$(json 'r["blocked"]')" ]
  for form in table csv; do
    expect 1 load_ "$url/slow/150" --interval 20ms --duration 200ms --connections 2 -o $form --lateness-bound 50ms
    grep -qi 'invalid\|,false,' out.json
  done
}

@test "an answer delays no send: a server that hangs gets the whole schedule" {
  serve
  expect 1 quick "$url/hang" --interval 20ms --duration 400ms --timeout 300ms --warmup 0 --requests r.csv
  [ "$(json 'r["planned"], r["sent"], r["ok"], r["failed"], r["blocked"]')" = "(20, 20, 0, 20, 0)" ]
  [ "$(json 'r["errors"]')" = "{'timeout': 20}" ]
  # what timed out is a sample of at least that long
  [ "$(json 'r["samples"] == 20 and r["p50_ms"] >= 300 and r["elapsed_s"] < 5')" = True ]
  says "no whole answer within 300ms: not a byte came"
}

@test "requests that no connection becomes free for are given up and said" {
  serve
  expect 1 quick "$url/hang" --interval 10ms --duration 50ms --timeout 200ms --connections 1 --warmup 0 --requests r.csv
  [ "$(json 'r["planned"], r["ok"], r["failed"], r["valid"]')" = "(5, 0, 5, False)" ]
  [ "$(json 'r["errors"].get("not_sent", 0) >= 1 and sum(r["errors"].values()) == 5')" = True ]
  [ "$(wc -l <r.csv)" = 6 ]
}

@test "statuses other than 2xx are failures, shown by status; redirects are not followed" {
  serve --log log
  expect 1 quick "$url/status/500" --interval 20ms --duration 100ms
  [ "$(json 'r["ok"], r["failed"], r["by_status"], r["errors"], r["p99_ms"]')" = "(0, 5, {'500': 5}, {}, None)" ]
  says "5 x status 500"
  expect 1 quick "$url/redirect" --interval 20ms --duration 100ms
  [ "$(json 'r["by_status"]')" = "{'302': 5}" ]
  run ! grep -q 'GET /ok' log
  expect 0 quick "$url/status/204" --interval 20ms --duration 100ms
}

@test "each way to fail is named, quickly, and loses nothing" {
  serve
  local path name
  for path in cut:cut_short close:closed reset:reset garbage:not_http drip:timeout; do
    name=${path#*:} path=${path%:*}
    expect 1 quick "$url/$path" --interval 20ms --duration 100ms --timeout 400ms --warmup 0 --requests r.csv
    [ "$(json 'r["sent"], r["failed"], r["errors"]')" = "(5, 5, {'$name': 5})" ] ||
      { echo "$path: $(json 'r["errors"]')" >&2; return 1; }
    [ "$(json 'r["elapsed_s"] < 4')" = True ]
    says "$name ("
    [ "$(tail -n +2 r.csv | cut -d, -f8 | sort -u)" = "$name" ]
  done
}

@test "nothing to measure: refused, no such name, nothing but failures in the warm-up" {
  expect 1 quick http://127.0.0.1:1/ --duration 1s
  says "refused"
  [ ! -s out.json ]
  expect 1 quick http://no-such-name.invalid/ --duration 1s
  says "no-such-name.invalid"
  expect 1 quick http://127.0.0.1:1/ --interval 20ms --duration 100ms --warmup 0
  [ "$(json 'r["errors"]')" = "{'refused': 5}" ]
}

@test "wrong URLs and contradicting options are usage errors" {
  local words
  while read -r words; do
    # shellcheck disable=SC2086 # several words
    expect 2 load_ $words
    says "headroom-load: "
    [ ! -s out.json ]
  done <<'END'
ftp://127.0.0.1/
http://
http://127.0.0.1:99999/
http://x/ http://y/
http://x/ --pattern sideways
http://x/ --pattern file
http://x/ --file times
http://x/ --pattern ramp
http://x/ --rate 5/s --interval 1s
http://x/ --rate 0/s
http://x/ --burst 0
http://x/ --duration 0
http://x/ --interval 1ns --duration 10000h
http://x/ --connections 0
http://x/ --threads 3
http://x/ --pattern closed --threads 0
http://x/ --pattern closed --shard 0/2
http://x/ --shard 2/2
http://x/ --start-at soon
http://x/ --fail-on p99
http://x/ --header nonsense
http://x/ --nonsense
http://x/ --timeout 0
END
  expect 2 load_
  says "which URL"
}

@test "a server that dies in the middle: what was measured stays" {
  serve --die-after 30
  expect 0 quick "$url/ok" --interval 20ms --duration 1s --warmup 4 --requests r.csv
  [ "$(json '20 <= r["ok"] <= 26 and r["ok"] + r["failed"] == 50 and r["sent"] == 50')" = True ]
  [ "$(json 'r["errors"].get("refused", 0) > 15')" = True ]
  [ "$(wc -l <r.csv)" = 51 ]
  says "refused"
}

@test "large bodies, chunked answers, HTTP/1.0, HEAD, POST with a body and headers" {
  serve --log log
  expect 0 quick "$url/bytes/10485760" --interval 200ms --duration 400ms --warmup 0
  [ "$(json 'r["ok"], r["bytes"]')" = "(2, 20971520)" ]
  expect 0 quick "$url/chunked" --interval 20ms --duration 100ms
  [ "$(json 'r["ok"], r["bytes"]')" = "(5, 10)" ]
  expect 0 quick "$url/old" --interval 20ms --duration 100ms
  [ "$(json 'r["ok"]')" = 5 ]
  expect 0 quick "$url/ok" -X HEAD --interval 20ms --duration 40ms
  printf 'hello' >body
  expect 0 quick "$url/ok" -d @body -H 'X-Mine: 1' --interval 20ms --duration 40ms
  grep -q '^POST /ok 5 .*x-mine' log
  run ! grep -q expect log
  expect 0 quick "$url/ok" -X PUT -d abc --interval 20ms --duration 40ms
  grep -q '^PUT /ok 3 ' log
  grep -q '^HEAD /ok 0 ' log
  expect 2 quick "$url/ok" -d @none
  says "cannot open none"
}

@test "IPv6" {
  [ -e /proc/net/if_inet6 ] && grep -q '^0*1 ' /proc/net/if_inet6 || not_on_this_host "no IPv6 loopback"
  serve --host ::1
  expect 0 quick "http://[::1]:$port/ok" --interval 20ms --duration 100ms
  [ "$(json 'r["ok"]')" = 5 ]
}

@test "a certificate that does not verify is said; --insecure and --cacert accept it" {
  openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
  serve --tls cert.pem key.pem
  local secure=https://127.0.0.1:$port/ok
  expect 1 quick "$secure" --duration 100ms
  says "certificate"
  expect 1 quick "$secure" --interval 20ms --duration 60ms --warmup 0
  [ "$(json 'r["errors"]')" = "{'certificate': 3}" ]
  expect 0 quick "$secure" --interval 20ms --duration 60ms --insecure
  expect 0 quick "$secure" --interval 20ms --duration 60ms --cacert cert.pem
  [ "$(json 'r["ok"]')" = 3 ]
  # plain HTTP on a TLS port and the reverse
  expect 1 quick "http://127.0.0.1:$port/ok" --duration 60ms
  serve
  expect 1 quick "https://127.0.0.1:$port/ok" --duration 60ms --timeout 500ms
  says "timeout"
}

# h2_serve [KEY CERT]: nghttpd takes no port 0, so a port that nobody used a moment ago is tried
h2_serve() {
  local _
  for _ in 1 2 3 4 5; do
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    mkdir -p root && echo hello >root/index.html
    if [ $# -gt 0 ]; then
      nghttpd -d root -a 127.0.0.1 "$port" "$@" >/dev/null 2>server.err 3>&- &
    else
      nghttpd --no-tls -d root -a 127.0.0.1 "$port" >/dev/null 2>server.err 3>&- &
    fi
    server_pid=$!
    fixture_pids+=("$server_pid")
    if wait_until 3 curl -sk --http2-prior-knowledge -o /dev/null "http$([ $# -eq 0 ] || echo s)://127.0.0.1:$port/"; then return 0; fi
  done
  return 1
}

@test "HTTP/2, with and without TLS: all requests share one connection" {
  h2_serve
  expect 0 quick "http://127.0.0.1:$port/" --http2 --pattern burst --burst 8 --every 50ms --duration 200ms
  [ "$(json 'r["ok"], r["connections_opened"], r["errors"], r["bytes"]')" = "(32, 0, {}, 192)" ]
  # opened in the run: once
  expect 0 quick "http://127.0.0.1:$port/" --http2 --interval 10ms --duration 200ms --warmup 0
  [ "$(json 'r["ok"], r["connections_opened"], r["errors"]')" = "(20, 1, {})" ]
  openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 2>/dev/null
  h2_serve key.pem cert.pem
  expect 0 quick "https://127.0.0.1:$port/" --http2 --pattern burst --burst 8 --every 50ms --duration 200ms --cacert cert.pem
  [ "$(json 'r["ok"], r["connections_opened"], r["errors"]')" = "(32, 0, {})" ]
}

@test "interrupted: a partial report, every line written, 130 and 143, no process left" {
  serve
  local signal pid status
  for signal in INT:130 TERM:143; do
    "$build/headroom-load" "$url/slow/50" --interval 20ms --duration 60s -o json --requests r.csv >out.json 2>err 3>&- &
    pid=$!
    wait_until 10 has_lines 5 r.csv
    kill -s "${signal%:*}" "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = "${signal#*:}" ] || { echo "status $status: $(cat err)" >&2; return 1; }
    gone "$pid"
    [ "$(json 'r["planned"] == 3000 and 0 < r["sent"] < 3000 and r["ok"] > 0 and not r["valid"]')" = True ]
    [ "$(json 'r["sent"] == r["ok"] + r["unfinished"] and "interrupted" in r["invalid_reason"]')" = True ]
    [ "$(wc -l <r.csv)" = $(($(json 'r["sent"]') + 1)) ]
    rm r.csv
  done
  # before the first instant there is nothing to report
  "$build/headroom-load" "$url/ok" --start-at 7000000000 -o json >out.json 2>err 3>&- &
  pid=$!
  sleep 0.3
  kill -s TERM "$pid"
  status=0
  wait "$pid" || status=$?
  [ "$status" = 143 ]
  says "interrupted"
}

@test "files: an unwritable path is found before the run, a full disk loses no result" {
  serve --log log
  expect 1 quick "$url/ok" --duration 100ms --requests /no/such/folder/r.csv
  says "/no/such/folder/r.csv"
  expect 1 quick "$url/ok" --duration 100ms --hgrm /no/such/folder/h
  run ! grep -q GET log
  expect 1 quick "$url/ok" --duration 100ms --requests /dev/full
  says "/dev/full"
  expect 1 quick "$url/ok" --interval 20ms --duration 100ms --hgrm /dev/full
  says "/dev/full"
  [ "$(json 'r["ok"]')" = 5 ]
  load_ "$url/ok" --interval 20ms --duration 100ms >/dev/full 2>err && return 1
  says "cannot write the report"
}

@test "a disk that fills up during the run: the lines before that stay, the report is whole" {
  serve
  # a limit on the size of files stands in for the disk
  (trap '' XFSZ; ulimit -f 1; quick "$url/ok" --interval 2ms --duration 200ms --requests r.csv -o json >out.pipe 2>err; echo $? >status) || true
  [ "$(cat status)" = 1 ]
  says "cannot write r.csv"
  [ "$(head -1 r.csv | cut -d, -f1)" = seq ]
}

@test "the distribution file and the gate" {
  serve
  expect 0 quick "$url/ok" --interval 10ms --duration 300ms --hgrm h --fail-on 'p99>1h,failed>0' --fail-on 'rate<1/s'
  grep -q 'Percentile' h
  grep -q '#\[Max .*Total count    =           30\]' h
  expect 3 quick "$url/slow/20" --interval 50ms --duration 100ms --fail-on 'p99>1ms'
  says "--fail-on: p99 is"
  [ "$(json 'r["ok"]')" = 2 ]
  expect 1 quick "$url/status/503" --interval 50ms --duration 100ms --fail-on 'failed>0'
}

@test "shards: together they are the whole schedule; a missing or doubled one is named" {
  serve --log log
  local at i pids=()
  at=$(python3 -c 'import time; print("%.3f" % (time.time() + 2))')
  for i in 0 1 2; do
    quick "$url/ok" --interval 10ms --duration 600ms --shard $i/3 --start-at "$at" >"s$i.json" 2>"e$i" 3>&- &
    pids+=($!)
  done
  for i in 0 1 2; do wait "${pids[$i]}" || { cat "e$i" >&2; return 1; }; done
  expect 0 load_ merge s0.json s1.json s2.json -o json
  [ "$(json 'r["planned"], r["ok"], r["exact"], r["merged_from"], r["shard"], len(r["samples_ns"])')" = "(60, 60, True, 3, None, 60)" ]
  python3 - <<'END'
import json
parts = [json.load(open("s%d.json" % i)) for i in range(3)]
merged = json.load(open("out.json"))
samples = sorted(x for p in parts for x in p["samples_ns"])
assert samples == merged["samples_ns"]
assert abs(samples[59] / 1e6 - merged["p99_ms"]) < 1e-6 and abs(samples[29] / 1e6 - merged["p50_ms"]) < 1e-6
assert [p["shard"] for p in parts] == [{"index": i, "count": 3} for i in range(3)]
END
  cat e0 s?.json | load_ merge - >out.json
  expect 0 load_ merge s0.json s1.json s2.json -o json --keep-samples 0
  [ "$(json 'r["samples_ns"]')" = None ]
  expect 2 load_ merge s0.json s2.json
  says "shard 1/3 is missing"
  expect 2 load_ merge s0.json s2.json s2.json s1.json
  says "shard 2/3 is there twice"
  expect 2 load_ merge none.json
  says "none.json"
  expect 2 load_ merge /dev/null
  expect 2 load_ merge
  expect 3 load_ merge s0.json s1.json s2.json --fail-on 'p50>0'
  expect 1 quick "$url/ok" --start-at 2020-01-01T00:00:00Z
  says "ago"
}

@test "the start can be an instant of the monotonic clock" {
  serve
  local at
  at=$(python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 1500000000)')
  expect 0 quick "$url/ok" --interval 10ms --duration 50ms --start-mono-ns "$at" --requests r.csv
  [ "$(json 'r["start_mono_ns"]')" = "$at" ]
  [ "$(sed -n 2p r.csv | cut -d, -f2)" = "$at" ]
}

@test "options come from the environment as well; a repeated own name is tolerated" {
  serve
  export HEADROOM_INTERVAL=20ms HEADROOM_DURATION=100ms HEADROOM_OUTPUT=json HEADROOM_LATENESS_BOUND=10s
  expect 0 load_ headroom-load "$url/ok"
  [ "$(json 'r["planned"]')" = 5 ]
  expect 0 load_ "$url/ok" --duration 200ms
  [ "$(json 'r["planned"]')" = 10 ]
}

@test "the proxy of the environment is not used unless asked" {
  serve
  export http_proxy=http://127.0.0.1:1
  expect 0 quick "$url/ok" --interval 20ms --duration 60ms
  expect 1 quick "$url/ok" --interval 20ms --duration 60ms --proxy http://127.0.0.1:1
}

@test "no live line and no colours where there is no terminal; one where there is" {
  serve
  load_ "$url/ok" --interval 20ms --duration 600ms --lateness-bound 10s >out.json 2>err
  [ ! -s err ]
  run ! grep -q $'\033' out.json
  TERM=xterm script -qec "'$build/headroom-load' '$url/ok' --interval 20ms --duration 800ms --lateness-bound 10s" typescript >/dev/null
  grep -q 'sent .* of 40  ok .* p99 .* lateness p99' typescript
}
