#!/usr/bin/env bats
# compose.yaml: the whole story in one command, and one that ends it.
# tests/run: limit 300

setup() {
    load common
    project=headroomtest$$
    export HEADROOM_IMAGE_NAME=$image HEADROOM_SECONDS=8s
    # small enough to be reached on a machine whose CPUs others keep busy
    export HEADROOM_CPUS=0.06
    cd "$top" || return 1
}
teardown() { compose down -t 1 -v >/dev/null 2>&1 || true; }

compose() {
    if docker compose version >/dev/null 2>&1; then
        docker compose -p "$project" "$@"
    else
        docker-compose -p "$project" "$@"
    fi
}

@test "compose.yaml is valid, with Prometheus and without" {
    compose config -q
    compose --profile prometheus config -q
    compose --profile prometheus config | grep -q 9090
}

@test "up tells the story, down leaves nothing" {
    compose up --no-build -d
    [ "$(timeout 60 docker wait "$(compose ps -q -a load-burst)")" = 0 ]
    run compose logs
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == *'"event": "throttled"'* ]]
    [[ $output == *'"event": "listening"'* ]]
    [[ $output == *'"event": "nproc_quota_mismatch"'* ]]
    [[ $output == *load-even* ]]
    [[ $output == *load-burst* ]]
    run compose down -t 5
    echo "$output"
    [ "$status" = 0 ]
    [ -z "$(docker ps -aq --filter "label=com.docker.compose.project=$project")" ]
    [ -z "$(docker network ls -q --filter "label=com.docker.compose.project=$project")" ]
}

@test "the sidecar answers on the published port, and both are healthy" {
    compose up --no-build -d probe sidecar
    wait_until 20 curl -fsS http://127.0.0.1:9464/healthz
    curl -fsS http://127.0.0.1:9464/metrics | grep -q '^headroom_container_cpu_limit_cores'
    id=$(compose ps -q probe)
    wait_until 20 healthy "$id"
}
healthy() { [ "$(docker inspect -f '{{.State.Health.Status}}' "$1")" = healthy ]; }
