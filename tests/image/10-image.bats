#!/usr/bin/env bats
# What is in the images, and what is not.

bats_require_minimum_version 1.5.0

setup() {
    load common
    unpacked=$BATS_TEST_TMPDIR/root
}

# unpack IMAGE: its file system below $unpacked
unpack() {
    local id
    id=$(docker create "$1")
    mkdir -p "$unpacked"
    docker export "$id" | tar -C "$unpacked" -x
    docker rm "$id" >/dev/null
}
label() { docker image inspect -f "{{index .Config.Labels \"org.opencontainers.image.$2\"}}" "$1"; }

@test "sizes: the sidecar's image at most 1.5 MB, the whole one at most 9 MB" {
    for pair in "$sidecar_image 1500000" "$image 9000000"; do
        read -r name most <<<"$pair"
        size=$(docker image inspect -f '{{.Size}}' "$name")
        echo "# $name: $size bytes" >&3
        [ "$size" -le "$most" ]
    done
}

@test "user, entry point and path" {
    for name in $image $sidecar_image; do
        [ "$(docker image inspect -f '{{.Config.User}}' "$name")" = 65532:65532 ]
        docker image inspect -f '{{json .Config.Env}}' "$name" | grep -q '"PATH=/usr/local/bin"'
        [ "$(docker image inspect -f '{{.Os}}/{{.Architecture}}' "$name")" = "linux/$(dpkg --print-architecture)" ]
    done
    [ "$(docker image inspect -f '{{json .Config.Entrypoint}}' $image)" = '["headroom"]' ]
    [ "$(docker image inspect -f '{{json .Config.Entrypoint}}' $sidecar_image)" = '["headroom-sidecar"]' ]
}

@test "labels: title, description, version, revision, time of the commit" {
    for name in $image $sidecar_image; do
        [[ $(label "$name" title) == headroom* ]]
        [ -n "$(label "$name" description)" ]
        [ "$(label "$name" version)" = "$(docker run --rm --network none "$name" --version | sed 's/^[^ ]* //')" ]
        if [ -e "$top/.git" ]; then
            [ "$(label "$name" revision)" = "$(git -C "$top" rev-parse HEAD)" ]
            [ "$(date -d "$(label "$name" created)" +%s)" = "$(git -C "$top" log -1 --format=%ct)" ]
        fi
    done
}

@test "the sidecar's image holds one file" {
    unpack $sidecar_image
    run find "$unpacked" -type f -not -path '*/dev/*' -not -path '*/etc/*' -not -name .dockerenv
    echo "$output"
    [ "$output" = "$unpacked/usr/local/bin/headroom-sidecar" ]
}

@test "the whole image holds the four programs and certificates, and no shell" {
    unpack $image
    run bash -c "cd '$unpacked/usr/local/bin' && echo *"
    [ "$output" = "headroom headroom-load headroom-probe headroom-sidecar" ]
    grep -q 'BEGIN CERTIFICATE' "$unpacked/etc/ssl/certs/ca-certificates.crt"
    [ ! -e "$unpacked/bin" ] && [ ! -e "$unpacked/lib" ]
    run -127 docker run --rm --network none --entrypoint sh $image -c true
}

@test "the programs are static and stripped" {
    unpack $image
    for program in headroom headroom-sidecar; do
        run readelf -lS "$unpacked/usr/local/bin/$program"
        [[ $output != *INTERP* ]]
        [[ $output != *.symtab* ]]
    done
}

@test "each program answers by its name" {
    for program in headroom headroom-sidecar headroom-probe headroom-load; do
        run docker run --rm --network none --entrypoint $program $image --version
        [ "$status" = 0 ]
        [[ $output == "$program "* ]]
    done
    for program in sidecar probe load; do
        run docker run --rm --network none $image $program --version
        [[ $output == "headroom-$program "* ]]
    done
}

@test "without a command: help, with the three one-liners" {
    run docker run --rm --network none $image
    [ "$status" = 0 ]
    [[ $output == *"docker run --rm --cpus=0.25 headroom check --busy 4"* ]]
    [[ $output == *"docker run --rm --cpus=0.25 headroom demo"* ]]
    [[ $output == *"docker run --rm --pid=container:APP --user UID:GID headroom sidecar"* ]]
}

@test "the same bytes when they are built again, elsewhere, from the same source" {
    # The image of the stage in which they were compiled is in the engine's cache: its programs are made anew in another folder.
    docker build -q --target build --build-arg BUILDPLATFORM="linux/$(dpkg --print-architecture)" \
        --build-arg TARGETARCH="$(dpkg --print-architecture)" --build-arg CHECK=unit \
        --build-arg VERSION="$(label $image version)" --network host -t headroom-build:test "$top" >/dev/null
    run docker run --rm --network none --entrypoint bash headroom-build:test -c '
        set -e
        cp -a /src /elsewhere
        cd /elsewhere
        rm -rf build/static
        VERSION='"$(label $image version)"' scripts/image-build.sh programs >/dev/null 2>&1
        cd /out
        sha256sum */usr/local/bin/*'
    [ "$status" = 0 ]
    again=$output
    unpack $image
    for program in headroom headroom-sidecar; do
        sum=$(sha256sum <"$unpacked/usr/local/bin/$program" | cut -d' ' -f1)
        echo "# $program $sum" >&3
        grep -q "^$sum  headroom/usr/local/bin/$program\$" <<<"$again"
    done
}
