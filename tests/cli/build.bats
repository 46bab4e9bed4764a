#!/usr/bin/env bats
# The build from outside: packages, version, flags. Stand-ins for dpkg-query and apt-get: nothing is installed.
# tests/run: parallel

setup() {
  load ../lib/common
  tree=$BATS_TEST_TMPDIR/tree
  bin=$BATS_TEST_TMPDIR/bin
  mkdir -p "$tree" "$bin"
  cp -r "$top/Makefile" "$top/scripts" "$top/lib" "$tree/"
  # what the make that runs the tests was told is not for the one that is tested
  unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES SAN STATIC COVERAGE B V CC CFLAGS CPPFLAGS LDFLAGS PKG_CONFIG_PATH SAN STATIC COVERAGE B TESTS
}

# stand_in NAME: its shell text is read from stdin
stand_in() {
  { echo '#!/bin/bash'; cat; } >"$bin/$1"
  chmod +x "$bin/$1"
}

# A Debian on which exactly these packages are installed.
installed() {
  stand_in dpkg-query <<END
for word in "\$@"; do
  case " $* " in *" \$word "*) echo "ii  \$word" ;; esac
done
exit 1
END
}
user() { stand_in id <<<"echo $1"; }
apt() { stand_in apt-get <<<"echo \"\$*\" >>'$BATS_TEST_TMPDIR/apt'; exit ${1-0}"; }

@test "nothing is missing: silent" {
  installed gcc libc6-dev make pkgconf libjansson-dev libmicrohttpd-dev libssl-dev libcurl4-gnutls-dev
  user 1000
  PATH=$bin:$PATH run "$tree/scripts/deps.sh" build
  [ "$status" = 0 ]
  [ -z "$output" ]
}

@test "without root: the exact command, status 1, nothing done" {
  installed gcc libc6-dev make pkg-config libmicrohttpd-dev libssl-dev
  user 1000
  apt
  PATH=$bin:$PATH run "$tree/scripts/deps.sh" build
  echo "$output"
  [ "$status" = 1 ]
  [[ $output == *"sudo apt-get update && sudo apt-get install -y --no-install-recommends libjansson-dev libcurl4-openssl-dev"* ]]
  [ ! -e "$BATS_TEST_TMPDIR/apt" ]
}

@test "as root: says what it installs, then does it" {
  installed gcc libc6-dev make pkg-config libmicrohttpd-dev libssl-dev
  user 0
  apt
  PATH=$bin:$PATH run "$tree/scripts/deps.sh" build
  echo "$output"
  [ "$status" = 0 ]
  [[ ${lines[0]} == *"installing"*"libjansson-dev libcurl4-openssl-dev" ]]
  grep -q '^-q update' "$BATS_TEST_TMPDIR/apt"
  grep -q '^install -y --no-install-recommends libjansson-dev libcurl4-openssl-dev' "$BATS_TEST_TMPDIR/apt"
}

@test "an installation that fails is a failure" {
  installed gcc
  user 0
  apt 100
  PATH=$bin:$PATH run "$tree/scripts/deps.sh" build
  [ "$status" = 1 ]
}

@test "make CC=clang asks for clang" {
  installed gcc libc6-dev make pkg-config libjansson-dev libmicrohttpd-dev libssl-dev libcurl4-openssl-dev
  user 1000
  CC=clang PATH=$bin:$PATH run "$tree/scripts/deps.sh" build
  [ "$status" = 1 ]
  [[ $output == *"--no-install-recommends clang" ]]
}

@test "no Debian: names what is missing, goes on when nothing is" {
  # only a few tools on PATH, so that there is no dpkg-query
  for tool in bash sort printf; do ln -s "$(command -v $tool)" "$bin/"; done
  for tool in cc make; do stand_in $tool <<<"exit 0"; done
  stand_in pkg-config <<<'[ "$2" != libcurl ]'
  run env PATH="$bin" bash "$tree/scripts/deps.sh" build
  echo "$output"
  [ "$status" = 1 ]
  [[ $output == *"the development files of libcurl"* ]]
  [[ $output != *jansson* ]]
  stand_in pkg-config <<<'exit 0'
  run env PATH="$bin" bash "$tree/scripts/deps.sh" build
  [ "$status" = 0 ]
  [ -z "$output" ]
}

@test "an unknown purpose is a usage error" {
  run "$tree/scripts/deps.sh" nonsense
  [ "$status" = 2 ]
}

@test "make stops when packages are missing and cannot be installed" {
  installed gcc
  user 1000
  PATH=$bin:$PATH run make -C "$tree" build/lib/fault.o
  echo "$output"
  [ "$status" = 2 ]
  [[ $output == *"sudo apt-get install"* ]]
  [ ! -e "$tree/build/lib/fault.o" ]
}

@test "make clean and make help need no package, and print no error" {
  stand_in pkg-config <<<'echo "Package jansson was not found" >&2; exit 1'
  stand_in dpkg-query <<<'exit 1'
  PATH=$bin:$PATH run make -C "$tree" --no-print-directory clean
  [ "$status" = 0 ]
  [[ $output != *"not found"* ]]
  PATH=$bin:$PATH run make -C "$tree" --no-print-directory help
  [ "$status" = 0 ]
  [[ $output == *"make demo"* ]]
}

# compile_line ARGS...: what make would run for lib/opts.c
compile_line() { make -C "$tree" -n "$@" build/lib/opts.o | grep -- '-c -o'; }

@test "the version: unknown outside of a checkout, also below somebody else's" {
  git -C "$BATS_TEST_TMPDIR" init -q
  git -C "$BATS_TEST_TMPDIR" -c user.name=x -c user.email=x@example.com commit -q --allow-empty -m x
  line=$(compile_line)
  [[ $line == *"-DHEADROOM_VERSION='\"unknown\"'"* ]]
}

@test "the version: from git in a checkout" {
  git -C "$tree" init -q
  git -C "$tree" -c user.name=x -c user.email=x@example.com commit -q --allow-empty -m x
  git -C "$tree" tag v1.2.3
  line=$(compile_line)
  [[ $line == *"-DHEADROOM_VERSION='\"v1.2.3\"'"* ]]
}

@test "flags from outside are respected, and do not take ours away" {
  line=$(CFLAGS='-O3 -DFROM_ENV' compile_line CPPFLAGS=-DPRE)
  [[ $line == *-O3* && $line == *-DFROM_ENV* && $line == *-DPRE* && $line == *-Wconversion* && $line != *" -O2 "* ]]
  line=$(compile_line CC=other-cc)
  [[ $line == other-cc* ]]
}

@test "a header that changed, or other flags, make new objects; nothing else does" {
  cd "$tree"
  make -s build/lib/fault.o build/lib/units.o
  [ -z "$(make -s build/lib/fault.o build/lib/units.o)" ]
  touch lib/units.h
  run make build/lib/fault.o build/lib/units.o
  [[ $output == *lib/units.c* && $output != *lib/fault.c* ]]
  run make CFLAGS=-O1 build/lib/fault.o build/lib/units.o
  [[ $output == *lib/units.c* && $output == *lib/fault.c* ]]
}
