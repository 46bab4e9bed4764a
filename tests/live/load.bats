#!/usr/bin/env bats
# What an open loop is for: a server that stands still for a second is asked all the same, and the report shows the second.
# tests/run: limit 180

bats_require_minimum_version 1.5.0

setup() {
  load ../lib/common
  need headroom-load headroom-probe
  cd "$BATS_TEST_TMPDIR"
  started=()
  for name in $(compgen -v HEADROOM_ | grep -v '^HEADROOM_\(BUILD\|TEST_.*\)$'); do unset "$name"; done
}

teardown() { [ ${#started[@]} -eq 0 ] || end_processes "${started[@]}"; }

json() { python3 -c 'import json,sys; r = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$1" "${2:-out.json}"; }

@test "the recorder stalls for 1 s at 20/s: all 20 are sent meanwhile, no answer delays a send" {
  "${CC:-cc}" -O2 -o recorder "$top/tests/bench/recorder.c"
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  ./recorder -p "$port" -k -D 3000:1000 -o arrivals 2>recorder.json 3>&- &
  recorder=$!
  started+=("$recorder")
  wait_until 10 bash -c "</dev/tcp/127.0.0.1/$port" 2>/dev/null
  # this host may be busy: the bound is wide, the shape is what counts
  "$build/headroom-load" "http://127.0.0.1:$port/" --rate 20/s --duration 8s --lateness-bound 1s -o json >out.json
  end_processes "$recorder"
  [ "$(json 'r["planned"], r["ok"], r["blocked"], r["valid"]')" = "(160, 160, 0, True)" ]
  [ "$(json 'r["p99_ms"] > 700 and r["max_ms"] > 850 and r["p50_ms"] < 300')" = True ]
  # the kernel stamped the arrivals while the recorder slept
  python3 - <<'END'
times = sorted(int(line.split()[0]) for line in open("arrivals"))
first = times[0]
meanwhile = sum(first + 3_000_000_000 < t <= first + 4_000_000_000 for t in times)
assert 18 <= meanwhile <= 22, meanwhile
END
}

@test "the probe is stopped for 1 s: the open loop shows it in p99, the closed loop hides it" {
  "$build/headroom-probe" --listen 127.0.0.1:0 --rounds 10 --workers 2 >probe.out 2>probe.err 3>&- &
  probe=$!
  started+=("$probe")
  wait_until 10 grep -q '"port"' probe.out
  url=http://127.0.0.1:$(sed -n 's/.*"port": *\([0-9]*\).*/\1/p' probe.out | head -1)/work
  "$build/headroom-load" "$url" --rate 20/s --duration 8s --lateness-bound 1s -o json >open.json 3>&- &
  open=$!
  "$build/headroom-load" "$url" --pattern closed --threads 1 --duration 8s -o json >closed.json 3>&- &
  closed=$!
  sleep 3
  kill -STOP "$probe"
  sleep 1
  kill -CONT "$probe"
  wait "$open"
  wait "$closed"
  [ "$(json 'r["ok"] == r["planned"] and r["p99_ms"] > 700 and r["max_ms"] > 850' open.json)" = True ]
  [ "$(json 'r["failed"] == 0 and r["p99_ms"] < 500 and r["max_ms"] > 850' closed.json)" = True ]
}
