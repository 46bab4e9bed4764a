#!/bin/bash
# Makes debian:bookworm-slim where it cannot be pulled: debootstrap of this very machine's mirrors, imported into the engine.
#
#   scripts/base-image.sh [--engine docker|buildah] [--tag debian:bookworm-slim] [--force]
#
# Needs root and debootstrap. Nothing is done when the image is there (--force: it is replaced). The tree is kept as
# build/cache/base-image.tar, for the next engine. Its apt has the mirrors, proxies and time checks that apt has here.
set -euo pipefail

suite=bookworm
say() { printf 'base-image: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

cd "$(dirname "$0")/.."
engine='' tag=debian:$suite-slim force=''
while [ $# -gt 0 ]; do
    case $1 in
    --engine | --tag)
        [ $# -ge 2 ] || { say "$1 needs a value"; exit 2; }
        printf -v "${1#--}" %s "$2"
        shift
        ;;
    --force) force=1 ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) say "'$1' is not understood (--help)"; exit 2 ;;
    esac
    shift
done
if [ -z "$engine" ]; then
    engine=docker
    { command -v docker >/dev/null && docker version >/dev/null 2>&1; } || engine=buildah
fi
case $engine in
docker) docker version >/dev/null 2>&1 || die "no docker engine answers" ;;
buildah) command -v buildah >/dev/null || die "neither does a docker engine answer, nor is buildah installed" ;;
*) die "--engine is docker or buildah" ;;
esac
have() {
    case $engine in
    docker) docker image inspect "$tag" >/dev/null 2>&1 ;;
    buildah) buildah inspect --type image "$tag" >/dev/null 2>&1 ;;
    esac
}
if [ -z "$force" ] && have; then
    say "$tag is there already"
    exit 0
fi

# --- the tree ---------------------------------------------------------------------------------------------------------

arch=$(dpkg --print-architecture)
cache=build/cache/base-image-$suite-$arch.tar
scratch=''
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# "URI suite" of what apt here reads of this Debian release.
mirrors() {
    apt-get indextargets 'Created-By: Packages' 2>/dev/null | awk -v code=$suite '
        function flush() {
            if (f["Component"] == "main" && f["Release"] ~ "^" code "(-updates|-security)?$" && !seen[f["Repo-URI"] f["Release"]]++)
                print f["Repo-URI"], f["Release"]
            delete f
        }
        /^$/ { flush(); next }
        { i = index($0, ": "); if (i) f[substr($0, 1, i - 1)] = substr($0, i + 2) }
        END { flush() }'
}

make_tree() {
    local root=$scratch/root list mirror
    [ "$(id -u)" = 0 ] || die "debootstrap needs root"
    command -v debootstrap >/dev/null || die "debootstrap is not installed: apt-get install debootstrap"
    list=$(mirrors)
    mirror=$(awk -v code=$suite '$2 == code { print $1; exit }' <<<"$list")
    : "${mirror:=http://deb.debian.org/debian}" "${list:=$mirror $suite}"
    say "debootstrap of $suite from $mirror (some minutes)"
    debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; die "debootstrap failed"; }
    sed 's/^\([^ ]*\) \(.*\)/deb \1 \2 main/' <<<"$list" >"$root/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|https?::Proxy) ' >"$root/etc/apt/apt.conf.d/01host" || true
    # as the slim images: nothing that is only read by people
    rm -rf "$root"/usr/share/{doc,man,info,locale,lintian} "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/*
    mkdir -p "$root/var/lib/apt/lists/partial" "$root/var/cache/apt/archives/partial"
    printf 'path-exclude /usr/share/%s/*\n' doc man info locale >"$root/etc/dpkg/dpkg.cfg.d/slim"
    tar -C "$root" --numeric-owner -cf "$scratch/tar" .
    mv "$scratch/tar" "$cache"
}

if [ ! -s "$cache" ]; then
    mkdir -p "$(dirname "$cache")"
    # on a file system where devices can be made; /tmp often is none
    scratch=$(mktemp -d "$PWD/build/base-image.XXXXXX")
    make_tree
fi

# --- into the engine ----------------------------------------------------------------------------------------------------

case $engine in
docker) docker import --change 'CMD ["bash"]' "$cache" "$tag" >/dev/null ;;
buildah)
    container=$(buildah from scratch)
    buildah add -q "$container" "$cache" / >/dev/null
    buildah commit -q --rm "$container" "$tag" >/dev/null
    ;;
esac
say "$tag: made from Debian's packages, in $engine"
