#!/bin/sh
# In the virtual machine of tests/vm (pure cgroup v2): the file system of the image, run by runc as an engine would. Started by
# 50-cgroup-v2.bats, with /files: rootfs, runc, lib (its libraries), and a folder with a config.json for each container.
# @PID@ in a config.json is the pid of the container `app`.
# shellcheck source=/dev/null
. /vm/tap.sh

mkdir -p /lib64 /lib/x86_64-linux-gnu /run
cp /files/lib/* /lib/x86_64-linux-gnu/
cp /files/lib/ld-linux-x86-64.so.2 /lib64/
id=$(cat /files/id) # of the container `app`: 64 hexadecimal digits, as engines make them

# The initramfs cannot be pivoted away from.
runc() { /files/runc --root /run/runc "$@"; }
# container NAME ID: runs it to its end; output in /tmp/out, status in $status
container() {
    sed -i "s/@PID@/${app_pid-}/" "/files/$1/config.json"
    runc run --no-pivot --bundle "/files/$1" "$2" >/tmp/out 2>/tmp/errors
    status=$?
    [ -s /tmp/out ] || diag "$1 (status $status): $(head -c 600 /tmp/errors)"
}
# has NAME KEY=VALUE...: keys of the JSON in /tmp/out
has() {
    has_name=$1 has_bad=''
    shift
    for pair in "$@"; do
        got=$(jget /tmp/out "${pair%%=*}" 2>/dev/null) || got='(none)'
        [ "$got" = "${pair#*=}" ] || has_bad="$has_bad ${pair%%=*} is '$got', not '${pair#*=}';"
    done
    if [ -z "$has_bad" ]; then ok "$has_name"; else not_ok "$has_name" "$has_bad"; fi
}

echo +cpu >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null

container once headroom-once
is "sidecar --once in a container of v2: status" $status 0
has "it sees its own limit, and pressure" cgroup_version=v2 quota_cpus=0.25 quota_usec=25000 psi_cpu_status=ok error=null

container check headroom-check
is "check --busy 4: status" $status 0
has "check --busy 4: throttled by its own quota" cgroup_version=v2 verdict=throttled

container demo headroom-demo
is "demo in a container of v2: status" $status 0
has "demo: both loads at the given limit" demo=inside limit_cpus=0.25 sender_shares_limit=true

# --- beside a container that runs: a shared PID namespace, the host's tree
runc run --no-pivot --detach --bundle /files/app "$id" </dev/null >/tmp/app.out 2>/tmp/app.errors || diag "$(cat /tmp/app.errors)"
app_pid=$(runc state "$id" | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
sleep 2
container beside headroom-beside
is "a sidecar in the app's PID namespace: status" $status 0
has "it finds the app's limit" cgroup_version=v2 quota_cpus=0.25 container_id="$id"
container host headroom-host
is "a sidecar with the host's tree: status" $status 0
has "it finds the container by its id: that limit, none of its own" cgroup_version=v2 quota_cpus=0.25

# --- signals as PID 1
runc kill "$id" TERM
tries=0
until [ "$(runc state "$id" | sed -n 's/.*"status": "\(.*\)".*/\1/p')" = stopped ] || [ $tries -ge 50 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
check "the probe as PID 1 ends on SIGTERM" [ $tries -lt 50 ]
grep -q '"event": "stopped"' /tmp/app.out && ok "and says so" || not_ok "and says so" "$(cat /tmp/app.out)"
runc delete --force "$id"
rmdir /sys/fs/cgroup/docker
tap_end
