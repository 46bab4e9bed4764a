#!/usr/bin/env bats
# The same image in containers on pure cgroup v2: its exported file system, run by runc in the virtual machine of tests/vm.
# tests/run: limit 600

setup() {
    load common
    files=$BATS_TEST_TMPDIR/files
    id=5bca0f1f7a0f9f6e5d4c3b2a19087f6e5d4c3b2a19087f6e5d4c3b2a19087f6e
}

# bundle NAME CGROUP QUOTA-USEC FILTER ARGUMENT...: $files/NAME/config.json
bundle() {
    local name=$1 cgroup=$2 quota=$3 filter=$4
    shift 4
    mkdir -p "$files/$name"
    jq -n '$ARGS.positional' --args -- "$@" >"$BATS_TEST_TMPDIR/args"
    jq --slurpfile args "$BATS_TEST_TMPDIR/args" --arg cgroup "$cgroup" --argjson quota "$quota" '
        .process.terminal = false | .process.args = $args[0] | .process.user = {uid: 65532, gid: 65532}
        | .process.env = ["PATH=/usr/local/bin"] | .process.noNewPrivileges = true
        | .process.capabilities |= map_values([])
        | .root = {path: "/files/rootfs", readonly: true}
        | .linux.cgroupsPath = $cgroup
        | .linux.resources.cpu = (if $quota > 0 then {quota: $quota, period: 100000} else {} end)
        | .linux.namespaces += (if any(.linux.namespaces[]; .type == "cgroup") then [] else [{type: "cgroup"}] end)
        | '"$filter" "$BATS_TEST_TMPDIR/spec/config.json" >"$files/$name/config.json"
}

@test "the image in containers of pure cgroup v2, run by runc in a virtual machine" {
    runc=$(PATH=$PATH:/usr/sbin command -v runc) || skip "runc is not installed"
    mkdir -p "$files"/{rootfs,lib} "$BATS_TEST_TMPDIR/spec"
    (cd "$BATS_TEST_TMPDIR/spec" && "$runc" spec)
    cp "$runc" "$files/runc"
    ldd "$runc" | grep -o '/[^ ]*' | xargs -I{} cp -L {} "$files/lib/"
    from=$(docker create $image)
    docker export "$from" | tar -C "$files/rootfs" -x
    docker rm "$from" >/dev/null
    # where a container needs a mount point, the engine makes it; the tree is read-only here
    mkdir -p "$files/rootfs/host/sys/fs/cgroup"
    echo $id >"$files/id"

    bundle once /once 25000 . headroom-sidecar --once -o json
    bundle check /check 25000 . headroom check --busy 4 --seconds 3s -o json
    bundle demo /demo 25000 . headroom demo --seconds 3 -o json
    bundle app "/docker/$id" 25000 . headroom-probe --rounds 1000
    # as --pid=container:app
    bundle beside /beside 0 '(.linux.namespaces[] | select(.type == "pid")).path = "/proc/@PID@/ns/pid"' \
        headroom-sidecar --once -o json
    # as --cgroupns=host -v /sys/fs/cgroup:/host/sys/fs/cgroup:ro
    bundle host /host 0 'del(.linux.namespaces[] | select(.type == "cgroup"))
        | .mounts += [{destination: "/host/sys/fs/cgroup", type: "bind", source: "/sys/fs/cgroup", options: ["rbind", "ro"]}]' \
        headroom-sidecar --host-cgroup /host/sys/fs/cgroup --container-id "$id" --once -o json

    status=0
    "$top/tests/vm/run" --timeout 240 --mem 1024 "$top/tests/image/guest-v2.sh" "$files"/* >"$BATS_TEST_TMPDIR/tap" 2>&1 || status=$?
    cat "$BATS_TEST_TMPDIR/tap"
    [ $status != 77 ] || skip "no virtual machine: $(tail -n 1 "$BATS_TEST_TMPDIR/tap")"
    grep '^# vm:\|^ok' "$BATS_TEST_TMPDIR/tap" | sed 's/^/# /' >&3
    [ $status = 0 ]
}
