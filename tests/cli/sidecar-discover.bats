#!/usr/bin/env bats
# headroom-sidecar on recorded trees of shared PID namespaces: which containers it finds, names and leaves out.
# tests/run: parallel

WEB=4b5e57f6eb2f42b9039b3d1e13929295f231749c510cbe341cd68036d9af97e2
PROXY=1241936d4dd3aad68fe7bfbdfe854b935926bc678fc72377e15166078916227a
APP=a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be3f333

setup() {
    load ../lib/common
    need headroom-sidecar
    log=$BATS_TEST_TMPDIR/log
}

teardown() { [ -z "${sidecar-}" ] || end_processes "$sidecar"; }

# watch TREE [OPTIONS]: the log of a sidecar that was ended after its first looks
watch() {
    local tree=$1
    shift
    "$build/headroom-sidecar" -o json --root "$tree" "$@" >"$log" 2>"$log.err" &
    sidecar=$!
    wait_until 10 grep -q '"event": "started"' "$log" || { cat "$log.err" >&2; return 1; }
    sleep 0.3
    kill -TERM $sidecar
    wait $sidecar
}

# found: one line for each container found: name or short id, whole id, pod uid, quota
found() {
    python3 - "$log" <<'END'
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["event"] == "target_found":
        print(e["container"], e["container_id"], e.get("pod_uid") or "-", e["quota_cpus"])
END
}

way() { python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["way"])' "$log"; }

@test "kubernetes: both containers by their names, pause and itself left out" {
    watch "$fixtures/discover/kubernetes-v2"
    [ "$(way)" = "shared PID namespace" ]
    run found
    echo "$output"
    pod=5f6e0a1c-3c7e-4a0b-9d54-2b8e7a61c9f0
    [ "$(sort <<<"$output")" = "proxy $PROXY $pod 0.5
web $WEB $pod 0.25" ]
}

@test "kubernetes: --container selects by name and by the beginning of the id" {
    for wanted in web ${WEB:0:12}; do
        watch "$fixtures/discover/kubernetes-v2" --container "$wanted"
        run found
        echo "$wanted: $output"
        [[ $output == "web $WEB "* ]]
        [ ${#lines[@]} = 1 ]
    done
}

@test "--container that can be neither name nor id: refused with a sentence" {
    run "$build/headroom-sidecar" --root "$fixtures/discover/kubernetes-v2" --container $'we\nb'
    echo "$output"
    [ "$status" != 0 ]
    [ ${#lines[@]} = 1 ]
    [[ $output == *"neither a container's name nor"* ]]
}

@test "the application has not started yet: it waits, and does not watch itself instead" {
    cp -r "$fixtures/discover/kubernetes-waiting" "$BATS_TEST_TMPDIR/tree"
    "$build/headroom-sidecar" -o json --root "$BATS_TEST_TMPDIR/tree" >"$log" 2>&1 &
    sidecar=$!
    wait_until 10 grep -q '"event": "started"' "$log"
    [ "$(way)" = "shared PID namespace" ]
    [ "$(found)" = "" ]
    # it starts: found without anybody's help
    cp -r "$fixtures/discover/kubernetes-v2/proc/7" "$BATS_TEST_TMPDIR/tree/proc/.7"
    mv "$BATS_TEST_TMPDIR/tree/proc/.7" "$BATS_TEST_TMPDIR/tree/proc/7"
    wait_until 10 grep -q '"event": "target_found"' "$log"
    [[ "$(found)" == "web $WEB "* ]]
    # it is restarted with a new id: the old one is lost, the new one found
    sed "s/$WEB/$APP/" <"$BATS_TEST_TMPDIR/tree/proc/7/cgroup" >"$BATS_TEST_TMPDIR/new"
    mv "$BATS_TEST_TMPDIR/tree/proc/7" "$BATS_TEST_TMPDIR/tree/proc/.gone"
    cp -r "$BATS_TEST_TMPDIR/tree/proc/.gone" "$BATS_TEST_TMPDIR/tree/proc/.8"
    cp "$BATS_TEST_TMPDIR/new" "$BATS_TEST_TMPDIR/tree/proc/.8/cgroup"
    sed -i "s/$WEB/$APP/g" "$BATS_TEST_TMPDIR/tree/proc/.8/mountinfo"
    mv "$BATS_TEST_TMPDIR/tree/proc/.8" "$BATS_TEST_TMPDIR/tree/proc/88"
    wait_until 15 grep -q "target_found.*$APP" "$log"
    grep -q "target_lost.*$WEB" "$log"
    kill -TERM $sidecar
    wait $sidecar
}

@test "CRI-O with crun: one level more below the scope" {
    watch "$fixtures/discover/crio-crun"
    [[ "$(found)" == "web $WEB 5f6e0a1c-3c7e-4a0b-9d54-2b8e7a61c9f0 1.5" ]]
}

@test "docker --pid=container:app: process 1 is the application, called by its short id" {
    watch "$fixtures/discover/docker-v2"
    [ "$(found)" = "${APP:0:12} $APP - 0.3" ]
    watch "$fixtures/discover/docker-v1"
    [ "$(found)" = "${APP:0:12} $APP - 0.3" ]
}

@test "hostPID: only the containers of our own pod" {
    watch "$fixtures/discover/host-pid"
    [[ "$(found)" == "web $WEB 5f6e0a1c-3c7e-4a0b-9d54-2b8e7a61c9f0 0.25" ]]
}

@test "a bare host with containers: no neighbours, its own cgroup" {
    watch "$fixtures/discover/bare-host"
    [ "$(way)" = "own cgroup" ]
}
