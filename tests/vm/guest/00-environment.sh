#!/bin/sh
# vm: psi=1 psi=0
# What the other guest scripts rely on: pure cgroup v2, a quota that the kernel enforces, PSI as it was booted, helpers.
cgroups=/sys/fs/cgroup
# shellcheck source=/dev/null
. /vm/tap.sh

diag "$(uname -sr), $(nproc) CPUs, clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
diag "controllers: $(cat $cgroups/cgroup.controllers)"

is "no cgroup v1 hierarchy is mounted" "$(awk '$3 == "cgroup"' /proc/mounts)" ""
is "one cgroup2 is mounted on /sys/fs/cgroup" "$(awk '$3 == "cgroup2" { print $2 }' /proc/mounts)" $cgroups
is "the script is in the root cgroup" "$(cat /proc/self/cgroup)" 0::/
is "the machine shows its CPUs" "$(nproc)" "$VM_CPUS"
for controller in cpu cpuset io memory pids; do
    like "$controller is on for child cgroups" " $(cat $cgroups/cgroup.subtree_control) " "* $controller *"
done
check "lo answers" ping -c 1 -W 2 127.0.0.1

cg_make env "20000 100000"
is "cpu.max is read back" "$(cat $cgroups/env/cpu.max)" "20000 100000"
cg_burn env 1
diag "$(tr '\n' ' ' <$cgroups/env/cpu.stat)"
check "a busy loop under 0.2 CPU is throttled" [ "$(cg_stat env nr_throttled)" -ge 5 ]
check "it used less than 0.4 s of CPU in 1 s" [ "$(cg_stat env usage_usec)" -lt 400000 ]

if [ "$VM_PSI" = 1 ]; then
    like "cpu.pressure is there and grew" "$(cat $cgroups/env/cpu.pressure)" "some avg10=*total=[1-9]*full avg10=*"
    check "/proc/pressure/cpu can be read" cat /proc/pressure/cpu
else
    check "psi=0: no cpu.pressure" [ ! -e $cgroups/env/cpu.pressure ]
    check "psi=0: no /proc/pressure" [ ! -e /proc/pressure ]
fi
like "schedstat is there" "$(cat /proc/self/schedstat)" "[0-9]* [0-9]* [0-9]*"

is "ns: the namespace's root is the container's cgroup" "$(ns --cgroup $cgroups/env cat /proc/self/cgroup)" 0::/
is "ns: /sys/fs/cgroup shows the container's own files" "$(ns --cgroup $cgroups/env cat $cgroups/cpu.max)" "20000 100000"
is "ns: one cgroup2 is visible" "$(ns --cgroup $cgroups/env grep -c cgroup2 /proc/self/mountinfo)" 1
is "ns: it is read-only" "$(ns --cgroup $cgroups/env sh -c "echo max >$cgroups/cpu.max" 2>/dev/null || echo refused)" refused
is "ns --keep-cgroupns: the whole path" "$(ns --keep-cgroupns --cgroup $cgroups/env cat /proc/self/cgroup)" 0::/env
# shellcheck disable=SC2016
is "ns --pid: the command is number 1" "$(ns --pid sh -c 'echo $$ $(ls -d /proc/[0-9]* | head -n 1)')" "1 /proc/1"
ns --pid sh -c 'exit 7'
is "ns --pid passes the status on" $? 7
ns sh -c 'exit 8'
is "ns passes the status on" $? 8
ns --plain --timeout 1 sleep 5
is "ns --timeout: SIGALRM" $? 142
ids=$(ns --uid 1234 --gid 2345 --drop-caps --no-new-privs cat /proc/self/status)
is "ns: uid, gid, no capabilities, no new privileges" \
    "$(echo "$ids" | awk '/^(Uid|Gid|CapPrm|CapEff|CapBnd|NoNewPrivs):/ { printf "%s ", $2 }')" \
    "1234 2345 0000000000000000 0000000000000000 0000000000000000 1 "
is "jget reads JSON" "$(echo '{"a":{"b":[1,"x"]},"n":null}' | jget - a.b.1 n c | tr '\n' ' ')" "x null (absent) "

cg_remove env
tap_end
