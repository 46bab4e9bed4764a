#!/usr/bin/env bats
# headroom-sidecar as it is watched and asked: log lines, HTTP, options, its end. Needs no quota: it watches its own cgroup.
# tests/run: limit 300

setup() {
  load ../lib/common
  need headroom-sidecar
  sidecar=$build/headroom-sidecar
  log=$BATS_TEST_TMPDIR/log
  unset "${!HEADROOM_@}"
  started=()
}

teardown() {
  [ ${#started[@]} = 0 ] || end_processes "${started[@]}"
}

# watch OPTIONS...: starts it with a log in $log; $url when it listens
watch() {
  : >"$log"
  "$sidecar" -o json --listen 127.0.0.1:0 "$@" >"$log" 2>"$log.errors" 3>&- &
  pid=$!
  started+=("$pid")
  wait_until 10 has_found || { cat "$log" "$log.errors"; return 1; }
  url=http://127.0.0.1:$(events started | jq .http_port)
}
has_found() { grep -q -e '"target_found"' -e '"unreadable"' "$log"; }

# events EVENT: its lines
events() { jq -c "select(.event == \"$1\")" "$log"; }

# end SIGNAL: the exit status of the sidecar
end() {
  local status=0
  kill -"$1" "$pid"
  wait "$pid" || status=$?
  gone "$pid"
  started=()
  return $status
}

get() { curl -sS -m 20 "$@"; }
status_of() { curl -sS -m 20 -o "$BATS_TEST_TMPDIR/body" -w '%{http_code}' "$@"; }

# ---- log lines ---------------------------------------------------------------------------------------------------------

@test "the first lines say by which way, which level, and what limits it" {
  watch
  [ "$(head -n 1 "$log" | jq -r .event)" = started ]
  events started | jq -e '.way == "own cgroup" and .level == "info" and .interval_ms == 10 and (.version | length) > 0'
  events target_found | jq -e '.scope == "container" and has("quota_cpus") and .nproc >= 1 and .effective_cpus > 0'
  jq -e '(.time | test("^[0-9-]{10}T[0-9:]{8}\\.[0-9]{3}Z$")) and (.level | IN("info", "warn", "error")) and (.msg | length) > 0' "$log"
  [ ! -s "$log.errors" ]
}

@test "a summary every --log-every, figures as numbers, none dropped" {
  watch --log-every 500ms
  wait_until 10 enough_summaries
  events summary | head -n 1 | jq -e '.verdict != null and .verdict_sentence != null and (.duration_s | . > 0.3 and . < 2)
    and (.cpu_cores_mean | type) == "number" and .lines_dropped == 0 and .samples > 10'
  end TERM
}
enough_summaries() { [ "$(events summary | wc -l)" -ge 3 ]; }

@test "SIGTERM and SIGINT: a last summary, stopped, status 0" {
  for signal in TERM INT; do
    watch
    end $signal
    [ "$(tail -n 2 "$log" | jq -r .event | tr '\n' ' ')" = "summary stopped " ]
    events stopped | jq -e '.samples >= 0 and .lines_dropped == 0 and .cpu_us_per_sample != 0'
  done
}

@test "--log-keys: the names of each collector" {
  for keys in gcp ecs default; do
    watch --log-keys "$keys"
    end TERM
    case $keys in
      gcp) jq -e '.time and .severity == "INFO" and .message and .event and (has("level") or has("msg") | not)' "$log" ;;
      ecs) jq -e '."@timestamp" and ."log.level" == "info" and .message and .event and (has("time") or has("msg") | not)' "$log" ;;
      default) jq -e '.time and .level == "info" and .msg and .event' "$log" ;;
    esac
  done
}

@test "-o text: a time, a level, a sentence" {
  "$sidecar" -o text >"$log" 2>"$log.errors" 3>&- &
  pid=$!
  started+=("$pid")
  wait_until 10 grep -q found "$log"
  end TERM
  [ "$(grep -vcE '^[0-9-]{10}T[0-9:.]{12}Z (info |warn |error) .+' "$log")" = 0 ]
}

# ---- stdout that does not take lines --------------------------------------------------------------------------------------

