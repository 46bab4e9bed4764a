#!/usr/bin/env bats
# headroom study 1 with real limits on this host: a short study, interruptions, programs that fail. Afterwards no process
# and no cgroup of ours may be left.
# tests/run: limit 400

bats_require_minimum_version 1.5.0

setup() {
  load ../lib/common
  need headroom headroom-probe headroom-load headroom-sidecar
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir -p bin
  cp "$build/headroom" bin/
  headroom=$PWD/bin/headroom
  local name
  for name in probe load sidecar; do ln -s "$build/headroom-$name" "bin/headroom-$name"; done
}

teardown() {
  [ -z "${pid-}" ] || kill -KILL "$pid" 2>/dev/null || true
}

# fake NAME: takes the place of a program; its shell text is read from stdin
fake() {
  rm -f "bin/$1"
  { echo '#!/bin/sh'; cat; } >"bin/$1"
  chmod +x "bin/$1"
}

# can_limit: skips where no limit can be made at all
can_limit() {
  [[ $1 != *"no CPU limit can be made here"* ]] || not_on_this_host "$1"
}

# study ARGS...: output, stderr, status; work that was calibrated elsewhere saves time
study() {
  run --separate-stderr "$headroom" study 1 --rounds 20000 --lead 500ms --out out "$@"
  echo "$output"
  echo "$stderr" >&2
  can_limit "$stderr"
}

# column FILE NAME: its values, one a line
column() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"
}

# value LIMIT PATTERN NAME: of the row of runs.csv
value() {
  awk -F, -v l="$1" -v p="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
    $1 == l && $2 == p { print $c; exit }' out/runs.csv
}

# in_background: starts a study, waits until its first run is on disk; $pid
in_background() {
  "$headroom" study 1 --rounds 20000 --seconds 2 --lead 500ms --out out >stdout 2>stderr 3>&- &
  pid=$!
  wait_until 30 first_run_is_there || { can_limit "$(cat stderr)"; cat stderr; return 1; }
}
first_run_is_there() { [ "$(awk 'END { print NR }' out/runs.csv 2>/dev/null)" -ge 2 ] || grep -q 'no CPU limit' stderr; } 2>/dev/null

children() { pgrep -P "$pid" || true; }

# nothing_left PID: none of its cgroups in any hierarchy
nothing_left() {
  local left
  left=$(find /sys/fs/cgroup -maxdepth 6 -type d -name "headroom-$1-*" 2>/dev/null)
  [ -z "$left" ] || { echo "left behind: $left" >&2; return 1; }
}

# await: waits for $pid, its exit status in $status
await() {
  status=0
  wait "$pid" || status=$?
}

@test "a short study: every condition, every request, the counters as they should be" {
  study --seconds 2 --seed 7
  # 1 is allowed: with so few requests one stall of the machine is enough for another shape
  [ "$status" = 0 ] || [ "$status" = 1 ]
  [[ $output == *"shape: "* ]]
  [ "$(wc -l <out/runs.csv)" -ge 7 ]
  [ "$(column out/runs.csv position | sort -u | tr -d '\n')" = 123456 ]
  local limit pattern
  for limit in 0.25 0.5 none; do
    [ "$(value $limit even requests)" = 40 ]
    [ "$(value $limit burst requests)" = 40 ]
    for pattern in even burst; do
      [ "$(value $limit $pattern ok)" = 40 ]
      # 20 requests/s of at least 1 ms of CPU; the observation begins 0.1 s before the first send
      awk -v cpu="$(value $limit $pattern cpu_cores_mean)" -v s="$(value $limit $pattern cpu_observed_s)" \
        'BEGIN { exit !(cpu > 0.01 && cpu < 0.5 && s > 2.05 && s < 3) }'
    done
    [[ $output == *"at $limit CPU, nproc_quota_mismatch"* ]] || [ $limit = none ] || [ "$(nproc)" = 1 ]
  done
  [ "$(value none even nr_throttled)" = 0 ] && [ "$(value none burst nr_throttled)" = 0 ]
  [ -z "$(value none burst phase_ms)" ]
}

@test "the limit is enforced: four times the work in bursts is throttled, and the phase is the one asked for" {
  # 80000 rounds: about 50 ms of work a burst against 25 ms a period; no noise can hide that
  run --separate-stderr "$headroom" study 1 --rounds 80000 --seconds 2 --phase 30 --out out
  can_limit "$stderr"
  [ "$(value 0.25 burst nr_throttled)" -ge 3 ]
  [ "$(value 0.25 burst throttled_usec)" -gt 50000 ]
  awk -v phase="$(value 0.25 burst phase_ms)" 'BEGIN { exit !(phase > 25 && phase < 35) }'
  # never more than the quota, over any time: 0.25 CPU and the 25 ms that may be there at its beginning
  awk -v cpu="$(value 0.25 burst cpu_cores_mean)" 'BEGIN { exit !(cpu <= 0.27) }'
}

