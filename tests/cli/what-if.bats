#!/usr/bin/env bats
# headroom what-if on a recorded folder of study 1, and what it says about files that it cannot use.
# tests/run: parallel

setup() {
  load ../lib/common
  need headroom
  headroom=$build/headroom
  folder=$top/tests/fixtures/results-1
}

@test "every pattern of a folder: predicted for each limit, beside what was measured" {
  run --separate-stderr "$headroom" what-if "$folder" --limits 0.25,none --cpus 2 -o json
  [ "$status" = 0 ]
  [ -z "$stderr" ]
  jq -e 'map(.pattern) | sort == ["burst", "even"]' <<<"$output"
  jq -e 'all(.[]; (.limits | map(.limit_cpus)) == [0.25, null] and .smallest == null)' <<<"$output"
  # bursts under a quarter of a CPU depend on the phase, without a limit they do not
  jq -e '.[] | select(.pattern == "burst") | .limits
    | .[0].predicted_p99_high_ms > .[0].predicted_p99_low_ms + 20 and .[0].throttled_periods_per_s > 0
      and .[1].predicted_p99_high_ms == .[1].predicted_p99_low_ms and .[1].throttled_periods_per_s == 0' <<<"$output"
  # each run that had a limit, at the phase that was observed
  jq -e 'all(.[].runs[]; .measured_p99_ms > 0 and .predicted_p99_ms > 0 and .limit_cpus > 0)' <<<"$output"
  [ "$(jq '[.[].runs[]] | length' <<<"$output")" = "$(awk -F, 'NR > 1 && $1 != "none"' "$folder/runs.csv" | wc -l)" ]
}

@test "the smallest limit that meets a wish; none that does is status 1" {
  run --separate-stderr "$headroom" what-if "$folder" --pattern burst --p99 60ms --cpus 2
  [ "$status" = 0 ]
  [[ $output == *"CPUs p99 stays at or below 60 ms, whatever the phase"* ]]
  run --separate-stderr "$headroom" what-if "$folder" --pattern burst --p99 1ms --cpus 2
  [ "$status" = 1 ]
  [[ $output == *"No limit up to 2 CPUs brings p99 down to 1 ms"* ]]
  [ -z "$stderr" ]
}

@test "the records of headroom-load alone, and by more workers" {
  # without the columns of the condition, as headroom-load --requests writes them
  awk -F, -v OFS=, 'NR == 1 || ($1 == "none" && $2 == "burst" && $3 == 1)' "$folder/requests.csv" | cut -d, -f5- >"$BATS_TEST_TMPDIR/all.csv"
  run --separate-stderr "$headroom" what-if "$BATS_TEST_TMPDIR/all.csv" --limits none --cpus 2 -o json
  [ "$status" = 0 ]
  jq -e 'length == 1 and .[0].pattern == null and .[0].runs == []' <<<"$output"
  one=$(jq '.[0].limits[0].predicted_p99_ms' <<<"$output")
  two=$("$headroom" what-if "$BATS_TEST_TMPDIR/all.csv" --limits none --cpus 2 --workers 2 -o json | jq '.[0].limits[0].predicted_p99_ms')
  awk -v a="$one" -v b="$two" 'BEGIN { exit !(b < 0.7 * a) }'
}

@test "a run that was not valid is left out, and what was repeated counts on its own" {
  cp -r "$folder" "$BATS_TEST_TMPDIR/again"
  cd "$BATS_TEST_TMPDIR/again"
  before=$("$headroom" what-if . --limits 0.25 --cpus 2 -o json | jq -c '[.[].runs[]] | sort_by(.limit_cpus, .repetition, .phase_ms)')
  # the first run once more in front of itself: an hour late, and marked
  awk -F, 'NR == 1 { print; next } NR == 2 { split($0, f, ","); key = f[1] "," f[2] "," f[3] "," f[4] "," }
    { all[NR] = $0 } index($0, key) == 1 { n = split($0, f, ","); f[9] += 3600e9; line = f[1]
      for (i = 2; i <= n; i++) line = line "," (i == 9 ? sprintf("%.0f", f[9]) : f[i]); print line }
    END { for (i = 2; i <= NR; i++) print all[i] }' requests.csv >r && mv r requests.csv
  awk -F, -v OFS=, -v key="$(sed -n 2p requests.csv | cut -d, -f1-3)," 'index($0, key) == 1 { copy = $0; $20 = "false"; print; print copy; next } { print }' runs.csv >r && mv r runs.csv
  after=$("$headroom" what-if . --limits 0.25 --cpus 2 -o json | jq -c '[.[].runs[]] | sort_by(.limit_cpus, .repetition, .phase_ms)')
  [ "$before" = "$after" ]
  sed -i 's/,true,/,false,/' runs.csv
  run --separate-stderr "$headroom" what-if .
  [ "$status" = 1 ]
  [[ $stderr == *"has no valid run with requests" ]]
}

@test "files that cannot be used" {
  run --separate-stderr "$headroom" what-if "$BATS_TEST_TMPDIR/nothing"
  [ "$status" = 1 ]
  [[ $stderr == "headroom what-if: cannot open "*"nothing"* ]]
  printf 'a,b\n1,2\n' >"$BATS_TEST_TMPDIR/other.csv"
  run --separate-stderr "$headroom" what-if "$BATS_TEST_TMPDIR/other.csv"
  [ "$status" = 1 ]
  [[ $stderr == *"there is no column planned_ns"* ]]
  mkdir "$BATS_TEST_TMPDIR/cut"
  cp "$folder/requests.csv" "$BATS_TEST_TMPDIR/cut"
  printf 'a,b\n' >"$BATS_TEST_TMPDIR/cut/runs.csv"
  run --separate-stderr "$headroom" what-if "$BATS_TEST_TMPDIR/cut"
  [ "$status" = 1 ]
  [[ $stderr == *"is not of study 1"* ]]
  head -n 1 "$folder/requests.csv" >"$BATS_TEST_TMPDIR/empty.csv"
  run --separate-stderr "$headroom" what-if "$BATS_TEST_TMPDIR/empty.csv"
  [ "$status" = 1 ]
  [[ $stderr == *"there is no request in it" ]]
  run --separate-stderr "$headroom" what-if "$folder" --pattern nobody
  [ "$status" = 1 ]
  [[ $stderr == *"has no run with the pattern 'nobody'" ]]
}

@test "wrong options" {
  run --separate-stderr "$headroom" what-if
  [ "$status" = 2 ]
  for limits in x 0 0.001 0.5,,1 -1; do
    run --separate-stderr "$headroom" what-if "$folder" "--limits=$limits"
    [ "$status" = 2 ]
    [[ $stderr == *"--limits is up to 32 numbers of CPUs"* ]]
  done
  run --separate-stderr "$headroom" what-if "$folder" --workers 0
  [ "$status" = 2 ]
}
