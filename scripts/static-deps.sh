#!/bin/bash
# Builds the static archives that Debian does not ship in a linkable form, from Debian's own source packages:
#   libmicrohttpd (no TLS), libcurl (HTTP/1.1 and HTTP/2, OpenSSL, c-ares, nothing else), libnghttp2, cmocka.
# libjansson.a, libssl.a, libcrypto.a and libcares.a come from Debian's -dev packages.
#
#   scripts/static-deps.sh [PREFIX]           default PREFIX: build/static-deps
#
# Result: PREFIX/{include,lib,lib/pkgconfig}, PREFIX/stamp (what was built). Use it with
#   PKG_CONFIG_PATH=PREFIX/lib/pkgconfig pkg-config --static --cflags --libs libcurl libmicrohttpd
#
# Nothing is done when PREFIX already holds the result of this very script, compiler and flags. The build happens in
# a temporary folder beside PREFIX and is moved into place at the end. Neither /etc/apt nor apt's state is changed.
#
# Environment:
#   CC, CFLAGS           compiler (default: HOST_TRIPLET-gcc or cc) and extra flags
#   HOST_TRIPLET         for a cross build, for example aarch64-linux-gnu (needs libssl-dev and libc-ares-dev of that
#                        architecture)
#   JOBS                 parallel jobs of make (default: number of CPUs)
#   SOURCE_DATE_EPOCH    default: date of each source package
#   STATIC_DEPS_CACHE    where source packages are kept (default: build/cache/sources)
#   STATIC_DEPS_SOURCES  deb-src lines (a file) to use instead of those derived from apt's configuration
#   STATIC_DEPS_HTTP2    0: libcurl without HTTP/2 (saves about 0.2 MB in a program)
set -euo pipefail

# Source packages, and the versions that were tried. If the archive has dropped one (a security update took its
# place), the current version of this Debian release is built instead, and that is said aloud.
PINS='libmicrohttpd=0.9.75-6
nghttp2=1.52.0-1+deb12u3
curl=7.88.1-10+deb12u15
cmocka=1.1.5-2.1'

say() { printf 'static-deps: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

top=$(cd "$(dirname "$0")/.." && pwd)
case ${1-} in
-h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
-*) say "unknown option $1"; exit 2 ;;
esac
prefix=${1:-$top/build/static-deps}
cache=${STATIC_DEPS_CACHE:-$top/build/cache/sources}
host=${HOST_TRIPLET-}
cc=${CC:-${host:+$host-gcc}}
cc=${cc:-cc}
http2=${STATIC_DEPS_HTTP2:-1}
jobs=${JOBS:-$(nproc)}
mkdir -p "$(dirname "$prefix")" "$cache"
prefix=$(cd "$(dirname "$prefix")" && pwd)/$(basename "$prefix")
cache=$(cd "$cache" && pwd)

# --- already there? -------------------------------------------------------------------------------------------------

# Two makes at once: the second waits, then finds the work done.
exec 9>"$prefix.lock"
flock 9

# $cc may carry words of its own ("ccache gcc").
read -r -a cc_words <<<"$cc"
command -v "${cc_words[0]}" >/dev/null || say "no compiler called ${cc_words[0]}"
key=$({ cat "$0"; "${cc_words[@]}" --version 2>/dev/null; echo "$host ${CFLAGS-} $http2"; } | sha256sum | cut -d' ' -f1)
if [ -f "$prefix/stamp" ] && grep -qx "key $key" "$prefix/stamp"; then
    exit 0
fi

# --- what must be installed -----------------------------------------------------------------------------------------

debian_arch() {
    case ${host:-$("${cc_words[@]}" -dumpmachine 2>/dev/null || dpkg --print-architecture)} in
    x86_64* | amd64) echo amd64 ;;
    aarch64* | arm64) echo arm64 ;;
    *) dpkg --print-architecture ;;
    esac
}

