#!/bin/sh
# vm: psi=1 psi=0
# headroom-sidecar --once on real cgroups of v2: an own limit, a limit above, a private cgroup namespace, and a sibling in a
# shared PID namespace, readable and not.
# shellcheck disable=SC2086 # $once and $contained are several words
cgroups=/sys/fs/cgroup
# shellcheck source=/dev/null
. /vm/tap.sh

command -v headroom-sidecar >/dev/null || { echo "1..0 # SKIP headroom-sidecar is not in the guest"; exit 0; }

once="headroom-sidecar --once -o json"

# report NS_OPTIONS...: the sidecar's JSON in /tmp/report, its status in $status. A hang is ended after 5 s.
report() {
    ns --timeout 5 "$@" >/tmp/report 2>/tmp/errors
    status=$?
    jget /tmp/report >/tmp/bad 2>&1 || diag "no JSON object (status $status): $(head -c 500 /tmp/report /tmp/errors)"
}

# has NAME KEY=VALUE...: keys of the last report; a number is equal to a number of the same value
has() {
    has_name=$1 has_bad=''
    shift
    for pair in "$@"; do
        got=$(jget /tmp/report "${pair%%=*}" 2>/dev/null) || got='(no report)'
        awk -v a="$got" -v b="${pair#*=}" 'BEGIN { exit !(a == b) }' || has_bad="$has_bad
${pair%%=*} is '$got', not '${pair#*=}'"
    done
    if [ -z "$has_bad" ]; then ok "$has_name"; else not_ok "$has_name" "${has_bad#?}"; fi
}

# between NAME KEY LOW HIGH
between() {
    got=$(jget /tmp/report "$2" 2>/dev/null) || got='(no report)'
    if [ "$got" -ge "$3" ] && [ "$got" -le "$4" ]; then ok "$1"; else not_ok "$1" "$2 is '$got', not $3 to $4"; fi 2>/dev/null
}
psi=ok
[ "$VM_PSI" = 1 ] || psi=absent

# --- a limit of its own
cg_make own "25000 100000"
cg_burn own 1
before=$(cg_stat own nr_throttled)
report --plain --cgroup $cgroups/own $once
is "own limit: status" $status 0
has "own limit: 0.25 CPU, found where it is" cgroup_version=v2 cpu_controller=v2 quota_status=limited quota_cpus=0.25 \
    quota_usec=25000 period_usec=100000 binding_cgroup=/own ancestors_hidden=false error=null
has "own limit: fewer CPUs than the machine shows" online_cpus=$VM_CPUS nproc=$VM_CPUS cpuset_cpus=$VM_CPUS effective_cpus=0.25 mismatch=true
between "own limit: throttled periods of cpu.stat" cpu_stat.nr_throttled "$before" "$(cg_stat own nr_throttled)"
between "own limit: the same as counted where the quota is" throttle_stat.nr_throttled "$before" "$(cg_stat own nr_throttled)"
has "own limit: throttle_stat names its cgroup" throttle_stat.cgroup=/own
has "psi=$VM_PSI: psi_cpu_status" psi_cpu_status=$psi
if [ "$VM_PSI" = 1 ]; then
    between "psi: microseconds of cpu.pressure" psi_cpu.some.total 1 "$(sed -n 's/some.*total=//p' $cgroups/own/cpu.pressure)"
else
    has "psi=0: no figures are made up" psi_cpu=null
fi

# --- the limit is above
cg_make above "30000 100000"
echo +cpu >$cgroups/above/cgroup.subtree_control
cg_make above/leaf
cg_burn above/leaf 1
before=$(cg_stat above nr_throttled)
report --plain --cgroup $cgroups/above/leaf $once
has "limit above: 0.3 CPU, bound by the parent" quota_status=limited quota_cpus=0.3 quota_usec=30000 binding_cgroup=/above \
    effective_cpus=0.3 mismatch=true error=null
has "limit above: the leaf's own counters are real zeros" cpu_stat.nr_periods=0 cpu_stat.nr_throttled=0 cpu_stat.throttled_usec=0
has "limit above: throttle_stat is the parent's" throttle_stat.cgroup=/above
between "limit above: throttled periods of the parent" throttle_stat.nr_throttled "$before" "$(cg_stat above nr_throttled)"
check "limit above: it was throttled" [ "$before" -ge 3 ]

# --- no limit; a cpuset
cg_make free
echo 0-1 >$cgroups/free/cpuset.cpus
report --plain --cgroup $cgroups/free $once
has "no limit: unlimited" quota_status=unlimited quota_cpus=null binding_cgroup=null ancestors_hidden=false error=null
has "no limit: two CPUs by the cpuset" cpuset_cpus=2 nproc=2 effective_cpus=2 mismatch=false

# --- a private cgroup namespace
report --cgroup $cgroups/own $once
has "private namespace: the quota is right" quota_status=limited quota_cpus=0.25 effective_cpus=0.25 error=null
has "private namespace: its root is not the real one" ancestors_hidden=true binding_cgroup=/
report --cgroup $cgroups/above/leaf $once
has "private namespace below the limit: no limit visible, one above may exist" quota_status=unlimited quota_cpus=null \
    ancestors_hidden=true error=null

# --- siblings in a shared PID namespace: the application runs as 1000:1000
contained="--drop-caps --no-new-privs"
ns --cgroup $cgroups/own --uid 1000 --gid 1000 $contained sleep 1000 &
app=$!
tries=0
until [ "$(cat /proc/$app/comm)" = sleep ] || [ $tries = 50 ]; do tries=$((tries + 1)) && sleep 0.1; done
cg_make side "100000 100000"

# beside UID GID [NS OPTIONS]: a report about the application by a sidecar in its own namespace
beside() {
    uid=$1 gid=$2
    shift 2
    report --cgroup $cgroups/side --uid "$uid" --gid "$gid" "$@" $once --pid $app
}
# refused NAME IDENTITY: an error that says who may not read whom
refused() {
    is "$1: status" $status 1
    has "$1: unknown, not a wrong number" quota_status=unknown quota_cpus=null effective_cpus=null mismatch=null
    like "$1: the error names the application's identity" "$(jget /tmp/report error 2>&1)" "*1000:1000*"
    like "$1: ... and the reader's" "$(jget /tmp/report error 2>&1)" "*$2*"
}

beside 1000 1000 $contained
is "sibling, same identity: status" $status 0
has "sibling, same identity: the application's quota, not the sidecar's" quota_status=limited quota_cpus=0.25 quota_usec=25000 \
    effective_cpus=0.25 ancestors_hidden=true error=null
has "sibling, same identity: named as the sidecar sees it" binding_cgroup=/../own
between "sibling, same identity: its counters" throttle_stat.nr_throttled 1 "$(cg_stat own nr_throttled)"
has "sibling, same identity: psi_cpu_status" psi_cpu_status=$psi
beside 65532 65532 $contained && refused "sibling, other uid" 65532:65532
beside 1000 1001 $contained && refused "sibling, other gid" 1000:1001
beside 0 0 $contained && refused "sibling, root without capabilities" 0:0
beside 0 0
has "sibling, root with SYS_PTRACE: works" quota_status=limited quota_cpus=0.25 error=null

kill $app
wait $app 2>/dev/null
report --plain $once --pid $app
is "pid that is gone: status" $status 1
has "pid that is gone: unknown" quota_status=unknown quota_cpus=null
check "pid that is gone: an error says so" [ "$(jget /tmp/report error)" != null ]

cg_remove side free above/leaf above own
tap_end