# ticks: samples taken and missed, and what they should be, from /metrics
ticks_fit() {
  local before after started_at seconds
  started_at=$EPOCHREALTIME
  before=$(counted)
  sleep "$1"
  after=$(counted)
  seconds=$(bc_us "$started_at")
  echo "$((after - before)) ticks in $seconds us"
  # 10 ms each; the two readings are not exactly at the ends
  [ $((after - before)) -ge $((seconds / 10000 * 8 / 10 - 10)) ]
  [ $((after - before)) -le $((seconds / 10000 * 12 / 10 + 10)) ]
}
counted() { get "$url/metrics" | awk '/^headroom_sidecar_(samples|missed_ticks)_total/ { n += $2 } END { print n }'; }
bc_us() { echo $((${EPOCHREALTIME/./} - ${1/./})); }
metric() { get "$url/metrics" | awk -v m="$1" '$1 == m { print $2 }'; }

# free_port: one that nobody uses now
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# watch_into REDIRECTED: for a stdout that cannot be read back: a port chosen beforehand
watch_port() {
  port=$(free_port)
  url=http://127.0.0.1:$port
}
answers() { get -f "$url/livez" >/dev/null 2>&1; }

@test "closed stdout: sampling goes on, lines are counted as dropped" {
  watch_port
  "$sidecar" -o json --listen "127.0.0.1:$port" --log-every 100ms 3>&- | head -n 1 >"$log" &
  wait_until 10 answers
  pid=$(pgrep -n -f -- "--listen 127.0.0.1:$port")
  wait_until 10 dropped_some
  ticks_fit 1
  kill -TERM "$pid"
  wait_until 10 no_process "$pid"
  [ "$(wc -l <"$log")" = 1 ]
}
dropped_some() { [ "$(metric headroom_sidecar_log_lines_dropped_total)" -gt 2 ]; }

@test "a fifo that nobody reads: sampling goes on, lines are counted as dropped, whole lines are written" {
  watch_port
  mkfifo "$BATS_TEST_TMPDIR/fifo"
  exec 5<>"$BATS_TEST_TMPDIR/fifo"
  "$sidecar" -o json --listen "127.0.0.1:$port" --log-every 100ms --interval 1ms >&5 5>&- 3>&- &
  pid=$!
  started+=("$pid")
  wait_until 10 answers
  wait_until 60 dropped_some
  samples=$(metric headroom_sidecar_samples_total)
  sleep 0.5
  [ "$(metric headroom_sidecar_samples_total)" -gt $((samples + 50)) ]
  end TERM
  timeout 1 cat <&5 >"$log" || true
  exec 5>&-
  [ "$(wc -l <"$log")" -gt 10 ]
  jq -e .event "$log" >/dev/null
}

@test "/dev/full: sampling goes on, lines are counted as dropped, status 0" {
  watch_port
  "$sidecar" -o json --listen "127.0.0.1:$port" --log-every 100ms >/dev/full 3>&- &
  pid=$!
  started+=("$pid")
  wait_until 10 answers
  wait_until 10 dropped_some
  ticks_fit 1
  end TERM
}

@test "stdout closed from the beginning" {
  watch_port
  "$sidecar" -o json --listen "127.0.0.1:$port" --log-every 100ms >&- 3>&- &
  pid=$!
  started+=("$pid")
  wait_until 10 answers
  wait_until 10 dropped_some
  end TERM
}

# ---- HTTP -------------------------------------------------------------------------------------------------------------

@test "/healthz, /livez: small texts" {
  watch
  [ "$(status_of "$url/healthz")" = 200 ]
  [ "$(status_of "$url/livez")" = 200 ]
  [ "$(cat "$BATS_TEST_TMPDIR/body")" = ok ]
}

@test "nothing else is there, however it is spelt" {
  watch
  for path in / /metric /metrics/ /metrics/../report /../etc/passwd /%2e%2e/etc/passwd //metrics /report/x '/%00' /METRICS; do
    [ "$(status_of --path-as-is "$url$path")" = 404 ] || { echo "$path"; cat "$BATS_TEST_TMPDIR/body"; false; }
  done
  ! grep -q root: "$BATS_TEST_TMPDIR/body"
}

@test "HEAD is GET without a body; other methods are refused" {
  watch
  for path in /metrics /report /livez; do
    get -I "$url$path" >"$BATS_TEST_TMPDIR/head"
    head -n 1 "$BATS_TEST_TMPDIR/head" | grep -q ' 200 '
    grep -qi '^content-length: [1-9]' "$BATS_TEST_TMPDIR/head"
    [ "$(grep -c . <(tr -d '\r' <"$BATS_TEST_TMPDIR/head" | sed '1,/^$/d'))" = 0 ]
  done
  for method in POST PUT DELETE PATCH OPTIONS TRACE; do
    [ "$(status_of -X $method "$url/metrics")" = 405 ]
  done
  [ "$(status_of --data-binary @"$sidecar" "$url/metrics")" = 405 ]
  get -D - -o /dev/null -X POST "$url/report" | grep -qi '^allow: GET, HEAD'
}

