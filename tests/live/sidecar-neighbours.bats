#!/usr/bin/env bats
# A sidecar in a shared PID namespace on this host: real cgroups (v1 or v2, where they may be made), real /proc, processes
# that come and go all the time.
# tests/run: limit 120

APP=a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be3f333
OWN=1241936d4dd3aad68fe7bfbdfe854b935926bc678fc72377e15166078916227a

setup() {
    load ../lib/common
    need headroom-sidecar
    pids=()
    folders=()
    find_cgroups || not_on_this_host "no cgroup with a cpu controller may be made here"
    log=$BATS_TEST_TMPDIR/log
}

teardown() {
    end_processes "${pids[@]}"
    local folder
    for folder in "${folders[@]}"; do wait_until 5 rmdir "$folder"; done
}

# $top: where containers are made, with a CPU limit
find_cgroups() {
    local folder
    for folder in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
        mkdir "$folder/headroom-neighbours.$$" 2>/dev/null || continue
        top=$folder/headroom-neighbours.$$
        folders=("$top")
        # outweighs other work on this machine: what is throttled here must not wait for others instead
        if [ -e "$top/cpu.shares" ]; then echo 262144 >"$top/cpu.shares"; elif [ -e "$top/cpu.weight" ]; then echo 10000 >"$top/cpu.weight"; fi
        [ ! -e "$top/cpu.cfs_quota_us" ] || return 0
        if [ -e "$top/cpu.max" ] && echo +cpu >"$top/cgroup.subtree_control"; then return 0; fi 2>/dev/null
        rmdir "$top"
        folders=()
    done
    return 1
}

# container ID: an empty one, limited to 0.3 CPU
container() {
    mkdir "$top/$1"
    folders=("$top/$1" "${folders[@]}")
    if [ -e "$top/$1/cpu.max" ]; then echo "30000 100000" >"$top/$1/cpu.max"; else echo 30000 >"$top/$1/cpu.cfs_quota_us"; fi
}

# within ID COMMAND...: becomes the command, in that container
within() {
    local id=$1
    shift
    # shellcheck disable=SC2016
    exec sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "$top/$id" "$@"
}

# contained ID COMMAND...: as a runtime does it, in a cgroup and a mount namespace of its own, with its own cgroup mounted
contained() {
    local id=$1 mount
    shift
    local point=${top%/*} type="cgroup2"
    [ -e "$top/cpu.cfs_quota_us" ] && type="cgroup -o ${point##*/}"
    mount="umount -l $point && mount -t $type none $point"
    within "$id" unshare --cgroup --mount sh -c "$mount && exec \"\$@\"" sh "$@"
}

value() { python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["event"] == sys.argv[2] and e.get("container_id", sys.argv[3]) == sys.argv[3]:
        found = e
print(found[sys.argv[4]])' "$log" "$@"; }

@test "finds the container beside it, reads its quota, and loses it" {
    container $APP
    container $OWN
    (contained $APP sleep 60) &
    app=$!
    pids+=("$app")
    (within $OWN unshare --cgroup "$build/headroom-sidecar" -o json --log-every 1s) >"$log" 2>"$log.err" &
    sidecar=$!
    pids+=("$sidecar")
    wait_until 15 grep -q "target_found.*$APP" "$log"
    [ "$(value started '' way)" = "shared PID namespace" ]
    [ "$(value target_found $APP quota_cpus)" = 0.3 ]
    [ "$(value target_found $APP container)" = ${APP:0:12} ]
    [ "$(grep -c "target_found.*$OWN" "$log")" = 0 ]
    end_processes "$app"
    wait_until 15 grep -q "target_lost.*$APP" "$log"
}

@test "a container that forks without end: found once, nothing is lost meanwhile" {
    container $APP
    container $OWN
    # shellcheck disable=SC2016
    (contained $APP sh -c 'while :; do /bin/true; done') &
    pids+=("$!")
    (within $OWN unshare --cgroup "$build/headroom-sidecar" -o json --log-every 1s) >"$log" 2>"$log.err" &
    pids+=("$!")
    wait_until 15 grep -q "target_found.*$APP" "$log"
    sleep 8
    grep -v '"event": "summary"' "$log" | cut -c 1-300
    # other containers of this host may be found as well
    [ "$(grep -c "target_found.*$APP" "$log")" = 1 ]
    [ "$(grep -c "target_lost.*$APP" "$log")" = 0 ]
    # of these seconds, not of each: a busy host can keep it from spending its quota
    [ "$(jq -c "select(.event == \"summary\" and .container_id == \"$APP\" and .verdict == \"throttled\")" "$log" | wc -l)" -ge 1 ]
}

@test "outside of any container the same containers are no neighbours" {
    container $APP
    (contained $APP sleep 60) &
    pids+=("$!")
    grep -q "[0-9a-f]\{64\}" /proc/self/cgroup && not_on_this_host "the tests themselves run in a container"
    "$build/headroom-sidecar" -o json >"$log" 2>"$log.err" &
    pids+=("$!")
    wait_until 15 grep -q '"event": "started"' "$log"
    [ "$(value started '' way)" = "own cgroup" ]
}
