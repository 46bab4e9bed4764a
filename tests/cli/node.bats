#!/usr/bin/env bats
# The node mode on made trees: every layout, names, pods that come and go, what it costs.
# tests/run: limit 180

load ../lib/common

teardown() {
  [ -z "${pid-}" ] || end_processes "$pid"
}

# tree N DRIVER: makes the files of a node
tree() {
  node=$BATS_TEST_TMPDIR/node
  "$top/scripts/make-node-tree" --containers "$1" --driver "$2" "$node"
}

# watch [OPTION...]: starts it on a free port and waits until it answers
watch() {
  need headroom-sidecar
  "$build/headroom-sidecar" --root "$node" --host-cgroup /host/sys/fs/cgroup --node --listen 127.0.0.1:0 --output json \
    --pod-logs /host/var/log/pods --container-logs /host/var/log/containers "$@" >"$BATS_TEST_TMPDIR/log" 3>&- &
  pid=$!
  wait_until 10 grep -q http_port "$BATS_TEST_TMPDIR/log"
  url=http://127.0.0.1:$(jq -r 'select(.event == "started").http_port' "$BATS_TEST_TMPDIR/log")
}

scrape() { curl -sf "$url/metrics" >"$BATS_TEST_TMPDIR/metrics"; }

# readable WORDS: how many watches there are with these words in their labels
readable() {
  scrape
  grep -c "^headroom_container_readable{.*$1" "$BATS_TEST_TMPDIR/metrics" || true
}
has() { [ "$(readable "$1")" = "$2" ]; }

for_driver() {
  tree 50 "$1"
  watch --interval 100ms
  # 50 containers of 25 pods; the 25 sandboxes are left out
  wait_until 10 has '} 1' 75
  has 'scope="pod"' 25
  has 'namespace="ns-3",pod="app-10-x7k2p",container="c1"} 1' 1
  grep -q '^headroom_container_cpu_cfs_periods_total{namespace="ns-3",pod="app-10-x7k2p",container="c1"} 1021$' \
    "$BATS_TEST_TMPDIR/metrics"
  # no name is missing
  run grep -c 'pod=""\|container=""' "$BATS_TEST_TMPDIR/metrics"
  [ "$output" = 0 ]
}

@test "node, systemd driver: 50 containers with their names and figures" { for_driver systemd; }
@test "node, cgroupfs driver" { for_driver cgroupfs; }
@test "node, kind" { for_driver kind; }

@test "node: pods come and go" {
  tree 10 systemd
  watch --interval 100ms
  wait_until 10 has '} 1' 15
  mkdir "$BATS_TEST_TMPDIR/more"
  # the same ten and ten more
  "$top/scripts/make-node-tree" --containers 20 "$BATS_TEST_TMPDIR/more/node"
  cp -r --update=none "$BATS_TEST_TMPDIR/more/node/." "$node/" 2>/dev/null || cp -rn "$BATS_TEST_TMPDIR/more/node/." "$node/"
  wait_until 15 has '} 1' 30
  find "$node/host/sys/fs/cgroup" -name '*-pod*.slice' | sort | head -4 | xargs rm -r
  wait_until 15 has '} 1' 18
  [ "$(jq -s 'map(select(.event == "target_lost" and .scope == "container")) | length' "$BATS_TEST_TMPDIR/log")" -eq 8 ]
  jq -se 'map(select(.event == "target_lost"))[0] | .pod and .namespace and .pod_uid' "$BATS_TEST_TMPDIR/log"
}

@test "node: a strict parser takes the page, every series once" {
  tree 20 systemd
  watch --interval 1s
  wait_until 10 has '} 1' 30
  [ -z "$(grep -v '^#' "$BATS_TEST_TMPDIR/metrics" | sed 's/ [^ ]*$//' | sort | uniq -d)" ]
  # samples a second apart know nothing of single periods
  run grep -c 'period_demand\|periods_exhausted' "$BATS_TEST_TMPDIR/metrics"
  [ "$output" = 0 ]
}

@test "node: without the folders of logs the ids and uids stand for the names" {
  tree 4 systemd
  need headroom-sidecar
  "$build/headroom-sidecar" --root "$node" --host-cgroup /host/sys/fs/cgroup --node --listen 127.0.0.1:0 --output json \
    >"$BATS_TEST_TMPDIR/log" 3>&- &
  pid=$!
  wait_until 10 grep -q http_port "$BATS_TEST_TMPDIR/log"
  url=http://127.0.0.1:$(jq -r 'select(.event == "started").http_port' "$BATS_TEST_TMPDIR/log")
  # 2 pods, 4 containers, 2 sandboxes
  wait_until 10 has '} 1' 8
  has 'pod="[0-9a-f-]\{36\}",container="[0-9a-f]\{12\}"' 6
}

@test "node: 500 containers at 1 s cost at most 1% of a core, and less than 64 MB" {
  tree 500 systemd
  watch --interval 1s --log-every 1h
  wait_until 20 has '} 1' 750
  local from to percent=1 kb=65536
  # sanitizers are not what is measured
  if [[ $build == */san || $build == */coverage ]]; then percent=20 kb=1000000; fi
  scrape
  from=$(awk '$1 == "process_cpu_seconds_total" { print $2 }' "$BATS_TEST_TMPDIR/metrics")
  # beginning right after an answer, which is not what is measured here
  sleep 20
  to=$(awk '{ print ($14 + $15) / '"$(getconf CLK_TCK)"' }' "/proc/$pid/stat")
  awk -v from="$from" -v to="$to" -v most="$percent" 'BEGIN {
    used = (to - from) * 100 / 20; printf "%.2f%% of a core\n", used; exit used > most }'
  awk -v most="$kb" '$1 == "VmRSS:" { print; exit $2 > most }' "/proc/$pid/status"
}

@test "node: options that do not go together" {
  need headroom-sidecar
  run "$build/headroom-sidecar" --node
  [ "$status" -eq 2 ]
  [[ $output == *"--node needs --host-cgroup"* ]]
  run "$build/headroom-sidecar" --node --host-cgroup /x --pod-uid 1
  [ "$status" -eq 2 ]
  run "$build/headroom-sidecar" --host-cgroup /x --pod-uid 1 --pod-logs /y
  [ "$status" -eq 2 ]
  run "$build/headroom-sidecar" --once --node --host-cgroup /x
  [ "$status" -eq 2 ]
  [[ $output == *"--once looks at one target"* ]]
}
