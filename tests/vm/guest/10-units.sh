#!/bin/sh
# vm: psi=1
# Every static unit test binary below /tests/unit (cmocka) on this kernel; each of its tests is one test here. The current
# folder is /, so that tests/fixtures is found where it is in the source tree.
# shellcheck source=/dev/null
. /vm/tap.sh

# results NAME FILE: passes the TAP of one binary on. A binary with several groups prints several plans.
results() {
    # shellcheck disable=SC2154 # of tap.sh
    planned=0 seen=0 bad_before=$tap_bad
    while IFS= read -r line; do
        case $line in
        1..[0-9]*) planned=$((planned + ${line#1..})) ;;
        'ok '* | 'not ok '*)
            seen=$((seen + 1)) name=${line#*ok } name=${name#*[0-9] }
            case $line in
            *' # SKIP'*) skip "$1: ${name#\# SKIP }" "the test says so" ;; # cmocka 1.1.5: "not ok 2 # SKIP name"
            'not ok'*) not_ok "$1: ${name#- }" ;;
            *) ok "$1: ${name#- }" ;;
            esac
            ;;
        ?*) diag "${line#\# }" ;;
        esac
    done <"$2"
}

found=0
for binary in $(find /tests/unit -type f | sort); do
    name=${binary#/tests/unit/}
    found=$((found + 1))
    CMOCKA_MESSAGE_OUTPUT=TAP ns --plain --timeout 60 "$binary" >/tmp/output 2>&1
    status=$?
    results "$name" /tmp/output
    if [ $seen = 0 ]; then
        not_ok "$name: no test ran (status $status)"
    elif [ $seen != $planned ]; then
        not_ok "$name: planned $planned tests, ran $seen (status $status)"
    elif [ $status != 0 ] && [ "$tap_bad" = "$bad_before" ]; then
        not_ok "$name: status $status though every test passed"
    fi
done

[ $found != 0 ] || { echo "1..0 # SKIP no static unit tests were built"; exit 0; }
diag "$found unit test programs"
tap_end
