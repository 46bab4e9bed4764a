#!/usr/bin/env bats
# headroom study 1|2 --remote, as the Jobs of manifests/overlays/study-* run it: their arguments are taken from the rendered
# manifest, the probes and the sidecars are real, under real quotas, over real HTTP; only addresses, lengths and bounds
# are others. What the figures are is not judged, this machine is noisy: that they fit together is.
# tests/run: limit 300

bats_require_minimum_version 1.5.0

setup() {
  load ../lib/common
  load ../lib/cgroups
  load ../lib/probe
  need headroom headroom-probe headroom-load headroom-sidecar
  unset "${!HEADROOM_@}"
  made=()
  sidecars=()
  find_hierarchies
  mkdir "$BATS_TEST_TMPDIR/empty"
  cd "$BATS_TEST_TMPDIR/empty"
}

teardown() {
  [ -z "${pid-}" ] || kill -KILL "$pid" 2>/dev/null || true
  end_probes
  [ ${#sidecars[@]} = 0 ] || end_processes "${sidecars[@]}"
  local name
  for name in "${made[@]}"; do unmake "$name"; done
}

# rendered STUDY NAME CONTAINER: the arguments of a container of a workload of overlays/study-STUDY (3, or 3/job), one a line
rendered() {
  kubectl kustomize "$top/manifests/overlays/study-$1" | python3 -c '
import sys, yaml
for o in yaml.safe_load_all(sys.stdin):
    if o["metadata"]["name"] == sys.argv[1] and o["kind"] != "Service":
        spec = o["spec"]["template"]["spec"]
        for c in spec["containers"] + spec.get("initContainers", []):
            if c["name"] == sys.argv[2]:
                print("\n".join(c["args"]))' "$2" "$3"
}
need_kubectl() { command -v kubectl >/dev/null || skip "kubectl is not installed (https://kubernetes.io/docs/tasks/tools/)"; }

# start_pod LIMIT QUOTA_US|none OPTIONS...: a probe and its sidecar under that quota; sets probe_LIMIT and report_LIMIT
start_pod() {
  local name=headroom-remote-test-$BASHPID-$1
  make_cgroup "$name"
  limit "$name" "$2"
  # shellcheck disable=SC2034 # of ../lib/probe
  probe_prefix=(inside "$name")
  start_probe "${@:3}"
  declare -g "probe_$1=${url#http://}"
  start_sidecar "$probe" 0
  declare -g "report_$1=127.0.0.1:$sidecar_port" "pid_$1=$probe"
}
# start_sidecar PID PORT: sets $sidecar, $sidecar_port
start_sidecar() {
  local out
  out=$(mktemp "$BATS_TEST_TMPDIR/sidecar.XXXXXX")
  "$build/headroom-sidecar" -o json --pid "$1" --listen "127.0.0.1:$2" >"$out" 2>&1 3>&- &
  sidecar=$!
  sidecars+=("$sidecar")
  wait_until 10 grep -q '"event": "target_found"' "$out"
  sidecar_port=$(sed -n 's/.*"http_port": \([0-9]*\).*/\1/p' "$out" | head -1)
}

# of JSON EXPRESSION: what Python makes of it, `d` being the document
of() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

@test "the Job of study 1: table, termination message and status" {
  need_kubectl
  local limit quota args=()
  for limit in 250m:25000 500m:50000 none:none; do
    quota=${limit#*:} limit=${limit%:*}
    mapfile -t args < <(rendered 1 "headroom-probe-$limit" probe | grep -v '^--listen')
    [ ${#args[@]} -ge 2 ]
    start_pod "$limit" "$quota" "${args[@]}"
  done
  mapfile -t args < <(rendered 1 headroom-study-1 study | sed "s/headroom-probe-250m:8080/$probe_250m/
    s/headroom-probe-250m:9464/$report_250m/; s/headroom-probe-500m:8080/$probe_500m/; s/headroom-probe-500m:9464/$report_500m/
    s/headroom-probe-none:8080/$probe_none/; s/headroom-probe-none:9464/$report_none/")
  [ "${args[0]}" = study ]
  run --separate-stderr "$build/headroom" "${args[@]}" --seconds=1 --repetitions=1 --lateness-bound=1s \
    --termination-log="$BATS_TEST_TMPDIR/message"
  echo "$output"
  echo "$stderr"
  [ "$status" = 0 ] || [ "$status" = 1 ]
  # all six conditions, each with figures of its sidecar
  [[ $output == *"rounds of SHA-256 a request, the same for all"* ]]
  [ "$(grep -cE '^(0\.25|0\.5) +(even|burst) +0\.[0-9]{3} .* of [0-9]+ ' <<<"$output")" = 4 ]
  [ "$(grep -cE '^none +(even|burst) +0\.[0-9]{3} ' <<<"$output")" = 2 ]
  [ "$(grep -cE '^(0\.25|0\.5|none) +(even|burst) +[0-9.]+ +[0-9.]+ +[0-9.]+ +[a-z_]+$' <<<"$output")" = 6 ]
  [[ $output == *"note: the probe at 250m runs on this host too"* ]]
  grep -q '^run\|run 6 of 6' <<<"$stderr"
  # the message says the same, and the status with it
  [ "$(stat -c %s "$BATS_TEST_TMPDIR/message")" -le 4096 ]
  [ "$(head -1 "$BATS_TEST_TMPDIR/message")" = "$(grep '^shape: ' <<<"$output")" ]
  [ "$(grep -cE '^(0\.25|0\.5|none) (even|burst): p99 [0-9.]+ ms, mean CPU 0\.' "$BATS_TEST_TMPDIR/message")" = 6 ]
  if [ "$status" = 0 ]; then grep -qx 'shape: as published' "$BATS_TEST_TMPDIR/message"
  else grep -qx 'shape: differs from the published one' "$BATS_TEST_TMPDIR/message"; fi
  # a container may have no folder that can be written
  [ -z "$(ls -A)" ]
}

@test "the Job of study 2: fingerprints of the cases without and with a quota" {
  need_kubectl
  local case quota args=()
  for case in a:none b:30000; do
    quota=${case#*:} case=${case%:*}
    mapfile -t args < <(rendered 2 "headroom-probe-$case" probe | grep -v '^--listen')
    [ ${#args[@]} -ge 2 ]
    start_pod "$case" "$quota" "${args[@]}"
  done
  mapfile -t args < <(rendered 2 headroom-study-2 study | grep -vE '^--remote=[CD]=' | sed "s/headroom-probe-a:8080/$probe_a/
    s/headroom-probe-a:9464/$report_a/; s/headroom-probe-b:8080/$probe_b/; s/headroom-probe-b:9464/$report_b/")
  run --separate-stderr "$build/headroom" "${args[@]}" --repetitions=1 --works=2 --every=1s --times=50 --lateness-bound=1s \
    --termination-log="$BATS_TEST_TMPDIR/message"
  echo "$output"
  echo "$stderr"
  [ "$status" = 0 ] || [ "$status" = 1 ]
  # how noisy this machine is decides what A's sidecar says; B is stopped on any
  grep -qE '^nr_throttled +0 +[1-9][0-9]*$' <<<"$output"
  grep -qE '^the sidecar says +[a-z_]+ +throttled$' <<<"$output"
  [ "$(head -1 "$BATS_TEST_TMPDIR/message")" = "$(grep '^verdicts: ' <<<"$output")" ]
  grep -qE '^B: 1 valid runs, median [0-9.]+ ms, [1-9][0-9]* throttled periods' "$BATS_TEST_TMPDIR/message"
  if [ "$status" = 0 ]; then grep -qx 'verdicts: as published' "$BATS_TEST_TMPDIR/message"
  else grep -qx 'verdicts: differ from the published causes' "$BATS_TEST_TMPDIR/message"; fi
  [ -z "$(ls -A)" ]
}

@test "the Job of study 3: closed loops of both cases" {
  need_kubectl
  local case args=()
  mapfile -t args < <(rendered 3 headroom-probe-law probe | grep -v '^--listen')
  [ ${#args[@]} -ge 2 ]
  start_probe "${args[@]}"
  for case in case-1 load; do
    mapfile -t args < <(rendered 3/job headroom-load-law "$case" | sed "s/headroom-probe-law:8080/127.0.0.1:$port/")
    run "$build/headroom-load" "${args[@]}" --threads=1,2 --duration=1s
    echo "$output"
    [ "$status" = 0 ]
    [ "$(grep -cE '^ +[12] +[0-9.]+ +[0-9.]+ms ' <<<"$output")" = 2 ]
  done
}

@test "what the sidecars say of just one run: JSON, files, throttled only where it was" {
  start_pod 250m 25000 --rounds 1000
  # 8 x 8 ms against 25 ms in 100 ms: any machine throttles that
  local rounds
  rounds=$("$build/headroom-probe" --calibrate --cpu-ms 8 | key rounds)
  run --separate-stderr "$build/headroom" study 1 --remote "250m=http://$probe_250m/work,http://$report_250m/report" \
    --rounds "$rounds" --seconds 2 --stretch 2 --lateness-bound 1s -o json --out "$BATS_TEST_TMPDIR/out"
  echo "$output" >"$BATS_TEST_TMPDIR/json"
  echo "$output"
  echo "$stderr"
  [ "$status" = 0 ] || [ "$status" = 1 ]
  [ "$(of "$BATS_TEST_TMPDIR/json" '[(c["limit_cpus"], c["pattern"]) for c in d["conditions"]]')" = "[(0.25, 'even'), (0.25, 'burst')]" ]
  [ "$(of "$BATS_TEST_TMPDIR/json" 'd["rounds"]')" = "$rounds" ]
  [ "$(of "$BATS_TEST_TMPDIR/json" 'd["conditions"][1]["nr_throttled"] > d["conditions"][0]["nr_throttled"]')" = True ]
  [ "$(of "$BATS_TEST_TMPDIR/json" 'd["conditions"][1]["verdict"]')" = throttled ]
  [ "$(of "$BATS_TEST_TMPDIR/json" 'd["remote"][0]["same_node"]')" = True ]
  # the window of the sidecar is the run: not what was before, nor what came later
  [ "$(of "$BATS_TEST_TMPDIR/json" 'all(c["nr_periods"] <= 40 for c in d["conditions"])')" = True ]
  # server times of another host are not taken for ours
  [ "$(of "$BATS_TEST_TMPDIR/json" 'd["conditions"][1]["above_p95"]["requests"]')" = 0 ]
  cmp "$BATS_TEST_TMPDIR/json" "$BATS_TEST_TMPDIR/out/summary.json"
  [ "$(grep -c ',remote$' "$BATS_TEST_TMPDIR/out/runs.csv")" -ge 2 ]
  [ "$(wc -l <"$BATS_TEST_TMPDIR/out/sidecar.jsonl")" -ge 2 ]
  [ "$(awk 'END { print NR }' "$BATS_TEST_TMPDIR/out/requests.csv")" -ge 41 ]
}

@test "a sidecar that is started anew: the run says so, is left out and repeated once" {
  start_pod 250m 25000 --rounds 1000
  "$build/headroom" study 1 --remote "250m=http://$probe_250m/work,http://$report_250m/report" --seconds 2 \
    --lateness-bound 1s --rounds 1000 >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" 3>&- &
  pid=$!
  wait_until 20 grep -q '^order' "$BATS_TEST_TMPDIR/stdout"
  sleep 2
  end_processes "$sidecar"
  start_sidecar "$pid_250m" "$sidecar_port"
  local status=0
  wait "$pid" || status=$?
  pid=''
  cat "$BATS_TEST_TMPDIR/stdout" "$BATS_TEST_TMPDIR/stderr"
  # so little work is never throttled
  [ "$status" = 1 ]
  [ "$(grep -c 'not valid: ' "$BATS_TEST_TMPDIR/stderr")" = 1 ]
  grep -qE 'not valid: (the sidecar or the container beside it was started anew|http)' "$BATS_TEST_TMPDIR/stderr"
  [ "$(grep -c ': p99 ' "$BATS_TEST_TMPDIR/stderr")" = 2 ]
  [ "$(grep -c '^left out: ' "$BATS_TEST_TMPDIR/stdout")" = 1 ]
  grep -q '^shape: differs' "$BATS_TEST_TMPDIR/stdout"
}

@test "interrupted: 143, what was measured is told, nothing is left" {
  start_pod 250m 25000 --rounds 1000
  "$build/headroom" study 1 --remote "250m=http://$probe_250m/work,http://$report_250m/report" --seconds 60 --rounds 1000 \
    --lateness-bound 1s --termination-log "$BATS_TEST_TMPDIR/message" >"$BATS_TEST_TMPDIR/stdout" 2>&1 3>&- &
  pid=$!
  wait_until 20 grep -q '^order' "$BATS_TEST_TMPDIR/stdout"
  sleep 3
  local children status=0
  children=$(cat "/proc/$pid/task/$pid/children")
  kill -TERM "$pid"
  wait "$pid" || status=$?
  pid=''
  cat "$BATS_TEST_TMPDIR/stdout"
  [ "$status" = 143 ]
  # shellcheck disable=SC2086 # several
  gone $children
  grep -q '^shape: not judged, .*interrupted by SIGTERM' "$BATS_TEST_TMPDIR/message"
  grep -q '^left out: .*interrupted' "$BATS_TEST_TMPDIR/stdout"
}

# refuses TARGET WORDS: a usage error that says so
refuses() {
  run --separate-stderr "$build/headroom" study 1 --remote "$1"
  [ "$status" = 2 ] || { echo "$1: status $status"; return 1; }
  [[ $stderr == *"$2"* ]] || { echo "$1: $stderr"; return 1; }
}

@test "nobody there, another limit than promised, wrong words: one sentence and its status" {
  run --separate-stderr "$build/headroom" study 1 --remote 250m=http://127.0.0.1:9/work,http://127.0.0.1:9/report --wait 1s \
    --termination-log "$BATS_TEST_TMPDIR/message"
  [ "$status" = 1 ]
  [[ $stderr == *"waiting for 250m: http://127.0.0.1:9/work: "* ]]
  [[ $stderr == *"250m is not ready after 1 s: "* ]]
  grep -q 'shape: not judged.*not ready' "$BATS_TEST_TMPDIR/message"

  start_pod none none --rounds 1000
  run --separate-stderr "$build/headroom" study 1 --remote "250m=http://$probe_none/work,http://$report_none/report"
  [ "$status" = 1 ]
  [ "$(wc -l <<<"$stderr")" = 1 ]
  [[ $stderr == *"--remote 250m: its sidecar sees a limit of none"* ]]

  refuses 250m 'write NAME=PROBE_URL,REPORT_URL'
  refuses 300m=http://a/,http://a/ 'the limits 0.25, 0.5 and none'
  refuses none=http://a/,http://a/ 'the probe at 0.25 is missing'
  refuses 250m=a,http://a/ "'a' is no URL that begins with http://"
  run --separate-stderr "$build/headroom" study 1 --remote 250m=http://a/,http://a/ --limiter v1
  [ "$status" = 2 ]
  [[ $stderr == *"--remote goes with neither --limiter nor --no-sidecar"* ]]
  run --separate-stderr "$build/headroom" study 2
  [ "$status" = 2 ]
  [[ $stderr == *"--remote is missing"* ]]
  run --separate-stderr "$build/headroom" study 2 --remote A=http://a/,http://a/ --remote A=http://b/,http://b/
  [ "$status" = 2 ]
  [[ $stderr == *"given twice"* ]]
  run --separate-stderr "$build/headroom" study 1 --remote 250m=http://a/,http://a/ --remote 0.25=http://b/,http://b/
  [ "$status" = 2 ]
  [[ $stderr == *"given twice"* ]]
}