@test "/report: a token, a window since it, 410 for one that is not known" {
  watch
  token=$(get "$url/report" | jq -r .token)
  sleep 0.5
  get "$url/report?since=$token" >"$BATS_TEST_TMPDIR/report"
  jq -e '.schema_version == 1 and (.token | length) > 0 and .way == "own cgroup"
    and (.containers | length) == 1 and .containers[0].readable and .containers[0].error == null
    and (.containers[0].window.duration_s | . > 0.3 and . < 5)
    and .containers[0].since_start.duration_s > .containers[0].window.duration_s
    and (.containers[0].window.verdict | length) > 0 and (.containers[0].window.evidence | length) > 2
    and .containers[0].cpu_stat.usage_usec >= .containers[0].window.usage_usec' "$BATS_TEST_TMPDIR/report"
  for unknown in x 1 '' "${token}0" "${token%-*}-999" "${token#?}" 'a%00b' "$(printf 'x%.0s' {1..3000})"; do
    [ "$(status_of "$url/report?since=$unknown")" = 410 ] || { echo "$unknown"; false; }
  done
  # the same token serves many times, until eight newer ones were given
  for _ in 1 2 3; do [ "$(status_of "$url/report?since=$token")" = 200 ]; done
  for _ in 1 2 3 4 5 6 7 8; do get "$url/report" >/dev/null; done
  [ "$(status_of "$url/report?since=$token")" = 410 ]
}

@test "a window has the other witnesses, also one since the start" {
  watch
  sleep 1.5
  get "$url/report" | jq -e '.containers[0].since_start.evidence | map(.name)
    | index("idle_share_of_node") != null and index("steal_share_of_node") != null'
}

@test "two formats by the Accept header, each with its Content-Type" {
  watch
  get -D - -o "$BATS_TEST_TMPDIR/text" "$url/metrics" | grep -qi '^content-type: text/plain; version=0.0.4; charset=utf-8'
  get -D - -o "$BATS_TEST_TMPDIR/open" -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5' "$url/metrics" |
    grep -qi '^content-type: application/openmetrics-text; version=1.0.0; charset=utf-8'
  [ "$(tail -n 1 "$BATS_TEST_TMPDIR/open")" = '# EOF' ]
  ! grep -q '# EOF' "$BATS_TEST_TMPDIR/text"
}

# slow and hostile clients, in Python: $1 = port, $2 = what to do; ends when its stdin does
client() {
  cat <<'PYTHON'
import socket, sys, time
port, what = int(sys.argv[1]), sys.argv[2]
def connect():
    s = socket.socket()
    s.settimeout(5)
    try:
        s.connect(("127.0.0.1", port))
        return s
    except OSError:
        return None
if what == "slow":          # one header byte at a time, on many connections
    conns = [c for c in (connect() for _ in range(40)) if c]
    for byte in b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ":
        for c in conns:
            try:
                c.send(bytes([byte]))
            except OSError:
                pass
        time.sleep(0.05)
elif what == "many":        # 200 connections that say nothing
    conns = [connect() for _ in range(200)]
    time.sleep(2)
elif what == "deaf":        # asks for a page again and again and never reads an answer
    conns = [c for c in (connect() for _ in range(10)) if c]
    for c in conns:
        c.settimeout(0.05)
    for _ in range(300):
        for c in conns:
            try:
                c.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            except OSError:
                pass
elif what == "garbage":
    import os
    for _ in range(50):
        c = connect()
        if c:
            try:
                c.send(os.urandom(5000))
                c.close()
            except OSError:
                pass
    c = connect()
    try:
        c.send(b"GET /" + b"x" * 100000)
    except OSError:
        pass
PYTHON
}

@test "slow, silent, deaf and mad clients do not stop the sampling, and leave room afterwards" {
  watch
  client >"$BATS_TEST_TMPDIR/client.py"
  for what in slow many deaf garbage; do
    before=$(metric_sum)
    from=$EPOCHREALTIME
    python3 "$BATS_TEST_TMPDIR/client.py" "${url##*:}" $what
    us=$(bc_us "$from")
    wait_until 25 answers
    total=$(bc_us "$from")
    after=$(metric_sum)
    echo "$what: $((after - before)) ticks in $us to $total us"
    [ $((after - before)) -ge $((us / 10000 * 8 / 10 - 10)) ]
    [ $((after - before)) -le $((total / 10000 * 12 / 10 + 100)) ]
  done
  kill -0 "$pid"
  [ "$(find /proc/"$pid"/fd -lname 'socket:*' | wc -l)" -le 40 ]
}
metric_sum() { wait_until 25 answers; counted; }

