#!/usr/bin/env bats
# The watching sidecar on real cgroups: limits that change, cgroups that go and come back, warnings that open and are
# resolved, counters that are the kernel's to the unit. v2, or v1 with the v2 tree beside it.
# tests/run: limit 300

setup() {
  load ../lib/common
  load ../lib/cgroups
  need headroom-sidecar
  sidecar=$build/headroom-sidecar
  log=$BATS_TEST_TMPDIR/log
  unset "${!HEADROOM_@}"
  started=()
  made=()
  find_hierarchies
  name=headroom-watch-test-$BASHPID
}

teardown() {
  [ ${#started[@]} = 0 ] || end_processes "${started[@]}"
  local i
  for ((i = ${#made[@]} - 1; i >= 0; i--)); do unmake "${made[i]}"; done
}

# quota_only CGROUP QUOTA_US: one write, so that nobody sees a state in between
quota_only() {
  if is_v1; then echo "$2" >"$cpu_root/$1/cpu.cfs_quota_us"; else echo "$2" >"$cpu_root/$1/cpu.max"; fi
}

# burn CGROUP: a busy loop there; its pid in $burner
burn() {
  bash -c 'for root in "${@:2}"; do echo $$ >"$root/$1/cgroup.procs"; done; while :; do :; done' - "$1" "${roots[@]}" 3>&- &
  burner=$!
  started+=("$burner")
}
# rest: ends it
rest() { end_processes "$burner"; forget "$burner"; }
forget() { local p left=(); for p in "${started[@]}"; do [ "$p" = "$1" ] || left+=("$p"); done; started=("${left[@]}"); }

watch() {
  : >"$log"
  "$sidecar" -o json --listen 127.0.0.1:0 "$@" >"$log" 2>"$log.errors" 3>&- &
  pid=$!
  started+=("$pid")
  wait_until 10 said target_found unreadable || { cat "$log" "$log.errors"; return 1; }
  url=http://127.0.0.1:$(events started | jq .http_port)
}
said() { local e; for e; do ! grep -q "\"event\": \"$e\"" "$log" || return 0; done; return 1; }
events() { jq -c "select(.event == \"$1\")" "$log"; }
count() { events "$1" | wc -l; }
at_least() { [ "$(count "$1")" -ge "$2" ]; }
state_is() { events "$1" | tail -n 1 | jq -e ".state == \"$2\"" >/dev/null; }
get() { curl -sS -m 20 "$@"; }
metric() { get "$url/metrics" | awk -v m="$1{" 'index($0, m) == 1 { print $NF }'; }
end() {
  local status=0
  kill -TERM "$pid"
  wait "$pid" || status=$?
  gone "$pid"
  forget "$pid"
  return $status
}

# ---- limits -------------------------------------------------------------------------------------------------------------

@test "limit changed while running: an event with before and after, and the mismatch again" {
  make_cgroup "$name"
  limit "$name" 25000
  watch --cgroup "/$name"
  events target_found | jq -e '.quota_cpus == 0.25 and .quota_usec == 25000 and .period_usec == 100000 and .quota_status == "limited"'
  events nproc_quota_mismatch | jq -e '.quota_cpus == 0.25 and .effective_cpus == 0.25 and .nproc >= 1 and .level == "warn"'
  quota_only "$name" 50000
  wait_until 5 said limit_changed
  events limit_changed | jq -e '.before_quota_cpus == 0.25 and .quota_cpus == 0.5 and .quota_usec == 50000 and .level == "info"'
  wait_until 5 at_least nproc_quota_mismatch 2
  get "$url/report" | jq -e '.containers[0].quota_cpus == 0.5'
  limit "$name" none
  wait_until 5 at_least limit_changed 2
  events limit_changed | tail -n 1 | jq -e '.before_quota_cpus == 0.5 and .quota_cpus == null and .quota_status == "unlimited"'
  sleep 0.5
  [ "$(count limit_changed)" = 2 ]
  [ -z "$(metric headroom_container_cpu_limit_cores)" ]
}

@test "a quota and a period of the same ratio are the same limit" {
  make_cgroup "$name"
  limit "$name" 25000 100000
  watch --cgroup "/$name"
  if is_v1; then
    # the period first: for a moment the ratio is another one, which may be seen or not
    not_on_this_host "v1 cannot change quota and period at once"
  fi
  echo "50000 200000" >"$cpu_root/$name/cpu.max"
  sleep 1.5
  [ "$(count limit_changed)" = 0 ]
  get "$url/report" | jq -e '.containers[0].quota_usec == 50000 and .containers[0].quota_cpus == 0.25'
}

@test "a limit that is set on a cgroup above is seen, and its end as well" {
  make_cgroup "$name"
  make_cgroup "$name/app"
  if ! is_v1; then echo +cpu >"$cpu_root/$name/cgroup.subtree_control"; fi
  watch --cgroup "/$name/app"
  limit "$name" 30000
  wait_until 5 said limit_changed
  events limit_changed | jq -e --arg n "/$name" '.before_quota_cpus == null and .quota_cpus == 0.3 and .binding_cgroup == $n'
  limit "$name" none
  wait_until 5 at_least limit_changed 2
}

# ---- gone and back ---------------------------------------------------------------------------------------------------------

@test "a cgroup that is removed and made again: lost, restarted, and no wrong difference" {
  make_cgroup "$name"
  limit "$name" 30000
  watch --cgroup "/$name" --log-every 1s
  burn "$name"
  sleep 2
  token=$(get "$url/report" | jq -r .token)
  rest
  unmake "$name"
  wait_until 5 said target_lost
  events target_lost | jq -e '.level == "warn" and (.msg | length) > 10'
  [ "$(metric headroom_container_readable)" = 0 ]
  [ -z "$(metric headroom_container_cpu_usage_seconds_total)" ]
  get "$url/report" | jq -e '.containers[0].readable == false and (.containers[0].error | length) > 5'
  [ "$(curl -sS -o /dev/null -w '%{http_code}' "$url/healthz")" = 503 ]
  for root in "${roots[@]}"; do mkdir "$root/$name"; done
  wait_until 15 said restarted
  events restarted | jq -e '.restarts == 1 and .quota_status == "unlimited"'
  [ "$(count target_found)" = 1 ]
  [ "$(metric headroom_container_readable)" = 1 ]
  [ "$(metric headroom_container_cgroup_restarts_total)" = 1 ]
  # the old token has no window any more: no difference across the two
  get "$url/report?since=$token" >"$BATS_TEST_TMPDIR/body"
  grep -q 'not kept' "$BATS_TEST_TMPDIR/body"
  get "$url/report" | jq -e '.containers[0].restarts == 1 and .containers[0].since_start.usage_usec == 0
    and .containers[0].since_start.restarted == false'
  sleep 1.5
  end
  # no line of any kind shows more CPU time than there was
  [ "$(jq -c 'select(.usage_usec != null)' "$log" | wc -l)" -ge 2 ]
  [ "$(jq -c 'select(.usage_usec != null and (.usage_usec > 2500000 or .usage_usec < 0))' "$log" | wc -l)" = 0 ]
}

@test "--pid of a process that ends: its cgroup stays watched as long as it is there" {
  make_cgroup "$name"
  limit "$name" 30000
  burn "$name"
  burnt_in "$name"
  watch --pid "$burner" --log-every 500ms
  events target_found | jq -e '.quota_cpus == 0.3'
  rest
  sleep 1
  [ "$(count target_lost)" = 0 ]
  [ "$(metric headroom_container_readable)" = 1 ]
  unmake "$name"
  wait_until 5 said target_lost
  sleep 2
  kill -0 "$pid"
  end
}
burnt_in() { wait_until 5 grep -q . "$cpu_root/$1/cgroup.procs"; }

# ---- warnings ---------------------------------------------------------------------------------------------------------------

@test "throttled: opened, then resolved with its duration and totals; hysteresis keeps it from flapping" {
  make_cgroup "$name"
  limit "$name" 20000
  watch --cgroup "/$name" --event-window 500ms
  burn "$name"
  wait_until 15 said throttled
  events throttled | head -n 1 | jq -e '.state == "opened" and .level == "warn" and .throttled_share_of_periods >= 0.25
    and .nr_throttled >= 1 and (has("total_nr_throttled") | not)'
  sleep 2
  [ "$(count throttled)" = 1 ]
  rest
  wait_until 10 state_is throttled resolved
  events throttled | tail -n 1 | jq -e '.level == "info" and .open_for_s > 1 and .open_for_s < 30 and .suppressed >= 1
    and .total_nr_throttled > 5 and .total_throttled_usec > 100000'
  # what was counted is what the kernel counted from the window that opened it
  total=$(events throttled | tail -n 1 | jq .total_nr_throttled)
  kernel=$(awk '$1 == "nr_throttled" { print $2 }' "$cpu_root/$name/cpu.stat")
  [ "$total" -le "$kernel" ]
  [ "$total" -ge $((kernel - 6)) ]
  end
  [ "$(count throttled)" = 2 ]
}

@test "throttled by the limit of a parent: its own event; the limit taken away resolves it" {
  make_cgroup "$name"
  make_cgroup "$name/app"
  if ! is_v1; then echo +cpu >"$cpu_root/$name/cgroup.subtree_control"; fi
  limit "$name" 20000
  watch --cgroup "/$name/app" --event-window 500ms
  burn "$name/app"
  wait_until 15 said throttled_above
  events throttled_above | head -n 1 | jq -e '.state == "opened" and .throttled_share_of_periods_above >= 0.25 and .nr_throttled_above >= 1'
  limit "$name" none
  wait_until 10 state_is throttled_above resolved
  # the counters of a level without a limit are not read any more: no total rather than a wrong one
  events throttled_above | tail -n 1 | jq -e '.total_nr_throttled == null or .total_nr_throttled < 1000'
  end
  [ "$(count throttled)" = 0 ]
}

@test "--cgroup: nproc is what its processes may use, not what this program may" {
  [ "$(nproc)" -ge 2 ] || not_on_this_host "one CPU only"
  make_cgroup "$name"
  own=$("$sidecar" --once -o json --cgroup "/$name" | jq .nproc)
  [ "$own" -ge 2 ]
  burn "$name"
  wait_until 5 burnt_in "$name"
  taskset -c -p 0 "$burner" >/dev/null
  [ "$("$sidecar" --once -o json --cgroup "/$name" | jq .nproc)" = 1 ]
  watch --cgroup "/$name"
  [ "$(metric headroom_container_nproc)" = 1 ]
  rest
}

# ---- figures ----------------------------------------------------------------------------------------------------------------

@test "counters on /metrics and in /report are the kernel's, to the unit, after a run" {
  make_cgroup "$name"
  limit "$name" 30000
  watch --cgroup "/$name"
  burn "$name"
  sleep 1
  rest
  sleep 1.5
  stat=$cpu_root/$name/cpu.stat
  get "$url/metrics" >"$BATS_TEST_TMPDIR/metrics"
  get "$url/report" >"$BATS_TEST_TMPDIR/report"
  value() { awk -v m="headroom_container_$1{" 'index($1, m) == 1 { print $2 }' "$BATS_TEST_TMPDIR/metrics"; }
  kernel() { awk -v k="$1" '$1 == k { print $2 }' "$stat"; }
  [ "$(value cpu_cfs_periods_total)" = "$(kernel nr_periods)" ]
  [ "$(value cpu_cfs_throttled_periods_total)" = "$(kernel nr_throttled)" ]
  if is_v1; then
    throttled=$(($(kernel throttled_time) / 1000))
    usage=$(($(cat "$(usage_file)") / 1000))
  else
    throttled=$(kernel throttled_usec)
    usage=$(kernel usage_usec)
  fi
  [ "$throttled" -gt 0 ]
  awk -v a="$(value cpu_cfs_throttled_seconds_total)" -v b="$throttled" 'BEGIN { exit !(sprintf("%.0f", a * 1e6) == b) }'
  awk -v a="$(value cpu_usage_seconds_total)" -v b="$usage" 'BEGIN { exit !(sprintf("%.0f", a * 1e6) == b) }'
  psi=$(sed -n 's/^some.*total=//p' "$v2_root/$name/cpu.pressure")
  awk -v a="$(value pressure_cpu_waiting_seconds_total)" -v b="$psi" 'BEGIN { exit !(sprintf("%.0f", a * 1e6) == b) }'
  jq -e --argjson u "$usage" --argjson t "$throttled" --argjson n "$(kernel nr_throttled)" \
    '.containers[0].cpu_stat | .usage_usec == $u and .throttled_usec == $t and .nr_throttled == $n' "$BATS_TEST_TMPDIR/report"
  # the phase of the period timer, and periods whose budget ran out
  jq -e '.containers[0].demand | .phase_ms != null and .phase_width_ms <= 50 and .periods_exhausted >= 5
    and (.counts | add) == .demand_periods' "$BATS_TEST_TMPDIR/report"
}
usage_file() { find "${roots[@]/%//$name}" -maxdepth 1 -name cpuacct.usage | head -n 1; }

@test "samples and missed ticks together are the elapsed time, under its own load as well" {
  make_cgroup "$name"
  limit "$name" 30000
  watch --cgroup "/$name"
  burn "$name"
  ticks() { get "$url/metrics" | awk '/^headroom_sidecar_(samples|missed_ticks)_total/ { n += $2 } END { print n }'; }
  from=$EPOCHREALTIME
  before=$(ticks)
  sleep 3
  after=$(ticks)
  us=$((${EPOCHREALTIME/./} - ${from/./}))
  echo "$((after - before)) ticks in $us us"
  [ $((after - before)) -ge $((us / 10000 * 8 / 10)) ]
  [ $((after - before)) -le $((us / 10000 + 20)) ]
}
