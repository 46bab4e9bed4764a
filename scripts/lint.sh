#!/bin/bash
# Everything that can be found without running the programs: formatting, static analysis, shell scripts, who may include
# whom, white space. Prints what is wrong; status 1 if anything is.
#
#   scripts/lint.sh [--fix] [CHECK...]     format, includes, text, shell, python, manifests, cppcheck, tidy (default: all)
#
# --fix lets clang-format rewrite the files. What each disabled check of clang-tidy would do is told in .clang-tidy; its
# results are kept in build/lint, by the contents of the file and of all headers.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
export LC_ALL=C
clang_format=${CLANG_FORMAT:-clang-format-14}
clang_tidy=${CLANG_TIDY:-clang-tidy-14}
programs="sidecar probe-app load lab"

fix='' checks=()
for word in "$@"; do
    case $word in
    --fix) fix=1 ;;
    format | includes | text | shell | python | manifests | cppcheck | tidy) checks+=("$word") ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
    esac
done
[ ${#checks[@]} -gt 0 ] || checks=(format includes text shell python manifests cppcheck tidy)

# All files of the project, also those that are not committed yet.
if [ -e .git ]; then
    list() { git ls-files -z -co --exclude-standard "$@" | sort -zu | while IFS= read -r -d '' f; do [ ! -f "$f" ] || printf '%s\0' "$f"; done; }
else
    list() {
        find . -path ./build -prune -o -path ./results -prune -o -type f -print0 | sed -z 's|^\./||' | sort -z |
            if [ $# -gt 0 ]; then grep -zE "\.($(printf '%s|' "${@#\*.}" | sed 's/|$//'))\$"; else cat; fi
    }
fi
mapfile -d '' -t c_files < <(list '*.c' '*.h')

bad=0
complain() { printf '%s\n' "$*"; bad=1; }

# --- formatting -------------------------------------------------------------------------------------------------------

check_format() {
    local file
    if [ -n "$fix" ]; then
        "$clang_format" -i "${c_files[@]}"
    else
        for file in "${c_files[@]}"; do
            "$clang_format" --dry-run -Werror "$file" 2>/dev/null ||
                complain "$file: is not formatted (scripts/lint.sh --fix format)"
        done
    fi
}

# --- who includes whom --------------------------------------------------------------------------------------------------

# "foreign header: the folders that may use it", in one file each
foreign_owners='jansson.h: lib
curl/: load lab
microhttpd.h: sidecar probe-app
openssl/: probe-app'

check_includes() {
    local folder file name header owners users pure
    # lib includes lib; a program its own folder and lib, never another program
    for folder in lib $programs; do
        for file in "$folder"/*.[ch]; do
            [ -f "$file" ] || continue
            while IFS= read -r name; do
                [[ $name != */* ]] || complain "$file: includes \"$name\": headers are included by their plain name"
                [ -f "$folder/$name" ] || [ -f "lib/$name" ] ||
                    complain "$file: includes \"$name\", which is neither in $folder/ nor in lib/"
            done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$file")
        done
    done
    # only one file of a folder knows a foreign library
    while IFS=: read -r header owners; do
        for folder in lib $programs; do
            users=$(grep -lE "^[ \t]*#[ \t]*include[ \t]*[<\"]$header" "$folder"/*.[ch] 2>/dev/null || true)
            [ -n "$users" ] || continue
            if [[ " $owners " != *" $folder "* ]]; then
                complain "$users: <$header> belongs to:$owners"
            elif [ "$(wc -w <<<"$users")" -gt 1 ]; then
                complain "only one file of $folder/ may include <$header>: ${users//$'\n'/ }"
            fi
        done
    done <<<"$foreign_owners"
    # a header whose first comment says that it is pure: its .c makes no system call
    for pure in lib/*.h; do
        sed '/\*\//q' "$pure" | grep -qE '(^|[ .])Pure\.' || continue
        file=${pure%.h}.c
        ! grep -nE '#include <(fcntl|unistd|poll|signal|time|dirent|pthread|sys/.*)\.h>|#include "(clock|textfile|child)\.h"' "$file" ||
            complain "$file: $pure says that it is pure"
    done
    for file in "${c_files[@]}"; do
        [ "$(wc -l <"$file")" -le 1000 ] || complain "$file: more than 1000 lines: divide it"
    done
}

# --- text ----------------------------------------------------------------------------------------------------------------

check_text() {
    local file
    while IFS= read -r -d '' file; do
        case $file in tests/fuzz/seeds/* | tests/fuzz/corpus/* | tests/fixtures/*/root/* | tests/fixtures/*/root.*/* | tests/fixtures/*/proc/*) continue ;; esac
        grep -qI '' "$file" || continue
        ! grep -nH '[[:blank:]]$' "$file" || complain "$file: white space at the end of a line"
        ! grep -nHP '\r$' "$file" || complain "$file: carriage returns"
        [ -z "$(tail -c 1 "$file")" ] || complain "$file: no newline at its end"
    done < <(list)
}

# --- scripts -----------------------------------------------------------------------------------------------------------

first_line_says() { awk -v what="$1" 'FNR == 1 { if ($0 ~ what) printf "%s%c", FILENAME, 0; nextfile }' "${@:2}"; }

check_shell() {
    local every shell bats
    mapfile -d '' -t every < <(list)
    mapfile -d '' -t shell < <(first_line_says '^#!.*[/ ](ba)?sh( |$)' "${every[@]}")
    mapfile -d '' -t bats < <(list '*.bats')
    # SC1091: files that are sourced are checked on their own; SC2317: functions that are called by their name in a variable
    # or a trap are taken for unreachable; SC2016: single quotes for awk, sed and bash -c are meant
    shellcheck -x -S warning -e SC1091,SC2317,SC2016 "${shell[@]}" || bad=1
    if [ -f tests/lib/common.bash ]; then shellcheck -s bash -S warning -e SC1091,SC2317,SC2016 tests/lib/*.bash || bad=1; fi
    # SC2030, SC2031: every test is a subshell, that is the point; SC2154: of the loaded helpers; SC2164: set -e is on;
    # SC2314: check_negations knows the difference
    if [ ${#bats[@]} -gt 0 ]; then shellcheck -s bats -S warning -e SC1091,SC2016,SC2030,SC2031,SC2154,SC2164,SC2314,SC2317 "${bats[@]}" || bad=1; fi
    check_negations
}

# In a bats test, `! command` fails the test only as its last command.
check_negations() {
    local bats
    mapfile -d '' -t bats < <(list '*.bats')
    [ ${#bats[@]} -gt 0 ] || return 0
    awk 'FNR == 1 { held = "" }
        held != "" && $0 !~ /^}/ { print held ": `! command` does not fail a test in its middle"; bad = 1 }
        { held = /^[ \t]*! / && !/\|\|/ ? FILENAME ":" FNR : "" }
        END { exit bad }' "${bats[@]}" || bad=1
}

check_python() {
    local every scripts
    mapfile -d '' -t every < <(list)
    mapfile -d '' -t scripts < <(first_line_says '^#!.*python3' "${every[@]}")
    [ ${#scripts[@]} -gt 0 ] || return 0
    python3 - "${scripts[@]}" <<'END' || bad=1
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read(), path)
END
}

# --- manifests ---------------------------------------------------------------------------------------------------------

# What needs neither a network nor the programs; the types are checked by `make test`.
check_manifests() { tests/manifests/check build policy rules || bad=1; }

# --- static analysis --------------------------------------------------------------------------------------------------

check_cppcheck() {
    local folders=()
    for folder in lib $programs; do [ ! -d "$folder" ] || folders+=("$folder"); done
    # uninitvar: takes a pointer to a variable for a use of it; resourceLeak, memleak: do not know the cleanup attribute
    cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,performance,portability \
        --suppress=uninitvar --suppress=resourceLeak --suppress=memleak -j "$(nproc)" -D_GNU_SOURCE --std=c11 -Ilib "${folders[@]}" || bad=1
}

tidy_one() {
    local file=$1 key stamp
    key=$({ cat "$file" .clang-tidy && cat -- */*.h; } | sha256sum | cut -d' ' -f1)
    stamp=build/lint/$(tr / _ <<<"$file")
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ]; then return 0; fi
    # shellcheck disable=SC2086 # several flags
    "$clang_tidy" --quiet "$file" -- -std=gnu11 -D_GNU_SOURCE -Ilib -I. $tidy_flags >"$stamp.log" 2>&1 ||
        { grep -v ' warnings\? \(treated as errors\|generated\)' "$stamp.log"; rm -f "$stamp.log"; return 1; }
    rm -f "$stamp.log"
    echo "$key" >"$stamp"
}

check_tidy() {
    mkdir -p build/lint
    tidy_flags=$(pkg-config --cflags jansson libcurl libmicrohttpd libcrypto)
    export tidy_flags clang_tidy
    export -f tidy_one
    printf '%s\0' "${c_files[@]}" | grep -zE '^(lib|sidecar|probe-app|load|lab)/.*\.c$|^tests/(unit|fuzz)/.*\.c$' |
        xargs -0 -r -n 1 -P "$(nproc)" bash -c 'tidy_one "$1"' _ || bad=1
}

for check in "${checks[@]}"; do
    before=$bad bad=0
    "check_$check"
    if [ $bad = 0 ]; then echo "lint: $check: ok"; else echo "lint: $check: FAILED"; fi
    bad=$((bad | before))
done
exit $bad
