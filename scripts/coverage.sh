#!/bin/bash
# Runs the unit tests of a build with COVERAGE=1 and prints which share of a folder's lines they run.
#
#   scripts/coverage.sh BUILD FOLDER      as `make coverage` does
#   scripts/coverage.sh -v BUILD FOLDER   and the lines that were never run
set -euo pipefail

verbose=
if [ "${1-}" = -v ]; then verbose=1 && shift; fi
build=${1:?build folder} folder=${2:?source folder}
cd "$(dirname "$0")/.."
find "$build" -name '*.gcda' -delete
tests/run --build "$build" "unit/$folder" || { echo "coverage: tests failed" >&2; exit 1; }

# In a .gcov file: "#####" or "=====" never run, "-" no code, else how often. GCC names the source in the first line.
for object in "$build/$folder"/*.o; do gcov -t -o "$build/$folder" "$object" 2>/dev/null; done | awk -v verbose="$verbose" -v prefix="$folder/" '
    / 0:Source:/ { sub(/.*0:Source:(\.\/)?/, ""); source = $0; wanted = index(source, prefix) == 1 && source ~ /\.c$/; next }
    !wanted { next }
    {
        split($0, part, ":"); count = part[1]; gsub(/[ *]/, "", count)
        if (count == "-") next
        lines[source]++
        if (count ~ /^[#=]+$/) { missed[source]++; if (verbose) print source ":" part[2] + 0 ":" substr($0, index($0, part[3])) }
    }
    END {
        for (s in lines) {
            printf "%-28s %5.1f %% of %4d lines\n", s, 100 * (lines[s] - missed[s]) / lines[s], lines[s] | "sort"
            all += lines[s]; not_run += missed[s]
        }
        close("sort")
        if (!all) { print "coverage: nothing was measured"; exit 1 }
        printf "%-28s %5.1f %% of %4d lines\n", "all of " prefix, 100 * (all - not_run) / all, all
    }'