@test "the files can be read, and say the same as the report" {
  study --seconds 1 -o json
  python3 - "$output" <<'PY'
import csv, json, sys
report = json.loads(sys.argv[1])
on_disk = json.load(open("out/summary.json"))
assert report == on_disk
runs = list(csv.DictReader(open("out/runs.csv")))
requests = list(csv.DictReader(open("out/requests.csv")))
assert report["schema_version"] == 1 and report["study"] == "1"
assert len(report["order"]) == 6 and sorted(report["order"]) == sorted(set(report["order"]))
for c in report["conditions"]:
    limit = "none" if c["limit_cpus"] is None else "%g" % c["limit_cpus"]
    mine = [r for r in runs if r["limit_cpus"] == limit and r["pattern"] == c["pattern"] and r["valid"] == "true"]
    if not mine:
        continue
    times = sorted((int(r["done_ns"]) - int(r["planned_ns"])) / 1e6 for r in requests
                   if r["limit_cpus"] == limit and r["pattern"] == c["pattern"])
    if len(mine) == 1 and len(runs) == 6:
        rank = -(-len(times) * 99 // 100)
        assert abs(times[rank - 1] - c["p99_ms"]) < 0.001, (times[rank - 1], c)
        assert abs(float(mine[0]["p99_ms"]) - c["p99_ms"]) < 0.002
        parts = c["above_p95"]
        total = sum(v for k, v in parts.items() if k.endswith("_ms") and k != "response_ms")
        assert parts["requests"] > 0 and abs(total - parts["response_ms"]) < 0.5, parts
        assert limit != "none" or parts["quota_ms"] + parts["queue_quota_ms"] == 0
PY
  # what the sidecar said is there, and the readings of cpu.stat
  grep -q '"event"' out/sidecar.jsonl
  [ "$(wc -l <out/periods.csv)" -gt 10 ]
}

@test "the same seed gives the same order" {
  fake headroom-load <<<'exit 1'
  local seed
  for seed in 1 1 2; do
    rm -rf out
    study --seconds 1 --seed $seed
    grep -A1 '^order' <<<"$output" >>orders
    echo >>orders
  done
  [ "$(sort orders | uniq -c | awk '$1 == 2' | wc -l)" -ge 1 ]
}

@test "INT, TERM and HUP: nothing is left, what was measured is there, status 130, 143, 129" {
  local signal wanted=(130 143 129) i=0 child
  for signal in INT TERM HUP; do
    rm -rf out
    in_background
    wait_until 10 sh -c "pgrep -P $pid headroom-load"
    child=$(children)
    kill -$signal "$pid"
    await
    [ "$status" = "${wanted[i]}" ]
    # shellcheck disable=SC2086
    gone $child
    nothing_left "$pid"
    grep -q "interrupted by SIG$signal" stderr
    grep -q 'not judged' stdout
    [ "$(wc -l <out/runs.csv)" -ge 2 ]
    [ "$(wc -l <out/requests.csv)" -ge 41 ]
    python3 -c 'import json; assert json.load(open("out/summary.json"))["unfinished"]'
    [ ! -e out/.requests-of-this-run.csv ]
    i=$((i + 1))
  done
  pid=
}

@test "KILL of the probe ends the study with one sentence and status 1" {
  in_background
  wait_until 10 sh -c "pgrep -P $pid headroom-load"
  local child
  child=$(children)
  kill -KILL "$(pgrep -P "$pid" headroom-probe)"
  await
  [ "$status" = 1 ]
  # shellcheck disable=SC2086
  gone $child
  nothing_left "$pid"
  [ "$(wc -l <stderr)" = 1 ]
  grep -q 'headroom-probe was ended by SIGKILL' stderr
  [ "$(wc -l <out/runs.csv)" -ge 2 ]
  pid=
}

@test "KILL of headroom takes its processes along; the next one removes its cgroups" {
  in_background
  wait_until 10 sh -c "pgrep -P $pid headroom-probe"
  local child killed=$pid
  child=$(children)
  kill -KILL "$pid"
  wait "$pid" || true
  # shellcheck disable=SC2086
  for child in $child; do wait_until 5 gone "$child"; done
  pid=
  # systemd removes its scopes by itself, so something need not be left
  run timeout -s INT 3 "$headroom" study 1 --rounds 1000 --out out2
  nothing_left "$killed"
}

@test "a load that is not valid is repeated once, marked, and ends the study with 1" {
  fake headroom-load <<'SH'
while [ $# -gt 0 ]; do [ "$1" != --requests ] || requests=$2; shift; done
[ -z "$requests" ] || printf 'seq,planned_ns,sent_ns,done_ns,status,error\n0,1000,9001000,9002000,200,\n' >"$requests"
echo '{"planned":1,"sent":1,"ok":1,"valid":false,"invalid_reason":"lateness p99 of 9 ms"}'
[ -n "$requests" ] && exit 1 || exit 0
SH
  study --seconds 1
  [ "$status" = 1 ]
  [ "$(wc -l <out/runs.csv)" = 13 ]
  [ "$(column out/runs.csv valid | sort -u)" = false ]
  [[ $output == *"0 valid runs of 1"* ]]
  [[ $output == *"left out: "*"lateness p99 of 9 ms"* ]]
}

@test "a sender that comes too late for its first instant gets more time" {
  # the real one, asleep for longer than the lead each time a file does not say that it has been
  mv bin/headroom-load bin/real-load
  fake headroom-load <<'SH'
case " $* " in *" --start-mono-ns "*) [ -e slept ] || { touch slept; sleep 2; } ;; esac
exec "${0%/*}/real-load" "$@"
SH
  study --seconds 1 --lateness-bound 1s
  [ "$status" -le 1 ]
  [ -z "$stderr" ]
  [ -e slept ]
  [ "$(column out/runs.csv valid | grep -c true)" = 6 ]
}

@test "a sender that always comes too late ends the study with its own last words" {
  mv bin/headroom-load bin/real-load
  fake headroom-load <<'SH'
case " $* " in *" --start-mono-ns "*) echo "start earlier" >&2; while [ $# -gt 0 ]; do [ "$1" != --start-mono-ns ] || at=$2; shift; done
  # as late as the real one is: after that instant
  awk -v at="$at" '{ left = at / 1e9 - $1; if (left > 0) system("sleep " left + 0.05) }' /proc/uptime; exit 1 ;; esac
exec "${0%/*}/real-load" "$@"
SH
  study --seconds 1
  [ "$status" = 1 ]
  [[ $stderr == *"too late for its first send: start earlier" ]]
}

@test "programs that fail: one sentence with their own last words, and nothing is left" {
  local name
  for name in probe load sidecar; do
    rm -rf out
    fake "headroom-$name" <<<"echo nonsense; echo 'disk on fire' >&2; exit 3"
    study --seconds 1
    [ "$status" = 1 ]
    [ "$(wc -l <<<"$stderr")" = 1 ]
    [[ $stderr == *"headroom-$name"* ]]
    [[ $stderr == *"status 3"*"disk on fire"* ]] || [[ $stderr == *"did not say"* ]]
    [ -z "$(find /sys/fs/cgroup -maxdepth 6 -type d -name 'headroom-*-even-*' -o -name 'headroom-*-burst-*' | head -n 1)" ]
    rm "bin/headroom-$name"
    ln -s "$build/headroom-$name" "bin/headroom-$name"
  done
}

@test "a probe that is not alone in its group is refused, and what it started is killed" {
  fake headroom-probe <<'SH'
[ "$1" != --calibrate ] || exit 1
sleep 300 &
echo $! >other
echo '{"event":"listening","url":"http://127.0.0.1:1"}'
exec sleep 300
SH
  study --seconds 1
  [ "$status" = 1 ]
  [[ $stderr == *"is not alone in the cgroup"* ]]
  wait_until 5 gone "$(cat other)"
}

@test "a calibration that fails ends the study before anything runs" {
  fake headroom-probe <<<"echo 'the spread is wide' >&2; exit 1"
  run --separate-stderr "$headroom" demo --out out
  can_limit "$stderr"
  [ "$status" = 1 ]
  [[ $stderr == *"while calibrating: the spread is wide" ]]
  [ ! -e out/runs.csv ]
}

@test "a folder with results is not written to again" {
  mkdir out
  echo precious >out/runs.csv
  study --seconds 1
  [ "$status" = 1 ]
  [[ $stderr == *"already holds results"* ]]
  [ "$(cat out/runs.csv)" = precious ]
}

@test "--limiter v2 on a host whose cpu controller belongs to v1 says so" {
  grep -q 'cgroup cgroup .*[,]cpu\(,\|$\)' /proc/self/mountinfo || not_on_this_host "no v1 hierarchy with cpu"
  run --separate-stderr "$headroom" demo --limiter v2
  [ "$status" = 1 ]
  [[ $stderr == *"by --limiter v2 is not possible here: the cpu controller of this host belongs to cgroup v1"* ]]
}
