#!/bin/sh
# vm: psi=1
# What happens while the sidecar watches, on pure cgroup v2: limits that change, PSI switched off, cgroups that go and come
# back, containers that it may not read. Each is an event with the right content, none a wrong difference.
cgroups=/sys/fs/cgroup
# shellcheck source=/dev/null
. /vm/tap.sh

command -v headroom-sidecar >/dev/null || { echo "1..0 # SKIP headroom-sidecar is not in the guest"; exit 0; }

url=http://127.0.0.1:9471
log=/tmp/log

# watch [NS_OPTION...] -- OPTION...: starts it, waits until it has found its target or said why not
watch() {
    ns_options=''
    while [ "$1" != -- ]; do ns_options="$ns_options $1" && shift; done
    shift
    rm -f $log
    # shellcheck disable=SC2086 # several words
    ns ${ns_options:---plain} headroom-sidecar --listen 127.0.0.1:9471 -o json "$@" >$log 2>&1 &
    sidecar=$!
    within 15 grep -q -e '"target_found"' -e '"unreadable"' $log || diag "the sidecar says: $(cat $log)"
}

# within SECONDS COMMAND...: until it succeeds
within() {
    tries=$(($1 * 10))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.1
    done
}

# stop: its status must be 0, and nothing of it be left
stop() {
    kill -TERM $sidecar
    wait $sidecar
    is "$1: SIGTERM ends it with 0" $? 0
    is "$1: the last line" "$(tail -n 1 $log | jget - event)" stopped
}

count() { grep -c "\"event\": \"$1\"" $log; }
said() { [ "$(count "$1")" -ge "${2:-1}" ]; }
# last EVENT KEY: of its last line
last() { grep "\"event\": \"$1\"" $log | tail -n 1 | jget - "$2"; }
page() { wget -q -O - "$url/$1"; }
# report [TOKEN]: into /tmp/report; value KEY: of the first container
report() { wget -q -O /tmp/report "$url/report${1:+?since=$1}"; }
value() { jget /tmp/report "containers.0.$1"; }
metric() { page metrics | awk -v m="$1{" 'index($0, m) == 1 { print $NF }'; }
burn() {
    ns --plain --cgroup "$cgroups/$1" sh -c 'while :; do :; done' &
    burner=$!
}
rest() { kill -KILL $burner && wait $burner 2>/dev/null; }

# --- limits
cg_make app "25000 100000"
watch -- --cgroup /app
is "limit: found" "$(last target_found quota_cpus)" 0.25
echo "50000 100000" >$cgroups/app/cpu.max
within 5 said limit_changed
is "limit changed: before and after" "$(last limit_changed before_quota_cpus) $(last limit_changed quota_cpus)" "0.25 0.5"
echo "100000 200000" >$cgroups/app/cpu.max
sleep 1
is "the same ratio with another period is no change" "$(count limit_changed)" 1
is "... though the figures are the new ones" "$(report && value period_usec)" 200000
echo "max 100000" >$cgroups/app/cpu.max
within 5 said limit_changed 2
is "limit taken away" "$(last limit_changed before_quota_cpus) $(last limit_changed quota_cpus)" "0.5 null"
stop limit

# --- PSI switched off and on again
echo "30000 100000" >$cgroups/app/cpu.max
watch -- --cgroup /app --log-every 1s
burn app
sleep 2
report
token=$(jget /tmp/report token)
check "psi on: pressure of the run so far" [ "$(value since_start.psi_cpu_some_usec)" -gt 100000 ]
echo 0 >$cgroups/app/cgroup.pressure
sleep 2
report "$token"
is "psi off: no difference of the pressure" "$(value window.psi_cpu_some_usec) $(value since_start.psi_cpu_some_usec)" "null null"
check "psi off: the other figures go on" [ "$(value window.nr_throttled)" -gt 0 ]
is "psi off: the verdict stands on the counters" "$(value window.verdict)" throttled
is "psi off: no sample of it on /metrics" "$(metric headroom_container_pressure_cpu_waiting_seconds_total)" ""
is "psi off: still readable" "$(metric headroom_container_readable)" 1
off_token=$(jget /tmp/report token)
echo 1 >$cgroups/app/cgroup.pressure
has_pressure() { [ -n "$(metric headroom_container_pressure_cpu_waiting_seconds_total)" ]; }
within 15 has_pressure
report
token=$(jget /tmp/report token)
sleep 2
report "$off_token"
is "psi on again: no difference since it was off" "$(value window.psi_cpu_some_usec)" null
report "$token"
check "psi on again: pressure of the last 2 s" [ "$(value window.psi_cpu_some_usec)" -gt 100000 ]
check "... and not more than there was time" [ "$(value window.psi_cpu_some_usec)" -lt 60000000 ]
rest
is "psi: nothing was lost meanwhile" "$(count target_lost) $(count unreadable)" "0 0"
stop psi

