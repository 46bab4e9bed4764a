#!/usr/bin/env bats
# report.html as people meet it: headless Chromium, from disk, at two widths, light and dark; axe; its script in use.
# Installs nothing but axe-core, by npm, into build/cache/page.
# tests/run: parallel

bats_require_minimum_version 1.5.0

setup_file() {
  load ../lib/common
  local cache=$top/build/cache/page
  export AXE=$cache/node_modules/axe-core/axe.min.js
  command -v npm >/dev/null || return 0
  mkdir -p "$cache"
  if ! cmp -s "$top/tests/page/package-lock.json" "$cache/installed" || [ ! -f "$AXE" ]; then
    cp "$top"/tests/page/package*.json "$cache"
    (cd "$cache" && timeout 90 npm ci --ignore-scripts --no-audit --no-fund) >"$cache/log" 2>&1 &&
      cp "$top/tests/page/package-lock.json" "$cache/installed"
  fi || true
}

setup() {
  load ../lib/common
  need headroom
  headroom=$build/headroom
  command -v chromium >/dev/null || skip "chromium is not installed (scripts/deps.sh page)"
  cd "$BATS_TEST_TMPDIR" || return 1
}

look() { timeout 60 python3 "$top/tests/page/browser.py" "$@"; }

@test "nothing is said in the console, nothing is asked of a host, nothing is too wide; the zoom and the tooltip work" {
  "$headroom" report "$fixtures/results-1" --out page.html
  run look page.html
  echo "$output"
  [ "$status" = 0 ]
  [ "$(jq -c '[.views, .used]' <<<"$output")" = "[4,true]" ]
}

@test "axe finds nothing" {
  [ -f "$AXE" ] || skip "axe-core could not be fetched by npm"
  "$headroom" report "$fixtures/results-1" --out page.html
  run look --axe "$AXE" page.html
  echo "$output"
  [ "$status" = 0 ]
  [ "$(jq .axe <<<"$output")" = true ]
}

@test "study 3" {
  "$headroom" report "$fixtures/results-3" --out page.html
  run look ${AXE:+$([ ! -f "$AXE" ] || echo --axe "$AXE")} page.html
  echo "$output"
  [ "$status" = 0 ]
}

@test "two results side by side, names that try to be markup" {
  local hostile='<img src=http:x onerror=alert(1)>&"'"'"'</script>'
  mkdir -p "$hostile"
  cp "$fixtures"/results-1/* "$hostile/"
  jq --arg t "</script><script>console.error('in')</script><!--" '.sentence = $t | .kernel = $t | .differences = [$t] |
    .conditions[0].pattern = $t | .shape = "differs"' "$fixtures/results-1/summary.json" >"$hostile/summary.json"
  "$headroom" report "$fixtures/results-1" "$hostile" --out page.html
  run look ${AXE:+$([ ! -f "$AXE" ] || echo --axe "$AXE")} page.html
  echo "$output"
  [ "$status" = 0 ]
}

@test "the check itself finds an error, a request, a page that is too wide" {
  "$headroom" report "$fixtures/results-1" --out page.html
  sed -i 's|</main>|<div style="width:3000px">wide</div><img src="http://127.0.0.1:9/x.png"><script>console.error("oh")</script></main>|' page.html
  run look page.html
  [ "$status" = 1 ]
  [[ $output == *"the page is 3"*"px wide"* ]]
  [[ $output == *"console: "*oh* ]]
  [[ $output == *"request: http://127.0.0.1:9/x.png"* ]]
}
