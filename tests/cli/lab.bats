#!/usr/bin/env bats
# headroom: commands, usage errors, and how it finds the other programs.
# tests/run: parallel

bats_require_minimum_version 1.5.0

setup() {
  load ../lib/common
  need headroom
  headroom=$build/headroom
  cd "$BATS_TEST_TMPDIR" || return 1
}

# fake NAME: a program beside a copy of headroom in ./bin; its shell text is read from stdin
fake() {
  mkdir -p bin
  [ -x bin/headroom ] || cp "$headroom" bin/
  { echo '#!/bin/sh'; cat; } >"bin/$1"
  chmod +x "bin/$1"
}

@test "without a command: the commands on stderr, status 2" {
  run --separate-stderr "$headroom"
  [ "$status" = 2 ]
  [ -z "$output" ]
  [[ $stderr == *demo*study*sidecar*probe*load* ]]
}

@test "--help begins with the question and an example" {
  run --separate-stderr "$headroom" --help
  [ "$status" = 0 ]
  [ -z "$stderr" ]
  [[ $output == *"where is it waiting?"*"headroom demo"* ]]
}

@test "--version" {
  run --separate-stderr "$headroom" --version
  [ "$status" = 0 ]
  [[ $output =~ ^headroom\ [^\ ]+$ ]]
}

@test "a name that is repeated is tolerated" {
  run "$headroom" headroom --version
  [ "$status" = 0 ]
  [[ $output == "headroom "* ]]
}

@test "an unknown command names the nearest one" {
  run --separate-stderr "$headroom" dmo
  [ "$status" = 2 ]
  [ "$stderr" = "headroom: unknown command 'dmo': did you mean demo?" ]
}

@test "an unknown command that is like none" {
  run --separate-stderr "$headroom" xyzzyxyzzy
  [ "$status" = 2 ]
  [[ $stderr == *"--help lists them" ]]
}

@test "study without a number, or with one that there is not" {
  run --separate-stderr "$headroom" study
  [ "$status" = 2 ]
  [[ $stderr == *"headroom study 1"* ]]
  run --separate-stderr "$headroom" study 99
  [ "$status" = 2 ]
  [[ $stderr == "headroom study: there is no study '99'"* ]]
}

@test "options of a study: --help tells examples first and the exit statuses last" {
  run --separate-stderr "$headroom" study 1 --help
  [ "$status" = 0 ]
  [[ $output == *Examples:*--full*--limiter*"Exit status"* ]]
}

@test "wrong options of a study end with 2 and make no results" {
  local words
  for words in "--seconds 0" "--seconds 1e3" "--seconds 7200" "--repetitions 0" "--phase 100" "--phase x" "--phase -1" \
    "--limiter v3" "--rounds 0" "-o yaml" "--lead 1ms" "surplus" "--fulll"; do
    # shellcheck disable=SC2086 # option and value
    run --separate-stderr "$headroom" study 1 $words
    echo "$words: $status $stderr"
    [ "$status" = 2 ]
    [ "$(wc -l <<<"$stderr")" = 1 ]
    [[ $stderr == "headroom study 1: "* ]]
  done
  [ ! -e results ]
}

@test "the sentence about an unknown option names the nearest" {
  run --separate-stderr "$headroom" demo --secnds 3
  [ "$status" = 2 ]
  [[ $stderr == *"did you mean --seconds?" ]]
}

@test "sidecar, probe and load become the programs beside headroom, with all arguments" {
  local name
  for name in sidecar probe load; do
    fake "headroom-$name" <<<"echo \"$name in \$(basename \"\$0\"): \$# \$*\"; exit 7"
    run --separate-stderr bin/headroom "$name" --x "a b"
    [ "$status" = 7 ]
    [ "$output" = "$name in headroom-$name: 2 --x a b" ]
  done
}

@test "beside headroom comes before PATH" {
  mkdir path
  printf '#!/bin/sh\necho from PATH\n' >path/headroom-load
  chmod +x path/headroom-load
  cp "$headroom" headroom-copy
  PATH=$PWD/path:$PATH run ./headroom-copy load
  [ "$output" = "from PATH" ]
  fake headroom-load <<<"echo beside"
  PATH=$PWD/path:$PATH run bin/headroom load
  [ "$output" = beside ]
}

@test "a program that is nowhere: one sentence, status 1" {
  mkdir alone
  cp "$headroom" alone/
  run --separate-stderr env PATH=/nonexistent "$PWD/alone/headroom" probe
  [ "$status" = 1 ]
  [[ $stderr == "headroom: headroom-probe is neither beside headroom nor on PATH"* ]]
  run --separate-stderr env PATH=/nonexistent "$PWD/alone/headroom" demo
  [ "$status" = 1 ]
  [[ $stderr == "headroom demo: headroom-probe is neither"* ]]
}

@test "a way of limiting that does not work: one sentence that says why and what to do" {
  fake headroom-probe <<<"exit 1"
  fake headroom-load <<<"exit 1"
  fake headroom-sidecar <<<"exit 1"
  run --separate-stderr env PATH=/nonexistent "$PWD/bin/headroom" demo --limiter systemd
  [ "$status" = 1 ]
  [ -z "$output" ]
  [ "$(wc -l <<<"$stderr")" = 1 ]
  [[ $stderr == *"by --limiter systemd is not possible here: "*"run headroom as root"* ]]
  [ ! -e results ]
}
