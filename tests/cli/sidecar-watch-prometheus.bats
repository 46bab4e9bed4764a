#!/usr/bin/env bats
# /metrics as Prometheus sees it: a real scrape, promtool, and the strict parser of python3-prometheus-client.
# Debian packages: prometheus, python3-prometheus-client. Without them these tests are skipped.
# tests/run: limit 180

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

installed() { command -v "$1" >/dev/null || skip "$1 is not installed (apt-get install $2)"; }

watch() {
  : >"$log"
  "$sidecar" -o json --listen 127.0.0.1:0 "$@" >"$log" 2>"$log.errors" 3>&- &
  pid=$!
  started+=("$pid")
  wait_until 10 grep -q -e '"target_found"' -e '"unreadable"' "$log"
  address=127.0.0.1:$(jq -r 'select(.event == "started") | .http_port' "$log")
}

fetch() { curl -sS -m 20 -H "Accept: $1" "http://$address/metrics"; }

@test "promtool check metrics has nothing to say" {
  installed promtool prometheus
  watch
  sleep 1.2
  fetch text/plain >"$BATS_TEST_TMPDIR/metrics"
  run promtool check metrics <"$BATS_TEST_TMPDIR/metrics"
  echo "$output"
  [ "$status" = 0 ]
  [ -z "$output" ]
}

# strict FORMAT-MODULE: family names and samples, as the parser gives them
strict() {
  "$python" - "$BATS_TEST_TMPDIR/open" <<'PYTHON'
import math, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
text = open(sys.argv[1], encoding="utf-8", newline="").read()
families = list(text_string_to_metric_families(text))
names = [f.name for f in families]
assert len(names) == len(set(names)), names
for f in families:
    assert f.documentation, f.name
    assert f.name.startswith(("headroom_", "process_")), f.name
    if f.type == "counter":
        assert not f.name.endswith("_total"), f.name
        assert all(s.value >= 0 for s in f.samples), f.name
    if f.unit:
        assert f.name.endswith("_" + f.unit), f.name
    for word in ("seconds", "bytes", "cores"):
        if f.name.endswith("_" + word):
            assert f.unit == word, (f.name, f.unit)
    for s in f.samples:
        assert s.timestamp is None, f.name
        assert not math.isnan(s.value), f.name
        if f.name.startswith("headroom_container_"):
            assert s.labels["container"], f.name
histograms = [f for f in families if f.type == "histogram"]
assert histograms, "no histogram"
print("%d families, %d samples" % (len(families), sum(len(f.samples) for f in families)))
for name in ("headroom_container_cpu_usage_seconds", "headroom_container_readable", "headroom_build_info",
             "headroom_container_nproc", "headroom_sidecar_samples", "process_cpu_seconds"):
    assert name in names, name
PYTHON
}

# The interpreter that Debian's packages belong to may not be the first on PATH.
find_parser() {
  for python in python3 /usr/bin/python3; do
    ! "$python" -c 'import prometheus_client.openmetrics.parser' 2>/dev/null || return 0
  done
  skip "prometheus_client is not installed (apt-get install python3-prometheus-client)"
}

@test "the strict OpenMetrics parser accepts the page" {
  find_parser
  watch
  sleep 1.2
  fetch 'application/openmetrics-text; version=1.0.0' >"$BATS_TEST_TMPDIR/open"
  strict
}

@test "also of a container that cannot be read" {
  installed promtool prometheus
  find_parser
  watch --cgroup /headroom-no-such-cgroup
  fetch 'application/openmetrics-text' >"$BATS_TEST_TMPDIR/open"
  fetch text/plain | promtool check metrics
  "$python" -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
values = {s.name: s.value for f in parse(open(sys.argv[1]).read()) for s in f.samples}
assert values["headroom_container_readable"] == 0' "$BATS_TEST_TMPDIR/open"
}

@test "le is spelt the same in both formats" {
  watch
  diff <(fetch text/plain | grep -o 'le="[^"]*"' | sort -u) \
    <(fetch 'application/openmetrics-text' | grep -o 'le="[^"]*"' | sort -u)
}

# query EXPRESSION: the values that Prometheus has for it
query() {
  curl -sS -m 10 -G "http://127.0.0.1:$prometheus_port/api/v1/query" --data-urlencode "query=$1" |
    jq -r '.data.result[].value[1]'
}
is_up() { [ "$(query 'up{job="headroom"}')" = 1 ]; }
has_grown() { awk -v v="$(query 'increase(headroom_sidecar_samples_total[1m])')" 'BEGIN { exit !(v > 20) }'; }

# scraped: a Prometheus that scrapes the sidecar twice a second
scraped() {
  prometheus_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  {
    printf '%s\n' 'global: {scrape_interval: 500ms, scrape_timeout: 500ms}' 'scrape_configs:' '- job_name: headroom' \
      "  static_configs: [{targets: ['$address']}]"
  } >"$BATS_TEST_TMPDIR/prometheus.yml"
  prometheus --config.file="$BATS_TEST_TMPDIR/prometheus.yml" --storage.tsdb.path="$BATS_TEST_TMPDIR/data" \
    --web.listen-address="127.0.0.1:$prometheus_port" >"$BATS_TEST_TMPDIR/prometheus.log" 2>&1 3>&- &
  started+=($!)
  wait_until 60 is_up || { tail -n 20 "$BATS_TEST_TMPDIR/prometheus.log"; return 1; }
}

@test "a Prometheus scrapes it: up, a counter grows, the labels are right" {
  installed prometheus prometheus
  watch
  scraped
  wait_until 30 has_grown
  [ "$(query 'headroom_container_readable{container="self"}')" = 1 ]
  [ "$(query 'count({__name__=~"headroom_.*"})')" -ge 20 ]
  [ "$(query 'count(headroom_container_cpu_period_demand_cores_bucket)')" = 14 ]
  [ "$(query 'count by (container) (headroom_container_cpu_usage_seconds_total)')" = 1 ]
  # no scrape failed, no sample was out of order
  ! grep -iE 'level=(warn|error)' "$BATS_TEST_TMPDIR/prometheus.log" || false
  curl -sS "http://127.0.0.1:$prometheus_port/api/v1/targets" |
    jq -e '.data.activeTargets | length == 1 and .[0].health == "up" and .[0].lastError == ""'
}
