#!/usr/bin/env bats
# What the documentation tells people to type, with the image's name for testing in the place of `headroom`.
# tests/run: limit 600

setup() { load common; }
teardown() { remove_containers; }

@test "docker run --rm --cpus=0.25 headroom check --busy 4" {
    run docker run --rm --cpus=0.25 --network none $image check --busy 4 --seconds 3s
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == *"limit      0.25 CPUs: 25000 us of each 100000 us"* ]]
    [[ $output == *"nproc      $(nproc), but only 0.25 may be used"* ]]
    [[ $output =~ throttled\ +[1-9][0-9]*\ of\ [1-9][0-9]*\ active\ periods ]]
    [[ $output == *"verdict    throttled:"* ]]
}

@test "with a limit above the demand: nproc stays, throttling goes" {
    # docker refuses more CPUs than there are
    run docker run --rm --cpus="$(nproc)" --network none $image check --busy 1 --seconds 2s -o json
    echo "$output"
    [ "$status" = 0 ]
    [ "$(jq .nproc <<<"$output")" = "$(nproc)" ]
    [ "$(jq '.verdict == "throttled"' <<<"$output")" = false ]
}

@test "docker run --rm --cpus=0.25 headroom demo: both loads at the given limit, and what sharing changes" {
    run docker run --rm --cpus=0.25 --network none --read-only --cap-drop ALL $image demo --seconds 3
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == *"under the limit of this container: 0.25 CPUs"* ]]
    [[ $output =~ even\ +0\.[0-9]+\ +[0-9]+% ]]
    [[ $output =~ burst\ +0\.[0-9]+\ +[0-9]+% ]]
    [[ $output == *"Sender, probe and this program are under the same limit"* ]]
    [[ $output =~ 0\.5\ +[0-9.]+\ +[0-9.]+\ to\ [0-9.]+ ]] # predicted for another limit
    none_left
}

@test "demo as JSON: more throttled periods in bursts than evenly" {
    run docker run --rm --cpus=0.25 --network none $image demo --seconds 3 -o json
    echo "$output"
    [ "$status" = 0 ]
    [ "$(jq '.conditions | length' <<<"$output")" = 2 ]
    [ "$(jq .sender_shares_limit <<<"$output")" = true ]
    [ "$(jq '.conditions[1].nr_throttled > 0' <<<"$output")" = true ]
}

@test "Ctrl-C in the demo ends it with 130 and leaves nothing" {
    started demo --cpus=0.25 --network none $image demo --seconds 30
    wait_until 20 logged demo "^load  "
    sleep 2
    name=$(container_name demo)
    docker kill --signal INT "$name" >/dev/null
    [ "$(timeout 10 docker wait "$name")" = 130 ]
}

@test "--pid=container:APP --user UID:GID headroom sidecar: sees the app's limit and its throttling" {
    started app --cpus=0.25 --network none --user 12345:54321 $image check --busy 2 --seconds 60s
    name=$(container_name app)
    started watch --pid="container:$name" --user 12345:54321 --network none $image sidecar -o json --log-every 1s --event-window 1s
    wait_until 20 logged watch '"event": "throttled"'
    docker logs "$(container_name watch)"
    id=$(docker inspect -f '{{.Id}}' "$name")
    docker logs "$(container_name watch)" | head -n 50 | grep -q "${id:0:12}"
    docker logs "$(container_name watch)" | grep -q '"quota_cpus": 0.25'
}

@test "another user than the app's: one sentence that names both and the option, no crash" {
    started app --network none --user 12345:54321 $image check --busy 1 --seconds 60s
    run docker run --rm --pid="container:$(container_name app)" --network none $image sidecar --once -o json
    echo "$output"
    [[ $output == *12345* ]]
    [[ $output == *65532* ]]
}

@test "--cgroupns=host and the host's tree: --container-id, whatever the user" {
    started app --cpus=0.25 --network none --user 12345:54321 $image check --busy 2 --seconds 60s
    id=$(docker inspect -f '{{.Id}}' "$(container_name app)")
    sleep 1
    run docker run --rm --network none --cgroupns=host -v /sys/fs/cgroup:/host/sys/fs/cgroup:ro $image \
        sidecar --host-cgroup /host/sys/fs/cgroup --container-id "$id" --once -o json
    echo "$output"
    [ "$status" = 0 ]
    [ "$(jq -r '.quota_cpus // .containers[0].quota_cpus' <<<"$output")" = 0.25 ]
}

@test "study 1 --limiter docker: a container for the probe, none left at the end" {
    export HEADROOM_IMAGE=$image
    run "$build/headroom" study 1 --limiter docker --seconds 2 --rounds 5000 --out "$BATS_TEST_TMPDIR/out"
    echo "$output"
    # 1 says that the published shape did not come back: 2 s are too short to judge
    [ "$status" = 0 ] || [ "$status" = 1 ]
    [[ $output == *"limiter   docker (containers of $image"* ]]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/out/runs.csv")" -ge 7 ]
    grep -q '^0.25,burst,' "$BATS_TEST_TMPDIR/out/runs.csv"
    none_left
}

@test "study 1 --limiter docker, interrupted or killed: no container is left" {
    export HEADROOM_IMAGE=$image
    for signal in INT KILL; do
        "$build/headroom" study 1 --limiter docker --seconds 20 --rounds 5000 --out "$BATS_TEST_TMPDIR/$signal" \
            >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
        pid=$!
        wait_until 20 has_container || { cat "$BATS_TEST_TMPDIR/log"; false; }
        sleep 1
        kill -$signal $pid
        status=0
        wait $pid || status=$?
        [ $status = "$([ $signal = INT ] && echo 130 || echo 137)" ]
        wait_until 10 no_container
    done
}
has_container() { [ -n "$(docker ps -q --filter label=headroom.pid)" ]; }
no_container() { ! [ -n "$(docker ps -aq --filter label=headroom.pid)" ]; }

@test "study 1 --limiter docker without the image, without an engine: one sentence each" {
    HEADROOM_IMAGE=headroom:nowhere run "$build/headroom" study 1 --limiter docker --out "$BATS_TEST_TMPDIR/out"
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == *"no image 'headroom:nowhere': \`make image\` builds it"* ]]
    DOCKER_HOST=unix:///nowhere/sock run "$build/headroom" study 1 --limiter docker --out "$BATS_TEST_TMPDIR/out"
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == *"docker engine at /nowhere/sock: No such file or directory"* ]]
    DOCKER_HOST=tcp://127.0.0.1:1 run "$build/headroom" study 1 --limiter docker --out "$BATS_TEST_TMPDIR/out"
    [[ $output == *"is no socket of this host"* ]]
}