check_packages() {
    local arch missing='' pkg
    arch=$(debian_arch)
    local want="dpkg-dev make binutils pkg-config xz-utils ca-certificates libssl-dev:$arch libc-ares-dev:$arch"
    command -v "${cc_words[0]}" >/dev/null || want="gcc${host:+-$host} libc6-dev:$arch $want"
    for pkg in $want; do
        # -W knows virtual packages and "Multi-Arch: foreign" tools by their plain name.
        dpkg-query -W -f '${db:Status-Abbrev}\n' "$pkg" 2>/dev/null | grep -q '^ii' || missing="$missing $pkg"
    done
    [ -z "$missing" ] && return 0
    missing=${missing//":$(dpkg --print-architecture)"/}
    say "missing Debian packages; install them with"
    if [ "$arch" != "$(dpkg --print-architecture)" ] && ! dpkg --print-foreign-architectures | grep -qx "$arch"; then
        say "  dpkg --add-architecture $arch && apt-get update"
    fi
    say "  apt-get install --no-install-recommends$missing"
    exit 1
}
for tool in apt-get dpkg-query sha256sum; do
    command -v $tool >/dev/null || die "$tool is missing: this script works on Debian (or in a Debian container)"
done
check_packages

# --- source packages --------------------------------------------------------------------------------------------------

tmp=$(mktemp -d "$prefix.tmp.XXXXXX")
cleanup() { rm -rf "$tmp"; }
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# derive_sources APT_OPTIONS...: deb-src lines for the mirrors that apt already uses for this Debian release, with the same
# keys.
derive_sources() {
    local codename
    # shellcheck disable=SC1091
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    [ -n "$codename" ] || die "/etc/os-release names no VERSION_CODENAME"
    apt-get "$@" indextargets 'Created-By: Packages' 2>/dev/null | awk -v code="$codename" '
        function flush(   opt) {
            if (f["Component"] == "main" && (f["Origin"] == "" || f["Origin"] == "Debian") &&
                (f["Codename"] == code || f["Codename"] ~ "^" code "-" || f["Release"] == code ||
                 f["Release"] == code "-updates" || f["Release"] == code "-security") &&
                f["Release"] !~ /backports|proposed/) {
                opt = f["Signed-By"] ? "[signed-by=" f["Signed-By"] "] " : ""
                line = "deb-src " opt f["Repo-URI"] " " f["Release"] " main"
                if (!(line in seen)) { seen[line] = 1; print line }
            }
            delete f
        }
        /^$/ { flush(); next }
        { i = index($0, ": "); if (i) f[substr($0, 1, i - 1)] = substr($0, i + 2) }
        END { flush() }'
}

# apt with sources, lists and cache of its own; proxy settings and keys of the system still hold.
private_apt() {
    local tool=$1
    shift
    "$tool" -q -o Dir::Etc::sourcelist="$tmp/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$tmp/apt/lists" -o Dir::Cache="$tmp/apt/cache" -o APT::Sandbox::User="$(id -un)" \
        -o APT::Update::Post-Invoke::= -o APT::Update::Post-Invoke-Success::= "$@"
}

lists_ready=0
update_lists() {
    [ $lists_ready = 1 ] && return 0
    mkdir -p "$tmp/apt/lists/partial" "$tmp/apt/cache/archives/partial"
    if [ -n "${STATIC_DEPS_SOURCES-}" ]; then
        cp "$STATIC_DEPS_SOURCES" "$tmp/apt/sources.list"
    else
        derive_sources >"$tmp/apt/sources.list"
        # apt names no mirror whose lists it has not read (a fresh container): let it read them into a place of our own.
        if [ ! -s "$tmp/apt/sources.list" ]; then
            local own=(-o "Dir::State::lists=$tmp/apt/lists" -o "Dir::Cache=$tmp/apt/cache" -o "APT::Sandbox::User=$(id -un)")
            apt-get -q "${own[@]}" update >"$tmp/apt/log" 2>&1 || { cat "$tmp/apt/log" >&2; die "apt-get update failed"; }
            derive_sources "${own[@]}" >"$tmp/apt/sources.list"
        fi
    fi
    [ -s "$tmp/apt/sources.list" ] ||
        die "apt has no source of this Debian release; give a file of deb-src lines in STATIC_DEPS_SOURCES"
    say "reading the lists of source packages from $(awk '{print $(NF-2)}' "$tmp/apt/sources.list" | sort -u | tr '\n' ' ')"
    private_apt apt-get update >"$tmp/apt/log" 2>&1 || { cat "$tmp/apt/log" >&2; die "apt-get update failed"; }
    lists_ready=1
}

# The file name of a version has no epoch.
dsc_of() { echo "$1_${2#*:}.dsc"; }

# 0 if the .dsc and every file that it lists are in the cache with the right checksum.
cached() {
    local dsc=$cache/$1
    [ -f "$dsc" ] || return 1
    (cd "$cache" && awk '/^[^ ]/ { on = ($1 == "Checksums-Sha256:") } on && /^ / { print $1 "  " $3 }' "$1" |
        sha256sum --quiet --check) >/dev/null 2>&1
}

# fetch NAME PINNED: makes the source available in the cache; sets `version` to what was got.
fetch() {
    local name=$1 pinned=$2 versions newest v
    version=$pinned
    cached "$(dsc_of "$name" "$version")" && return 0
    update_lists
    versions=$(private_apt apt-cache showsrc --only-source "$name" 2>/dev/null | sed -n 's/^Version: //p')
    if ! grep -qxF "$pinned" <<<"$versions"; then
        newest=''
        for v in $versions; do
            if [ -z "$newest" ] || dpkg --compare-versions "$v" gt "$newest"; then newest=$v; fi
        done
        [ -n "$newest" ] || die "the archive has no source package $name"
        say "ATTENTION: $name $pinned is not in the archive any more, building $newest (update PINS in $0)"
        version=$newest
        cached "$(dsc_of "$name" "$version")" && return 0
    fi
    say "downloading $name $version"
    (cd "$cache" && private_apt apt-get source --download-only --only-source "$name=$version") >"$tmp/apt/log" 2>&1 ||
        { cat "$tmp/apt/log" >&2; die "downloading the source of $name $version failed"; }
    cached "$(dsc_of "$name" "$version")" || die "the source of $name $version came incomplete"
}

# unpack NAME VERSION: source with Debian's patches in $tmp/NAME. All files get one time, so that make does not want to
# run autoconf because a patch touched configure.ac.
unpack() {
    local date
    dpkg-source --no-check -x "$cache/$(dsc_of "$1" "$2")" "$tmp/$1" >"$tmp/log" 2>&1 ||
        { cat "$tmp/log" >&2; die "unpacking $1 failed"; }
    date=$(dpkg-parsechangelog -l "$tmp/$1/debian/changelog" -S Timestamp)
    epoch=${SOURCE_DATE_EPOCH:-$date}
    find "$tmp/$1" -exec touch -h -d "@$epoch" {} +
}

# --- building ---------------------------------------------------------------------------------------------------------

out=$tmp/prefix
mkdir -p "$out/include" "$out/lib/pkgconfig"
if [ -n "$host" ]; then
    ar=$host-ar objcopy=$host-objcopy ranlib=$host-ranlib
    libdir=/usr/lib/$host
    export PKG_CONFIG_LIBDIR=$libdir/pkgconfig:/usr/share/pkgconfig
else
    ar=ar objcopy=objcopy ranlib=ranlib
fi

# -ffunction-sections lets a program that links with --gc-sections drop what it does not use.
flags() {
    echo "-O2 -g0 -fPIE -ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2" \
        "-ffile-prefix-map=$tmp=/usr/src ${CFLAGS-}"
}

# logged WHAT COMMAND...: the output is shown only if the command fails.
logged() {
    local what=$1
    shift
    SOURCE_DATE_EPOCH=$epoch "$@" >"$tmp/log" 2>&1 </dev/null || { tail -n 60 "$tmp/log" >&2; die "$what failed"; }
}

# configured NAME OPTIONS...: autoconf package, static only, installed into $tmp/NAME.inst
configured() {
    local name=$1
    shift
    say "building $name $version"
    cd "$tmp/$name"
    logged "configure of $name" ./configure ${host:+--host="$host" --build="$("$tmp/$name/config.guess" 2>/dev/null || gcc -dumpmachine)"} \
        --prefix=/usr --libdir=/usr/lib --disable-shared --enable-static --disable-dependency-tracking --with-pic=no \
        CC="$cc" CFLAGS="$(flags)" AR="$ar" RANLIB="$ranlib" "$@"
    logged "make of $name" make -j"$jobs" -C "${subdir:-.}" V=1
    logged "make install of $name" make -C "${subdir:-.}" install DESTDIR="$tmp/$name.inst"
    cd "$top"
}

# archive NAME SOURCES...: compiles the files with $extra and puts them into lib/libNAME.a
archive() {
    local name=$1 src objs=()
    shift
    say "building $name $version"
    mkdir -p "$tmp/obj-$name"
    for src in "$@"; do
        objs+=("$tmp/obj-$name/$(basename "$src" .c).o")
        # shellcheck disable=SC2046,SC2086
        logged "compiling $src" "${cc_words[@]}" $(flags) $extra -c "$src" -o "${objs[-1]}"
    done
    logged "ar" "$ar" crD "$out/lib/lib$name.a" "${objs[@]}"
}

# pc FILE DESCRIPTION VERSION LIBS REQUIRES_PRIVATE LIBS_PRIVATE: a pkg-config file that survives moving the folder.
pc() {
    # shellcheck disable=SC2016
    printf '%s\n' 'prefix=${pcfiledir}/../..' '' "Name: $1" "Description: $2 (static, built from Debian'\''s source)" \
        "Version: ${3%%-*}" 'Cflags: -I${prefix}/include' "Libs: -L\${prefix}/lib $4" "Requires.private: $5" \
        "Libs.private: $6" | sed "s/'\\\\''/'/" >"$out/lib/pkgconfig/$1.pc"
}

build_libmicrohttpd() {
    subdir=src/microhttpd configured libmicrohttpd --disable-https --disable-doc --disable-examples --disable-curl --disable-nls \
        --disable-bauth --disable-dauth --disable-postprocessor --disable-httpupgrade --enable-epoll=yes --with-threads=posix
    cp "$tmp/libmicrohttpd.inst/usr/lib/libmicrohttpd.a" "$out/lib/"
    cp "$tmp/libmicrohttpd/src/include/microhttpd.h" "$out/include/"
    pc libmicrohttpd "HTTP server library" "$version" -lmicrohttpd '' -pthread
}

build_nghttp2() {
    local src=$tmp/nghttp2/lib v=${version%%-*} extra major minor patch
    IFS=. read -r major minor patch <<<"$v"
    mkdir -p "$out/include/nghttp2"
    # What configure would write: 1.52.0 -> 0x013400
    sed -e "s/@PACKAGE_VERSION@/$v/" \
        -e "s/@PACKAGE_VERSION_NUM@/$(printf '0x%02x%02x%02x' "$major" "$minor" "$patch")/" \
        "$src/includes/nghttp2/nghttp2ver.h.in" >"$out/include/nghttp2/nghttp2ver.h"
    cp "$src/includes/nghttp2/nghttp2.h" "$out/include/nghttp2/"
    extra="-I$out/include -I$src/includes -DNGHTTP2_STATICLIB -DHAVE_ARPA_INET_H=1 -DHAVE_NETINET_IN_H=1"
    archive nghttp2 "$src"/nghttp2_*.c
    pc libnghttp2 "HTTP/2 library" "$version" -lnghttp2 '' ''
}

# Proxies stay in: a user may need one to reach his cluster (the load generator itself sets none).
build_curl() {
    local args=(--with-openssl --enable-ares --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt --without-ca-path
        --enable-http --enable-proxy --enable-ipv6 --enable-unix-sockets --enable-http-auth --enable-verbose)
    local off
    for off in ftp file ldap ldaps rtsp dict telnet tftp pop3 imap smb smtp gopher mqtt manual libcurl-option ntlm ntlm-wb tls-srp \
        cookies doh dateparse netrc progress-meter alt-svc hsts websockets threaded-resolver sspi get-easy-options \
        openssl-auto-load-config symbol-hiding; do
        args+=("--disable-$off")
    done
    for off in zlib brotli zstd gssapi libpsl librtmp libssh libssh2 libidn2 libgsasl nghttp3 ngtcp2 zsh-functions-dir fish-functions-dir; do
        args+=("--without-$off")
    done
    if [ "$http2" = 1 ]; then
        args+=("--with-nghttp2=$out" CPPFLAGS=-DNGHTTP2_STATICLIB)
    else
        args+=(--without-nghttp2)
    fi
    PKG_CONFIG_PATH=$out/lib/pkgconfig subdir=lib configured curl "${args[@]}"
    logged "make install of curl's headers" make -C "$tmp/curl/include" install DESTDIR="$tmp/curl.inst"
    cp "$tmp/curl.inst/usr/lib/libcurl.a" "$out/lib/"
    cp -r "$tmp/curl.inst/usr/include/curl" "$out/include/"
    local requires="libcares libssl libcrypto"
    [ "$http2" = 1 ] && requires="libnghttp2 $requires"
    pc libcurl "HTTP client library" "$version" -lcurl "$requires" -pthread
    sed -i 's/^Cflags:.*/& -DCURL_STATICLIB/' "$out/lib/pkgconfig/libcurl.pc"
}

# One source file; Debian's own build wants cmake for it.
build_cmocka() {
    local src=$tmp/cmocka extra
    extra="-I$src/include -DHAVE_MALLOC_H=1 -DHAVE_INTTYPES_H=1 -DHAVE_SIGNAL_H=1 -DHAVE_STRINGS_H=1 -DHAVE_UNISTD_H=1
        -DHAVE_GCC_THREAD_LOCAL_STORAGE=1 -DHAVE_CLOCK_REALTIME=1 -DHAVE_SIGLONGJMP=1 -DHAVE_STRSIGNAL=1
        -DHAVE_STRUCT_TIMESPEC=1 -D_GNU_SOURCE -Wno-attributes"
    archive cmocka "$src/src/cmocka.c"
    cp "$src"/include/cmocka*.h "$out/include/"
    pc cmocka "Unit testing library" "$version" -lcmocka '' ''
}

built=''
for pin in $PINS; do
    name=${pin%%=*}
    [ "$name" = nghttp2 ] && [ "$http2" != 1 ] && continue
    fetch "$name" "${pin#*=}"
    unpack "$name" "$version"
    "build_$name"
    built="$built$name $version"$'\n'
done

# Same bytes for the same source: no times, owners or debug sections in the archives.
for lib in "$out"/lib/*.a; do
    "$objcopy" --enable-deterministic-archives --strip-debug "$lib"
done
if grep -rlF "$tmp" "$out" >"$tmp/log"; then
    say "warning: these files name the build folder: $(tr '\n' ' ' <"$tmp/log")"
fi
{ echo "key $key"; printf '%s' "$built"; } >"$out/stamp"

# --- into place -------------------------------------------------------------------------------------------------------

[ -e "$prefix" ] && mv "$prefix" "$tmp/old"
mv "$out" "$prefix"
say "done: $prefix ($(printf '%s' "$built" | tr '\n' ',' | sed 's/,$//; s/,/, /g'))"
