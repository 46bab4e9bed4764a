#!/bin/sh
# vm: psi=1
# The node mode on real nested cgroups: 50 containers in the layouts of the systemd and of the cgroupfs driver, that work,
# are throttled, appear and go.
cgroups=/sys/fs/cgroup
# shellcheck source=/dev/null
. /vm/tap.sh

command -v headroom-sidecar >/dev/null || { echo "1..0 # SKIP headroom-sidecar is not in the guest"; exit 0; }

logs=/tmp/node/var/log
log=/tmp/node.log
page=/tmp/node.metrics
mkdir -p $logs/pods $logs/containers

# hex N: an id of 64 digits; uid N: of a pod
hex() { printf '%064x' "$1"; }
uid() { printf '5f6e0a1c-3c7e-4a0b-9d54-%012x' "$1"; }

# folder NAME: with the cpu controller for what is in it
folder() { [ -d $cgroups/$1 ] || { mkdir $cgroups/$1 && echo +cpu >$cgroups/$1/cgroup.subtree_control; }; }

# pod N: one pod with its sandbox and two containers; the odd ones as systemd has them, the others as cgroupfs
pod() {
    u=$(uid $1)
    if [ $(($1 % 2)) = 1 ]; then
        p=kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$(echo $u | tr - _).slice
    else
        p=kubepods/burstable/pod$u
    fi
    folder $p
    for c in 0 1 2; do
        id=$(hex $(($1 * 16 + c)))
        name=$id
        [ $(($1 % 2)) = 0 ] || name=cri-containerd-$id.scope
        mkdir $cgroups/$p/$name
        [ $c != 0 ] || continue # the sandbox has no log
        echo "20000 100000" >$cgroups/$p/$name/cpu.max
        mkdir -p $logs/pods/shop_app-$1_$u/c$c
        ln -s /nowhere $logs/containers/app-$1_shop_c$c-$id.log
    done
}
remove_pod() {
    for d in $cgroups/kubepods*/*burstable*/*pod*"$(printf '%012x' $1)"*; do rmdir $d/* 2>/dev/null; rmdir $d; done
}

scrape() { wget -q -O $page http://127.0.0.1:9464/metrics; }
readable() { scrape && grep -c "^headroom_container_readable{.*$1.*} 1" $page; }
# until_readable WORDS N: within 20 s
until_readable() {
    tries=0
    until [ "$(readable "$1")" = $2 ] || [ $tries = 100 ]; do tries=$((tries + 1)) && sleep 0.2; done
    readable "$1"
}
value() { scrape && sed -n "s/^$1{.*pod=\"$2\",container=\"$3\"} //p" $page; }

folder kubepods.slice
folder kubepods.slice/kubepods-burstable.slice
folder kubepods
folder kubepods/burstable
n=1
while [ $n -le 25 ]; do pod $n && n=$((n + 1)); done

headroom-sidecar --host-cgroup /sys/fs/cgroup --node --pod-logs $logs/pods --container-logs $logs/containers --interval 1s \
    --event-window 2s --listen 127.0.0.1:9464 -o json >$log 2>&1 &
sidecar=$!

is "50 containers of 25 pods, without the sandboxes" "$(until_readable 'container="c' 50)" 50
is "and the pods themselves" "$(readable 'scope="pod"')" 25
is "names of the systemd driver's" "$(readable 'namespace="shop",pod="app-7",container="c2"')" 1
is "names of the cgroupfs driver's" "$(readable 'namespace="shop",pod="app-8",container="c1"')" 1
is "limits" "$(value headroom_container_cpu_limit_cores app-7 c2)" 0.2

u=$(uid 7 | tr - _)
cg_burn kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$u.slice/cri-containerd-"$(hex 114)".scope 5
cg_burn kubepods/burstable/pod"$(uid 8)"/"$(hex 129)" 5
throttled=$(value headroom_container_cpu_cfs_throttled_periods_total app-7 c2)
check "the one that burns is throttled (systemd): $throttled" [ "${throttled:-0}" -gt 10 ]
throttled=$(value headroom_container_cpu_cfs_throttled_periods_total app-8 c1)
check "the one that burns is throttled (cgroupfs): $throttled" [ "${throttled:-0}" -gt 10 ]
is "its neighbour is not" "$(value headroom_container_cpu_cfs_throttled_periods_total app-7 c1)" 0
check "and the log names it" grep -q '"event": "throttled".*"pod": "app-7"' $log

remove_pod 3
remove_pod 4
is "containers that go are no longer there" "$(until_readable 'container="c' 46)" 46
pod 40
pod 41
is "those that appear are found" "$(until_readable 'container="c' 50)" 50
is "with their names" "$(readable 'pod="app-41",container="c2"')" 1

kill $sidecar
wait $sidecar
is "ends well" $? 0
find $cgroups/kubepods $cgroups/kubepods.slice -depth -type d -exec rmdir {} +
tap_end
