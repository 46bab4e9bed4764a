#!/bin/bash
# Installs the Debian packages that a purpose needs, and says so before it does.
#
#   scripts/deps.sh [--print] [PURPOSE...]     build (default), static, test, vm, image, manifests, page, lint, valgrind, fuzz, ci, all; bench
#
# Nothing is missing: silent, at once, status 0. Without root: prints the exact command and ends with status 1.
# Without dpkg (not a Debian): looks for the libraries and tools themselves; status 1 when some are not there.
# --print lists the packages that are missing, one a line, and changes nothing.
#
# Environment: CC (clang* asks for clang in the place of gcc), PKG_CONFIG.
set -euo pipefail

say() { printf 'deps: %s\n' "$*" >&2; }
usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit "$1"; }

# PURPOSE -> Debian packages. "a|b": any of them will do, the first is what gets installed.
packages() {
    case $1 in
    build)
        case ${CC-} in
        clang*) echo "clang|clang-14" ;;
        *) echo "gcc|clang" ;;
        esac
        echo "libc6-dev make pkg-config|pkgconf libjansson-dev libmicrohttpd-dev libssl-dev"
        echo "libcurl4-openssl-dev|libcurl4-gnutls-dev|libcurl4-nss-dev"
        ;;
    # libmicrohttpd and libcurl are built from their Debian source packages: scripts/static-deps.sh
    static) echo "gcc libc6-dev make pkg-config|pkgconf binutils dpkg-dev xz-utils ca-certificates"
        echo "libjansson-dev libssl-dev libc-ares-dev" ;;
    test) echo "libcmocka-dev bats python3 jq procps util-linux curl openssl nghttp2-server git" ;;
    vm) echo "qemu-system-x86 cpio busybox-static util-linux" ;;
    image) echo "docker.io|docker-ce docker-compose|docker-compose-plugin debootstrap git" ;;
    # npm and promtool often come from elsewhere, where Debian's packages would not fit; kubectl is not in Debian
    manifests)
        command -v node >/dev/null || echo "nodejs"
        command -v npm >/dev/null || echo "npm"
        command -v promtool >/dev/null || echo "prometheus"
        python3 -c 'import yaml' 2>/dev/null || echo "python3-yaml"
        ;;
    # the browser that report.html is looked at with; npm fetches axe-core
    page) command -v chromium >/dev/null || echo "chromium"
        command -v npm >/dev/null || echo "npm" ;;
    lint) echo "clang-format-14 clang-tidy-14 cppcheck shellcheck python3 git libcmocka-dev" ;;
    valgrind) echo "valgrind libc6-dbg" ;;
    fuzz) echo "clang|clang-14 libclang-rt-14-dev python3" ;;
    # what some tests would be skipped without
    ci) echo "clang|clang-14 gcc git prometheus python3-prometheus-client" ;;
    # what `make bench` measures beside: optional, and not part of "all"
    bench) echo "python3 binutils prometheus-node-exporter netdata-core hey wrk nghttp2-client apache2-utils"
        echo "nginx-light|nginx-core|nginx" ;;
    *) say "unknown purpose '$1'"; usage 2 >&2 ;;
    esac
}

# The same without dpkg: tools as commands, libraries as pkg-config names.
tools() {
    case $1 in
    build) echo "${CC:-cc} make ${PKG_CONFIG:-pkg-config}" ;;
    static) echo "dpkg-source" ;;
    test) echo "bats python3 jq ps setpriv curl openssl nghttpd git" ;;
    vm) echo "qemu-system-x86_64 cpio busybox setpriv" ;;
    image) echo "docker debootstrap git" ;;
    manifests) echo "node npm promtool python3" ;;
    page) echo "chromium npm python3" ;;
    lint) echo "clang-format-14 clang-tidy-14 cppcheck shellcheck python3 git" ;;
    valgrind) echo "valgrind" ;;
    fuzz) echo "clang python3" ;;
    ci) echo "clang gcc git promtool" ;;
    bench) echo "python3 strip prometheus-node-exporter netdata hey wrk h2load ab nginx" ;;
    esac
}
libraries() {
    case $1 in
    build) echo "jansson libmicrohttpd libcrypto libcurl" ;;
    test) echo "cmocka" ;;
    esac
}

print=
purposes=()
for word in "$@"; do
    case $word in
    --print) print=1 ;;
    -h | --help) usage 0 ;;
    -*) say "unknown option $word"; usage 2 >&2 ;;
    all) purposes+=(build static test vm image manifests page lint valgrind fuzz ci) ;;
    *) purposes+=("$word") ;;
    esac
done
[ ${#purposes[@]} -gt 0 ] || purposes=(build)

# --- not a Debian -----------------------------------------------------------------------------------------------------

without_dpkg() {
    local missing=() purpose word
    for purpose in "${purposes[@]}"; do
        packages "$purpose" >/dev/null
        for word in $(tools "$purpose"); do
            command -v "$word" >/dev/null || missing+=("$word")
        done
        for word in $(libraries "$purpose"); do
            "${PKG_CONFIG:-pkg-config}" --exists "$word" 2>/dev/null || missing+=("the development files of $word")
        done
    done
    [ ${#missing[@]} -gt 0 ] || exit 0
    say "this is no Debian: please install what is missing for: ${purposes[*]}"
    printf '  %s\n' "${missing[@]}" | sort -u >&2
    exit 1
}
command -v dpkg-query >/dev/null || without_dpkg

# --- what is missing --------------------------------------------------------------------------------------------------

wanted=$(for purpose in "${purposes[@]}"; do packages "$purpose"; done)
# One call for all: "ii" is installed. Packages that dpkg has never heard of are errors, which are no news here.
# shellcheck disable=SC2086 # many words
installed=" $(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' ${wanted//|/ } 2>/dev/null |
    sed -n 's/^ii *//p' | tr '\n' ' ')" || true

missing=()
for word in $wanted; do
    found=
    IFS='|' read -r -a choices <<<"$word"
    for choice in "${choices[@]}"; do
        [[ $installed != *" $choice "* ]] || found=1
    done
    [ -n "$found" ] || [[ " ${missing[*]-} " == *" ${choices[0]} "* ]] || missing+=("${choices[0]}")
done
[ -z "$print" ] || { [ ${#missing[@]} = 0 ] || printf '%s\n' "${missing[@]}"; exit 0; }
[ ${#missing[@]} -gt 0 ] || exit 0

# --- install ------------------------------------------------------------------------------------------------------------

command="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" != 0 ]; then
    say "these Debian packages are needed (${purposes[*]}). Please run:"
    printf '  sudo apt-get update && sudo %s\n' "$command" >&2
    exit 1
fi
say "installing the Debian packages that are missing (${purposes[*]}): ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for step in "apt-get -q update" "$command"; do
    say "$step"
    # shellcheck disable=SC2086 # the words of a command
    if ! $step -o DPkg::Lock::Timeout=300 >"$log" 2>&1; then
        cat "$log" >&2
        say "failed: $step"
        exit 1
    fi
done
