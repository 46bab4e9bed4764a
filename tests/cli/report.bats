#!/usr/bin/env bats
# headroom report: the page from the files of a folder; what it says of folders that are not whole.
# tests/run: parallel

bats_require_minimum_version 1.5.0

setup() {
  load ../lib/common
  need headroom
  headroom=$build/headroom
  cd "$BATS_TEST_TMPDIR" || return 1
  cp -r "$fixtures/results-1" r
}

# data FILTER [FILE]: of the JSON in the page
data() {
  sed -n 's|^<script type="application/json" id="data">\(.*\)</script>$|\1|p' "${2:-r/report.html}" | jq -r "$1"
}

# refused SENTENCE: of the folder r, with status 1, and no page
refused() {
  run --separate-stderr "$headroom" report r
  echo "$status: $stderr"
  [ "$status" = 1 ]
  [ -z "$output" ]
  [[ $stderr == "headroom report: "*"$1"* ]]
  [ ! -e r/report.html ]
  [ ! -e r/report.html.new ]
}

@test "the page is written into the folder, says nothing, and is the same again" {
  run "$headroom" report r
  [ "$status" = 0 ]
  [ -z "$output" ]
  cp r/report.html first.html
  "$headroom" report r/
  cmp first.html r/report.html
  "$headroom" report r --out - >second.html
  cmp first.html second.html
}

@test "its first words are the judgement and the sentence, and every picture has its table" {
  "$headroom" report r
  local sentence
  sentence=$(jq -r .sentence r/summary.json)
  grep -qF "The shape is as published." r/report.html
  grep -qF "<p class=\"lead\">$sentence</p>" r/report.html
  [ "$(grep -o 'role="img"' r/report.html | wc -l)" -ge 15 ]
  [ "$(grep -c '<caption>' r/report.html)" -ge 5 ]
  [ "$(grep -c 'class="finding"' r/report.html)" = 4 ]
}

@test "the data in the page are the data in the files" {
  "$headroom" report r
  [ "$(data '.results[0].summary' | jq -S .)" = "$(jq -S . r/summary.json)" ]
  [ "$(data '[.results[0].runs[].at_ms | length] | add')" = $(($(wc -l <r/requests.csv) - 1)) ]
  [ "$(data '.results[0].runs | length')" = $(($(wc -l <r/runs.csv) - 1)) ]
  # the longest response of every run is max_ms of runs.csv
  [ "$(data '.results[0].runs[] | .latency_ms | max | . * 1000 | round')" = \
    "$(awk -F, 'NR > 1 { printf "%.0f\n", $14 * 1000 }' r/runs.csv)" ]
}

@test "throttled intervals add up to the throttled time of runs.csv" {
  "$headroom" report r
  local shown counted
  # some is from before the first request, or was seen a reading later
  shown=$(data '[.results[0].runs[].throttled_ms[] | .[1] - .[0]] | add | round')
  counted=$(awk -F, 'NR > 1 { s += $18 } END { printf "%.0f", s / 1000 }' r/runs.csv)
  echo "$shown ms shown, $counted ms counted"
  [ $((shown * 100)) -ge $((counted * 85)) ]
  [ $((shown * 100)) -le $((counted * 115)) ]
}

@test "what was predicted is drawn when it is there" {
  "$headroom" report r
  run grep -c 'p99, predicted' r/report.html
  [ "$output" = 0 ]
  jq '.conditions[].predicted_p99_ms = 77.7' r/summary.json >s && mv s r/summary.json
  "$headroom" report r
  grep -qF '<th scope="col">p99, predicted (ms)</th>' r/report.html
  grep -qF '<td class="n">77.7</td>' r/report.html
}

@test "an unfinished study, with conditions that have no run, says so and shows the rest" {
  jq '.unfinished = "stopped by a signal" | .shape = null | .sentence = null |
    .conditions[2:6] |= map(.runs = 0 | .p99_ms = null)' r/summary.json >s && mv s r/summary.json
  "$headroom" report r
  grep -qF "Not finished: stopped by a signal" r/report.html
  run grep -c "burst at 0.5 CPU" r/report.html
  [ "$output" = 0 ]
}

@test "text from files is text: nothing in it becomes markup" {
  local hostile='</script><script>alert(1)</script><img src=x onerror="y">&'
  jq --arg t "$hostile" '.sentence = $t | .unfinished = $t | .kernel = $t | .started = ($t + "") | .differences = [$t] |
    .conditions[0].pattern = $t' r/summary.json >s && mv s r/summary.json
  sed -i '2s/,true,,/,false,"<img src=x onerror=""y"">, again",/' r/runs.csv
  mv r '<b>'
  "$headroom" report '<b>' '<b>' --out page.html
  run grep -c '<script>alert\|<img\|<b>' page.html
  echo "$output"
  [ "$output" = 0 ]
  grep -qF '&lt;img src=x onerror=&quot;y&quot;&gt;, again' page.html
  [ "$(data '.results[0].summary.sentence' page.html)" = "$hostile" ]
}

