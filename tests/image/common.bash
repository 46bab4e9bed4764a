# Loaded by the bats files here: load common
load ../lib/common

# shellcheck disable=SC2034 # for the files that load this
image=headroom:test
# shellcheck disable=SC2034
sidecar_image=headroom-sidecar:test

# container_name NAME: as the engine knows it
container_name() { printf 'headroom-test-%s-%s' "$$" "${1-}"; }

# started NAME RUN-OPTIONS... : a container in the background; teardown removes it
started() {
    local name
    name=$(container_name "$1")
    shift
    containers+=("$name")
    docker run -d --name "$name" "$@" >/dev/null
}

containers=()
remove_containers() {
    local name
    for name in "${containers[@]-}"; do [ -z "$name" ] || docker rm -f "$name" >/dev/null 2>&1 || true; done
}

# logged NAME TEXT: the container has written it
logged() { docker logs "$(container_name "$1")" 2>&1 | grep -q -- "$2"; }

# none_left: no container of ours is there
none_left() {
    local left
    left=$(docker ps -aq --filter "name=headroom-")
    [ -z "$left" ] || { docker ps -a --filter "name=headroom-" >&2; return 1; }
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }
