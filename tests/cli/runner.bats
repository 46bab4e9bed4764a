#!/usr/bin/env bats
# The test runner itself: what it must count as a failure. A small tree with made-up suites.
# tests/run: parallel

setup() {
  load ../lib/common
  tree=$BATS_TEST_TMPDIR/tree
  mkdir -p "$tree/tests/unit/lib" "$tree/tests/cli" "$tree/tests/fuzz" "$tree/build/tests/unit/lib"
  cp "$top/tests/run" "$tree/tests/run"
  cp "$top/tests/fuzz/inputs.py" "$tree/tests/fuzz"
  unset HEADROOM_TEST_STRICT HEADROOM_TEST_TALLY
}

# unit NAME: a made-up unit test program; its shell text is read from stdin
unit() {
  touch "$tree/tests/unit/lib/test_$1.c"
  { echo '#!/bin/bash'; cat; } >"$tree/build/tests/unit/lib/test_$1"
  chmod +x "$tree/build/tests/unit/lib/test_$1"
}

# bats_file LINE...: a made-up bats file
bats_file() { printf '%s\n' "$@" >"$tree/tests/cli/x.bats"; }

# totals STATUS LINE: runs everything, compares the exit status and the last line
totals() {
  run "$tree/tests/run" --build "$tree/build"
  echo "$output"
  [ "$status" = "$1" ]
  [ "${lines[-1]}" = "$2" ]
}

@test "all is well" {
  unit a <<<'printf "1..2\nok 1 - one\nok 2 - two\n"'
  totals 0 "2 passed, 0 failed, 0 skipped"
}

@test "a cmocka program with two groups prints two plans" {
  unit a <<<'printf "1..1\nok 1 - one\n1..2\nok 1 - two\nok 2 - three\n"'
  totals 0 "3 passed, 0 failed, 0 skipped"
}

@test "nothing to run is a failure" {
  totals 1 "0 passed, 0 failed, 0 skipped"
}

@test "a failing test" {
  unit a <<<'printf "1..2\nok 1 - one\nnot ok 2 - two\n# 3 is not 4\n"; exit 1'
  totals 1 "1 passed, 1 failed, 0 skipped"
  [[ $output == *"not ok 2 - two"* ]]
  [[ $output == *"3 is not 4"* ]]
}

@test "a failing test whose program ends with 0" {
  unit a <<<'printf "1..1\nnot ok 1 - one\n"'
  totals 1 "0 passed, 1 failed, 0 skipped"
}

@test "a program that ends with 1 though all its tests passed" {
  unit a <<<'printf "1..1\nok 1 - one\n"; exit 1'
  totals 1 "1 passed, 1 failed, 0 skipped"
}

@test "a crash in the middle" {
  unit a <<<'printf "1..2\nok 1 - one\n"; kill -SEGV $$'
  totals 1 "1 passed, 2 failed, 0 skipped"
  [[ $output == *"signal 11"* ]]
}

@test "fewer results than planned" {
  unit a <<<'printf "1..3\nok 1 - one\nok 2 - two\n"'
  totals 1 "2 passed, 1 failed, 0 skipped"
}

@test "more results than planned" {
  unit a <<<'printf "1..1\nok 1 - one\nok 2 - two\n"'
  totals 1 "2 passed, 1 failed, 0 skipped"
}

@test "no plan" {
  unit a <<<'printf "ok 1 - one\n"'
  totals 1 "1 passed, 1 failed, 0 skipped"
}

@test "no output at all" {
  unit a <<<'exit 0'
  totals 1 "0 passed, 1 failed, 0 skipped"
}

@test "an empty plan without a reason" {
  unit a <<<'echo 1..0'
  totals 1 "0 passed, 1 failed, 0 skipped"
}

@test "numbers out of order" {
  unit a <<<'printf "1..2\nok 2 - one\nok 1 - two\n"'
  run "$tree/tests/run" --build "$tree/build"
  [ "$status" = 1 ]
}

@test "a test that is to do is not done" {
  unit a <<<'printf "1..2\nok 1 - one\nok 2 - two # TODO later\n"'
  totals 1 "1 passed, 1 failed, 0 skipped"
}

@test "Bail out" {
  unit a <<<'printf "1..1\nok 1 - one\nBail out! no memory\n"'
  totals 1 "1 passed, 1 failed, 0 skipped"
}

@test "a unit test that was not built" {
  touch "$tree/tests/unit/lib/test_a.c"
  unit b <<<'printf "1..1\nok 1 - one\n"'
  totals 1 "1 passed, 1 failed, 0 skipped"
}

@test "skips are counted, and are failures in strict mode" {
  unit a <<<'printf "1..2\nok 1 - one\nnot ok 2 # SKIP two\n"'
  totals 0 "1 passed, 0 failed, 1 skipped"
  HEADROOM_TEST_STRICT=1 totals 1 "1 passed, 1 failed, 0 skipped"
}

@test "strict mode lets pass what the host cannot do" {
  bats_file '@test "one" { true; }' '@test "two" { skip "not on this host: no cgroup v2"; }'
  HEADROOM_TEST_STRICT=1 totals 0 "1 passed, 0 failed, 1 skipped"
}

@test "a whole suite that is skipped" {
  mkdir "$tree/tests/vm"
  printf '#!/bin/sh\necho "1..0 # SKIP no qemu"\n' >"$tree/tests/vm/run-all"
  chmod +x "$tree/tests/vm/run-all"
  unit a <<<'printf "1..1\nok 1 - one\n"'
  totals 0 "1 passed, 0 failed, 1 skipped"
  HEADROOM_TEST_STRICT=1 totals 1 "1 passed, 1 failed, 0 skipped"
}

@test "only skips: nothing was tested" {
  unit a <<<'printf "1..1\nok 1 - one # SKIP why not\n"'
  totals 1 "0 passed, 0 failed, 1 skipped"
}

@test "a suite that hangs is ended, with everything that it started" {
  bats_file '# tests/run: limit 1' "@test 'one' { sleep 1000 & echo \$! >$BATS_TEST_TMPDIR/pid; wait; }"
  run "$tree/tests/run" --build "$tree/build"
  [ "$status" = 1 ]
  [[ $output == *"took longer than 1 s"* ]]
  wait_until 5 no_process "$(cat "$BATS_TEST_TMPDIR/pid")"
}

@test "a bats file that does not parse" {
  bats_file '@test "one" { if'
  run "$tree/tests/run" --build "$tree/build"
  [ "$status" = 1 ]
}

@test "a wish that is misspelt" {
  bats_file '# tests/run: paralell' '@test "one" { true; }'
  totals 1 "0 passed, 1 failed, 0 skipped"
}

@test "options of a developer do not reach the tests" {
  # shellcheck disable=SC2016 # for the made-up program
  unit a <<<'echo 1..1; [ -z "$HEADROOM_PID$HEADROOM_OUTPUT" ] && echo "ok 1"'
  HEADROOM_PID=1 HEADROOM_OUTPUT=text totals 0 "1 passed, 0 failed, 0 skipped"
}

@test "one suite by its name; an unknown name is an error" {
  unit a <<<'printf "1..1\nok 1 - one\n"'
  unit b <<<'printf "1..1\nnot ok 1 - one\n"'
  run "$tree/tests/run" --build "$tree/build" unit/lib/test_a
  [ "$status" = 0 ]
  run "$tree/tests/run" --build "$tree/build" unit/lib/test_c
  [ "$status" = 1 ]
  [[ $output == *"no suite 'unit/lib/test_c'"* ]]
}

@test "the totals are appended to HEADROOM_TEST_TALLY" {
  unit a <<<'printf "1..1\nok 1 - one\n"'
  HEADROOM_TEST_TALLY=$BATS_TEST_TMPDIR/tally totals 0 "1 passed, 0 failed, 0 skipped"
  [ "$(cat "$BATS_TEST_TMPDIR/tally")" = "1 0 0" ]
}

@test "interrupted: what runs is ended" {
  bats_file "@test 'one' { sleep 1000 & echo \$! >$BATS_TEST_TMPDIR/pid; wait; }"
  "$tree/tests/run" --build "$tree/build" 3>&- &
  runner=$!
  wait_until 10 test -s "$BATS_TEST_TMPDIR/pid"
  kill -TERM $runner
  status=0
  wait $runner || status=$?
  [ "$status" = 143 ]
  wait_until 5 no_process "$(cat "$BATS_TEST_TMPDIR/pid")"
}