# ---- wrong use --------------------------------------------------------------------------------------------------------

# refused STATUS OPTIONS...: one sentence on stderr, nothing on stdout
refused() {
  local wanted=$1 status=0
  shift
  timeout 5 "$sidecar" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || status=$?
  [ $status = "$wanted" ] || { echo "status $status of: $*"; cat "$BATS_TEST_TMPDIR/err"; return 1; }
  [ ! -s "$BATS_TEST_TMPDIR/out" ] || { echo "prints something: $*"; cat "$BATS_TEST_TMPDIR/out"; return 1; }
  [ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -ge 1 ] && [ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -le 2 ] || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
  grep -q '^headroom-sidecar: ' "$BATS_TEST_TMPDIR/err"
}

@test "invalid options: status 2 and a sentence" {
  refused 2 --no-such-option
  refused 2 --interval
  refused 2 --interval 0
  refused 2 --interval 10
  refused 2 --interval -5ms
  refused 2 --interval 10parsec
  refused 2 --log-every 1ms
  refused 2 --event-window 1ms
  refused 2 --log-keys splunk
  refused 2 -o xml
  refused 2 --pid 1 --cgroup /x
  refused 2 --pod-uid 12345678-1234-1234-1234-123456789abc
  refused 2 --container-id abc
  refused 2 --pid x
  refused 2 word
  refused 2 exec
  refused 2 install
  refused 2 install a b
}

@test "--listen: a port in use, and what is no address: status 1 or 2, and a sentence" {
  watch
  refused 1 --listen "127.0.0.1:${url##*:}"
  grep -q "${url##*:}" "$BATS_TEST_TMPDIR/err"
  for address in nonsense 127.0.0.1 127.0.0.1:99999 127.0.0.1:x example.invalid:9464 999.1.1.1:80; do
    status=0
    timeout 5 "$sidecar" --listen "$address" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
    [[ $status = [12] ]] || { echo "status $status of --listen $address"; false; }
    grep -q '^headroom-sidecar: .*listen' "$BATS_TEST_TMPDIR/err"
  done
}

@test "without --listen there is no port" {
  "$sidecar" -o json >"$log" 3>&- &
  pid=$!
  started+=("$pid")
  wait_until 10 has_found
  events started | jq -e 'has("http_port") | not'
  [ -z "$(find /proc/"$pid"/fd -lname 'socket:*')" ]
}

# ---- a target that is not there -----------------------------------------------------------------------------------------

@test "a cgroup that is not there (yet): unreadable, said once, and it goes on looking" {
  watch --cgroup /headroom-no-such-cgroup
  [ "$(status_of "$url/healthz")" = 503 ]
  [ "$(status_of "$url/livez")" = 200 ]
  [ "$(metric 'headroom_container_readable{container="/headroom-no-such-cgroup"}')" = 0 ]
  get "$url/report" | jq -e '.containers[0].readable == false and (.containers[0].error | length) > 0'
  sleep 2
  events unreadable | jq -e '.level == "error" and (.msg | length) > 10'
  [ "$(events unreadable | wc -l)" = 1 ]
  end TERM
  events summary | jq -e '.verdict == "unreadable"'
}

@test "a pid that is not there: unreadable" {
  watch --pid 4194304
  events unreadable | jq -e '.msg | test("4194304")'
}

# ---- the rest of the command line --------------------------------------------------------------------------------------

@test "every option as an environment variable" {
  HEADROOM_LOG_EVERY=200ms HEADROOM_LOG_KEYS=gcp watch
  wait_until 10 grep -q '"summary"' "$log"
  jq -e .severity "$log"
}

@test "--once -o text: for people" {
  run "$sidecar" --once -o text
  [ "$status" = 0 ]
  [ "${#lines[@]}" -ge 4 ]
  [[ $output != *'"'*:* ]]
  [[ $output == *CPU* ]]
}

@test "install DIR: an executable copy that runs" {
  mkdir "$BATS_TEST_TMPDIR/volume"
  "$sidecar" install "$BATS_TEST_TMPDIR/volume"
  cmp "$sidecar" "$BATS_TEST_TMPDIR/volume/headroom-sidecar"
  "$BATS_TEST_TMPDIR/volume/headroom-sidecar" --version
  [ "$(find "$BATS_TEST_TMPDIR/volume" -type f | wc -l)" = 1 ]
  refused 1 install "$BATS_TEST_TMPDIR/no-such-folder"
}