# --- removed and made again under the same name
watch -- --cgroup /app --log-every 1s
burn app
sleep 2
report
token=$(jget /tmp/report token)
used=$(value cpu_stat.usage_usec)
rest
cg_remove app
within 5 said target_lost
is "removed: lost, once" "$(count target_lost)" 1
is "removed: not readable, no old figures" \
    "$(metric headroom_container_readable) $(metric headroom_container_cpu_usage_seconds_total)" "0 "
cg_make app "40000 100000"
within 20 said restarted
is "made again: restarted" "$(last restarted restarts) $(last restarted quota_usec)" "1 40000"
report "$token" 2>/dev/null
is "made again: the old token is refused" $? 1
report
is "made again: all differences begin anew" "$(value since_start.restarted) $(value since_start.usage_usec)" "false 0"
is "made again: counted on /metrics" "$(metric headroom_container_cgroup_restarts_total)" 1
stop removed
is "removed: no line shows more CPU time than there was" \
    "$(grep -o '"usage_usec": [0-9]*' $log | awk -v most="$used" '$2 > most + 2000000 { n++ } END { print n + 0 }')" 0

# --- warnings; --event-window is short
watch -- --cgroup /app --event-window 500ms
echo "20000 100000" >$cgroups/app/cpu.max
burn app
within 20 said throttled
is "throttled: opened" "$(last throttled state)" opened
rest
resolved() { [ "$(last throttled state)" = resolved ]; }
within 20 resolved
is "throttled: resolved" "$(last throttled state)" resolved
check "throttled: its total is within what the kernel counted" [ "$(last throttled total_nr_throttled)" -le "$(cg_stat app nr_throttled)" ]
check "throttled: ... and most of it" [ "$(last throttled total_nr_throttled)" -ge 1 ]
stop warnings

# --- a period that the kernel scales by itself: the shortest, with many timers' worth of work
echo "1000 1000" >$cgroups/app/cpu.max
watch -- --cgroup /app
burn app
sleep 2
is "a period of 1 ms: whatever the kernel made of it, no change of the limit" "$(count limit_changed)" 0
diag "cpu.max is now: $(cat $cgroups/app/cpu.max)"
rest
stop scaled
cg_remove app

# --- containers beside it, in a shared PID namespace; the application is 1000:1000
id=1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef
mine=fedcba0987654321fedcba0987654321fedcba0987654321fedcba0987654321
cg_make cri-containerd-$id.scope "25000 100000"
cg_make cri-containerd-$mine.scope
contained="--drop-caps --no-new-privs"
# shellcheck disable=SC2086
ns --cgroup $cgroups/cri-containerd-$id.scope --uid 1000 --gid 1000 $contained sh -c 'while :; do :; done' &
burner=$!
sleep 0.5
beside() { # UID GID
    # shellcheck disable=SC2086
    watch --cgroup $cgroups/cri-containerd-$mine.scope --uid "$1" --gid "$2" $contained -- --event-window 1s
}
beside 1000 1000
is "neighbour: the way" "$(last started way)" "shared PID namespace"
is "neighbour: found, with its id and its limit" "$(last target_found container_id) $(last target_found quota_cpus)" "$id 0.25"
within 20 said throttled
is "neighbour: throttled is seen" "$(last throttled state)" opened
is "neighbour: ancestors are hidden" "$(last target_found ancestors_hidden)" true
stop neighbour
beside 65532 65532
is "denied: one sentence" "$(count unreadable)" 1
like "denied: with both identities and the field to set" "$(last unreadable msg)" "*1000:1000*65532:65532*runAsUser*"
is "denied: on /metrics" "$(metric headroom_container_readable)" 0
has_wait() { awk -v v="$(metric headroom_container_runqueue_wait_seconds_total)" 'BEGIN { exit !(v > 0.2) }'; }
within 20 has_wait
check "denied: it goes on with the run-queue wait" has_wait
is "denied: no figures are made up" "$(metric headroom_container_cpu_usage_seconds_total)" ""
report
is "denied: /report" "$(value readable) $(value runqueue)" "false ok"
stop denied
# the same by --pid
# shellcheck disable=SC2086
watch --cgroup $cgroups/cri-containerd-$mine.scope --uid 65532 --gid 65532 $contained -- --pid $burner
like "denied --pid: one sentence" "$(last unreadable msg)" "*1000:1000*65532:65532*"
within 20 has_wait
check "denied --pid: the run-queue wait of that process" has_wait
stop "denied --pid"
rest
cg_remove cri-containerd-$id.scope cri-containerd-$mine.scope
tap_end
