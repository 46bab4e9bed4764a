# Read by the scripts that build images: which architecture, and the compiler for it. TARGETARCH=amd64|arm64; default: this
# machine's. Another one than this machine's is compiled by Debian's cross compiler, and its programs run in qemu-user.
# shellcheck shell=bash disable=SC2034
own_arch=$(dpkg --print-architecture)
arch=${TARGETARCH:-$own_arch}
emulator=''
make_options=(STATIC=1 B=build/static STATIC_PREFIX="$PWD/build/static-deps")
case $arch in
amd64) triplet=x86_64-linux-gnu cpu=x86_64 ;;
arm64) triplet=aarch64-linux-gnu cpu=aarch64 ;;
*) echo "TARGETARCH=$arch is not supported: amd64 or arm64" >&2; exit 1 ;;
esac
if [ "$arch" != "$own_arch" ]; then
    export HOST_TRIPLET=$triplet PKG_CONFIG_LIBDIR=/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig
    make_options+=(CC="$triplet-gcc" AR="$triplet-ar" OBJCOPY="$triplet-objcopy" STRIP="$triplet-strip")
    emulator=qemu-$cpu-static
fi