@test "bytes that are no UTF-8, and control characters, become U+FFFD" {
  sed -i '2s/,true,,/,false,a\x80b\x1bc,/' r/runs.csv
  "$headroom" report r
  grep -qF $'a\xef\xbf\xbdb\xef\xbf\xbdc' r/report.html
  iconv -f UTF-8 -t UTF-8 r/report.html >/dev/null
}

@test "several results: a table side by side, and each of them" {
  cp -r r other
  "$headroom" report r other
  [ "$(data '.results | map(.name) | join(" ")' report.html)" = "r other" ]
  grep -qF 'burst at 0.25 CPU: other' report.html
  [ "$(grep -c '<article>' report.html)" = 2 ]
}

@test "without RESULTS, with too many, with unknown options: status 2" {
  run --separate-stderr "$headroom" report
  [ "$status" = 2 ]
  [[ $stderr == *"folders of results"* ]]
  run "$headroom" report r r r r r r r r r r r r r r r r r
  [ "$status" = 2 ]
  run "$headroom" report r --outt x
  [ "$status" = 2 ]
}

@test "a folder that is not there, or holds no results" {
  run --separate-stderr "$headroom" report nowhere
  [ "$status" = 1 ]
  [ "$stderr" = "headroom report: cannot open nowhere: No such file or directory" ]
  rm r/summary.json
  refused "r holds no summary.json: no study was finished there"
}

@test "files that are missing, empty, cut, or hold what is no number" {
  local name
  for name in runs requests periods; do
    mv r/$name.csv kept
    refused "r/$name.csv"
    : >r/$name.csv
    refused "r/$name.csv is empty"
    head -c -7 kept >r/$name.csv
    refused "r/$name.csv: line $(wc -l <kept) has no end: the file was cut"
    { head -n 2 kept && echo "0.25,even"; } >r/$name.csv
    refused "r/$name.csv: line 3 has 2 fields"
    { echo "a,b" && echo "1,2"; } >r/$name.csv
    refused "r/$name.csv has no column limit_cpus"
    cp kept r/$name.csv
  done
  sed -i '3s/,[0-9.]*,/,x,/5' r/runs.csv
  refused "'x' is no number"
}

@test "rows that belong to no run" {
  sed -i 2d r/runs.csv
  refused "r/requests.csv: line 2 belongs to no run of runs.csv"
}

@test "another schema, an unknown study, JSON that was cut, two kinds of study" {
  cp r/summary.json kept
  jq '.schema_version = 2' kept >r/summary.json
  refused "schema_version 2: this headroom reads version 1"
  jq '.study = "9<"' kept >r/summary.json
  refused "r is of study '9<', for which there is no page"
  head -c 500 kept >r/summary.json
  refused "r/summary.json"
  cp -r "$fixtures/results-1" a
  jq '.study = "9"' kept >r/summary.json
  run --separate-stderr "$headroom" report a r
  [ "$status" = 1 ]
  [[ $stderr == *"only results of the same study go side by side"* ]]
}

@test "a place where it cannot be written" {
  run --separate-stderr "$headroom" report r --out none/page.html
  [ "$status" = 1 ]
  [[ $stderr == *"cannot write none/page.html"*"No such file"* ]]
  run --separate-stderr bash -c '"$0" report r --out - >/dev/full' "$headroom"
  [ "$status" = 1 ]
  [[ $stderr == *"cannot write the page"* ]]
}

@test "5,000 requests take less than a second" {
  python3 - <<'END'
import csv
rows = list(csv.reader(open("r/requests.csv")))
head, body = rows[0], rows[1:]
n = 5000 // len(body) + 1
groups = []
for row in body:
    if not groups or groups[-1][0][:4] != row[:4]:
        groups.append([])
    groups[-1].append(row)
with open("r/requests.csv", "w", newline="\n") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(head)
    for group in groups:
        for k in range(n):
            for row in group:
                out.writerow(row[:4] + [str(int(row[4]) + k * len(group))] + row[5:])
END
  [ "$(wc -l <r/requests.csv)" -gt 5000 ]
  # CPU time: on a busy machine the clock says little
  local used TIMEFORMAT='%U'
  used=$({ time "$headroom" report r; } 2>&1)
  echo "$used s"
  [[ $used == 0[.,]* ]]
  [ "$(data '[.results[0].runs[].at_ms | length] | add')" -ge 5000 ]
}

@test "study 3: a section for each case, its sentence, the judgement; points without figures are not drawn" {
  "$headroom" report "$fixtures/results-3" --out 3.html
  grep -qF "The shape differs from the published one." 3.html
  grep -qF "<li>pool: 0 of 7 points have valid runs</li>" 3.html
  grep -qF "Throughput stopped growing at 14.1 threads; the law says 14.5." 3.html
  [ "$(grep -c '<section id="r0-case-' 3.html)" = 2 ]
  grep -qF 'law 14.5' 3.html
  # 6 of the 7 points of the case, in throughput, response time and shape
  [ "$(grep '^<path class="point even"' 3.html | grep -o 'h.01' | wc -l)" = 18 ]
  run grep -ci '[^a-z]nan[^a-z]\|[^a-z]inf[^a-z]' 3.html
  [ "$output" = 0 ]
  "$headroom" report "$fixtures/results-3" "$fixtures/results-3" --out two.html
  [ "$(grep -c '<article>' two.html)" = 2 ]
}
