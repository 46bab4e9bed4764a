#!/usr/bin/env bats
# The benchmark's plumbing: what it does with figures, with what is missing, with a section that fails. No figure is judged.
# tests/run: parallel

bats_require_minimum_version 1.5.0

setup() {
    bench=$BATS_TEST_DIRNAME/../bench
    results=$BATS_TEST_TMPDIR/results
    docs=$BATS_TEST_TMPDIR/benchmarks.md
    mkdir "$results"
    cat >"$results/sidecar.json" <<'JSON'
{"section": "sidecar", "date": "2026-01-02 03:04 UTC", "quick": false, "version": "1.2", "busy_share": 0.25, "took_s": 9,
 "machine": {"cpu": "Fast", "cpus": 2, "virtual": true, "kernel": "6.1", "system": "Debian", "cgroup": "v2", "memory_mb": 512},
 "versions": {"wrk": "wrk 4.1"}, "missing": ["telegraf is not installed"], "notes": ["A note."],
 "goals": [{"goal": "below 3", "value": {"median": 1.5, "min": 1, "max": 2, "n": 3}, "met": true},
           {"goal": "above 9", "value": null, "met": null}],
 "tables": [{"title": "A title", "columns": [{"name": "", "digits": 0}, {"name": "CPU us", "digits": 1}, {"name": "n", "digits": 2}],
  "rows": [["ours", {"median": 1.5, "min": 1.0, "max": 2.25, "n": 3}, null],
           ["theirs", {"median": 7.0, "min": 7.0, "max": 7.0, "n": 1}, {"median": 4, "min": 3, "max": 5, "n": 3}]]}]}
JSON
}

python() { PYTHONPATH=$bench PYTHONDONTWRITEBYTECODE=1 python3 -c "$1"; }

@test "results become a page: figures with their spread, dates, goals, what is missing" {
    "$bench/render.py" --results "$results" --docs "$docs"
    grep -qF '| ours | 1.5 (1.0 to 2.2) | - |' "$docs"
    grep -qF '| theirs | 7.0 | 4 (3 to 5) |' "$docs"
    grep -qF '2026-01-02 03:04 UTC; headroom 1.2; full run.' "$docs"
    grep -qF 'busy 25% of the time' "$docs"
    grep -qF -- '- Goal: below 3: 1.5 (met)' "$docs"
    grep -qF -- '- Goal: above 9: - (not measured)' "$docs"
    grep -qF -- '- Missing: telegraf is not installed' "$docs"
    [ "$(grep -c '^## ' "$docs")" = 1 ]
}

@test "figures: nothing measured is no figure, ratios are taken turn by turn" {
    [ "$(python 'import common as c; print(c.figure([None, None]))')" = None ]
    [ "$(python 'import common as c; f = c.figure([3, 1, None, 2]); print(f["median"], f["min"], f["max"], f["n"])')" = "2 1 3 3" ]
    [ "$(python 'import common as c; f = c.ratio([1, 8, None, 5], [2, 2, 2, 0]); print(f["min"], f["max"], f["n"])')" = "0.5 4.0 2" ]
    [ "$(python 'import common as c; print(c.goal("x", None, lambda v: True)["met"], c.goal("x", c.figure([2]), lambda v: v < 2)["met"])')" = "None False" ]
}

@test "tools take turns in changing order" {
    run -0 python 'import common as c
order = []
got = c.take_turns(3, {n: (lambda n=n: order.append(n) or len(order)) for n in "abc"})
print("".join(order), got["a"])'
    [ "$output" = "abccbaabc [1, 6, 7]" ]
}

@test "a section that cannot be measured: the others go on, its earlier results stay" {
    cp "$results/sidecar.json" "$BATS_TEST_TMPDIR/before"
    run --separate-stderr -1 "$bench/run.py" --build "$BATS_TEST_TMPDIR/nothing" --results "$results" --docs "$docs" sidecar probe
    [[ $output == *"not measured: sidecar"* ]]
    [[ $stderr == *"nothing/headroom-sidecar is not built: make"* ]]
    grep -qF 'A title' "$docs"
    cmp "$results/sidecar.json" "$BATS_TEST_TMPDIR/before"
}

@test "a section that is not there is a usage error that names the sections" {
    run -2 "$bench/run.py" --results "$results" --docs "$docs" sidecars
    [[ $output == *"no section 'sidecars': there are sidecar, load, probe, truth, verdicts, whatif"* ]]
    [ ! -e "$docs" ]
    run -2 "$bench/run.py" --results "$results" --docs "$docs" --runs 0 probe
    run -2 "$bench/run.py" --results "$results" --docs "$docs" --wrk2 /nowhere probe
}

@test "the helpers in C: no warning, and they measure" {
    for name in pace victim rusage recorder; do
        "${CC:-cc}" -O1 -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/$name" "$bench/$name.c"
    done
    run -0 "$BATS_TEST_TMPDIR/pace" 10 0.2 /proc/self/stat
    [ "$(jq '.ticks > 0 and .cpu_s > 0 and .bytes > 0' <<<"$output")" = true ]
    run -0 "$BATS_TEST_TMPDIR/pace" -s sleep 10 0.2
    [ "$(jq '.ticks > 0 and .bytes == 0' <<<"$output")" = true ]
    run -2 "$BATS_TEST_TMPDIR/pace" 10
    run -0 "$BATS_TEST_TMPDIR/victim" 0.1 50000
    [ -z "$output" ]
    run -0 "$BATS_TEST_TMPDIR/rusage" "$BATS_TEST_TMPDIR/use" true
    [ "$(jq .status "$BATS_TEST_TMPDIR/use")" = 0 ]
}
