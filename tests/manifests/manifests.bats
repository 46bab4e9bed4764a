#!/usr/bin/env bats
# The checks of the manifests hold, and each kind of check finds what it is there for: one broken manifest for each.

load ../lib/common

check=$top/tests/manifests/check

setup_file() {
  "$BATS_TEST_DIRNAME/check" build >"$BATS_FILE_TMPDIR/first" 2>&1 || true
  local name
  for name in probe load study-1 study-2; do
    kubectl kustomize "$BATS_TEST_DIRNAME/../../manifests/overlays/$name" >"$BATS_FILE_TMPDIR/$name.yaml" 2>/dev/null || true
  done
}

setup() {
  # without a tool: the reason, which is no success in strict mode (tests/run)
  if grep -q 'skipped:' "$BATS_FILE_TMPDIR/first"; then skip "$(sed -n 's/.*skipped: //p' "$BATS_FILE_TMPDIR/first")"; fi
}

teardown() {
  [ -z "${probe-}" ] || end_processes "$probe"
}

# run_check ARGUMENT...: as a developer would; a check that could not be made skips the test
run_check() {
  run env -u HEADROOM_TEST_STRICT "$check" "$@"
  if [[ $output == *skipped:* ]]; then skip "$(sed -n 's/.*skipped: //p;T;q' <<<"$output")"; fi
}

# broken SED [FILE]: the rendered overlay with one thing changed, which must have changed something
broken() {
  local from=$BATS_FILE_TMPDIR/${2:-probe}.yaml
  sed -E "$1" "$from" >"$BATS_TEST_TMPDIR/broken.yaml"
  ! cmp -s "$from" "$BATS_TEST_TMPDIR/broken.yaml" || { echo "'$1' changes nothing"; return 1; }
}

# finds CHECK SED WORDS [FILE]: that check fails on it and says so
finds() {
  broken "$2" "${4:-probe}"
  run_check --file "$BATS_TEST_TMPDIR/broken.yaml" "$1"
  [ "$status" -eq 1 ] || { echo "not found: $2"; return 1; }
  [[ $output == *"$3"* ]] || { echo "$2: says: $output"; return 1; }
}

copy() {
  mkdir "$BATS_TEST_TMPDIR/copy"
  cp -r "$top/manifests" "$BATS_TEST_TMPDIR/copy/"
  manifests=$BATS_TEST_TMPDIR/copy/manifests
}

@test "everything builds and obeys the policy; programs know their options" {
  need headroom-sidecar headroom-probe headroom-load
  run_check build policy options
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "the fields fit the types of Kubernetes and of the Prometheus Operator" {
  run_check types
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "rules: syntax, unit tests, a section in the runbook for every alert" {
  run_check rules
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "dashboard: types, expressions, names of metrics" {
  run_check dashboard
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "the rendered files that the negative tests break are fine themselves" {
  local name
  for name in probe load study-1 study-2; do
    run_check --file "$BATS_FILE_TMPDIR/$name.yaml" policy types
    [ "$status" -eq 0 ]
  done
}

@test "types find a misspelt field, at any depth" {
  finds types 's/shareProcessNamespace:/shareProcessNamespaces:/' shareProcessNamespaces
  finds types 's/runAsNonRoot:/runAsNonroot:/' runAsNonroot
}

@test "types find a wrong type and a bad quantity" {
  finds types 's/replicas: 1$/replicas: one/' replicas
  finds types 's/memory: 32Mi/memory: 32MB/' memory
}

@test "types find an unknown kind, and a field of the wrong kind" {
  finds types 's/^kind: Deployment/kind: Deploiment/' Deploiment
  finds types 's/^  backoffLimit: 0/  backofLimit: 0/' backofLimit load
}

@test "policy finds wrong enum values" {
  finds policy 's/imagePullPolicy: IfNotPresent/imagePullPolicy: IfNotPresnt/' imagePullPolicy
  finds policy 's/type: RuntimeDefault/type: RuntimeDefaults/' seccompProfile
  finds policy 's/type: Recreate/type: Recreated/' Recreated
  finds policy 's/restartPolicy: Always/restartPolicy: always/' restartPolicy
  finds policy 's/restartPolicy: Never/restartPolicy: Always/' restartPolicy load
}

@test "policy finds what is missing from the restricted profile" {
  finds policy '/allowPrivilegeEscalation/d' allowPrivilegeEscalation
  finds policy '/runAsNonRoot/d' runAsNonRoot
  finds policy '/seccompProfile:/,+1d' seccompProfile
  finds policy 's/- ALL/- NET_RAW/' capabilities.drop
  finds policy '/readOnlyRootFilesystem/d' readOnlyRootFilesystem
  finds policy 's/^      shareProcessNamespace: true/      hostPID: true/' hostPID
}

@test "policy finds a missing securityContext" {
  python3 - "$BATS_FILE_TMPDIR/probe.yaml" "$BATS_TEST_TMPDIR/bare.yaml" <<'END'
import sys, yaml
docs = list(yaml.safe_load_all(open(sys.argv[1])))
for d in docs:
    if d["kind"] == "Deployment":
        del d["spec"]["template"]["spec"]["containers"][0]["securityContext"]
yaml.safe_dump_all(docs, open(sys.argv[2], "w"))
END
  run_check --file "$BATS_TEST_TMPDIR/bare.yaml" policy
  [ "$status" -eq 1 ]
  [[ $output == *"container probe: securityContext.allowPrivilegeEscalation must be false"* ]]
}

@test "policy finds users that are no numbers, or root" {
  finds policy 's/runAsUser: 65532/runAsUser: nobody/' runAsUser
  finds policy 's/runAsUser: 65532/runAsUser: 0/' runAsUser
  finds policy '/runAsGroup/d' runAsGroup
}

@test "policy finds images without a tag, or :latest" {
  finds policy 's/headroom:0.1.0/headroom:latest/' ':latest'
  finds policy 's/headroom:0.1.0/headroom/' 'name a tag'
  finds policy 's/headroom:0.1.0/localhost:5000\/headroom/' 'name a tag'
}

@test "policy finds missing probes, wrong ports, and a readiness probe of the monitor" {
  finds policy 's/livenessProbe:/xProbe:/' livenessProbe
  finds policy 's/port: http$/port: htp/' htp
  finds policy '/name: metrics/d' 'no port called metrics'
}

@test "policy finds missing labels, a selector that matches nothing" {
  finds policy '/app.kubernetes.io\/part-of/d' 'part-of is missing'
  finds policy '/matchLabels/,+1s/headroom-probe/other/' 'does not match its own pods'
}

@test "policy finds missing resources, a CPU limit of the monitor, a Job that repeats" {
  finds policy 's/memory: 64Mi/ephemeral-storage: 64Mi/' 'resources.limits.memory'
  finds policy 's/^( +)memory: 32Mi/\1memory: 32Mi\n\1cpu: 20m/' 'throttles the monitor'
  finds policy 's/backoffLimit: 0/backoffLimit: 6/' 'backoffLimit 0' load
}

@test "policy finds addresses that nobody serves, limits other than promised" {
  finds policy 's|http://headroom-probe-500m:8080|http://headroom-probe-50m:8080|' 'no Service called headroom-probe-50m' study-1
  finds policy 's|(http://headroom-probe-none):9464|\1:9465|' 'headroom-probe-none has no port 9465' study-1
  finds policy 's/(limits:|cpu:) 500m/\1 600m/' 'the limits behind it are: 600m' study-1
  finds policy 's/--remote=250m/--remote=300m/' 'the limits behind it are: 250m' study-1
}

@test "the checks find in the overlay of a study what they find elsewhere" {
  finds types 's/terminationMessagePolicy:/terminationMesagePolicy:/' terminationMesagePolicy study-1
  finds policy 's/terminationMessagePolicy: File/terminationMessagePolicy: Files/' terminationMessagePolicy study-1
  finds policy 's/backoffLimit: 0/backoffLimit: 1/' 'backoffLimit 0' study-1
  finds policy '/name: competitors/,/^ +name: / s/drop:/add:/' capabilities study-2
  finds policy 's/headroom-probe-d:8080/headroom-probe-e:8080/' 'no Service called headroom-probe-e' study-2
  finds policy '/name: study$/,/drop:/{/allowPrivilegeEscalation/d}' allowPrivilegeEscalation study-1
}

@test "build finds a component or an overlay that does not build" {
  copy
  sed -i 's/patch.yaml/pacth.yaml/' "$manifests/components/guaranteed/kustomization.yaml"
  sed -i 's|../../base/load|../../base/laod|' "$manifests/overlays/load/kustomization.yaml"
  run_check --manifests "$manifests" build
  [ "$status" -eq 1 ]
  [[ $output == *"components/guaranteed: does not build"* ]]
  [[ $output == *"overlays/load: does not build"* ]]
}

@test "options finds one that the program does not have" {
  need headroom-probe
  copy
  sed -i 's/--rounds=/--round=/' "$manifests/base/probe/deployment.yaml"
  sed -i 's/--full/--all/' "$manifests/overlays/study-1/job/args.yaml"
  run_check --manifests "$manifests" options
  [ "$status" -eq 1 ]
  [[ $output == *"headroom-probe has no option --round"* ]]
  [[ $output == *"headroom study 1 has no option --all"* ]]
}

@test "rules finds broken PromQL, an unknown metric, an alert without a section or a test" {
  copy
  sed -i 's/headroom_container_readable == 0/headroom_container_readabel == 0/
    s/#headroomlimitchanged/#headroomlimit/
    s/alert: HeadroomThrottledAbove/alert: HeadroomThrottledFromAbove/
    s/> 0.25$/> > 0.25/' "$manifests/components/rules/rules.yaml"
  run_check --manifests "$manifests" rules
  [ "$status" -eq 1 ]
  [[ $output == *"nothing is called headroom_container_readabel"* ]]
  [[ $output == *"HeadroomLimitChanged: has no section"* ]]
  [[ $output == *"HeadroomThrottledFromAbove: has no unit test"* ]]
  [[ $output == *"promtool check rules"* ]]
}

@test "rules: the unit tests fail when a threshold changes" {
  copy
  sed -i 's/rate5m > 0.25$/rate5m > 0.35/' "$manifests/components/rules/rules.yaml"
  run_check --manifests "$manifests" rules
  [ "$status" -eq 1 ]
  [[ $output == *"promtool test rules"* ]]
}

@test "dashboard finds broken PromQL, an unknown metric, variable or field" {
  copy
  sed -i 's/histogram_quantile(0.5, /histogram_quantil(0.5, /
    s/rate(headroom_container_cpu_usage_seconds_total/rate(headroom_container_cpu_usages_seconds_total/
    s/"graphTooltip"/"graphToolTip"/' "$manifests/components/dashboard/headroom.json"
  run_check --manifests "$manifests" dashboard
  [ "$status" -eq 1 ]
  [[ $output == *"nothing is called headroom_container_cpu_usages_seconds_total"* ]]
  [[ $output == *histogram_quantil* ]]
  [[ $output == *graphToolTip* ]]
}

# args OVERLAY CONTAINER: what the rendered manifest gives a container, one a line
args() {
  kubectl kustomize "$top/manifests/overlays/$1" | python3 -c '
import sys, yaml
for o in yaml.safe_load_all(sys.stdin):
    spec = o["spec"].get("template", {}).get("spec", {})
    for c in spec.get("containers", []) + spec.get("initContainers", []):
        if c["name"] == sys.argv[1]:
            print("\n".join(c["args"]))' "$2"
}

@test "probe and load run with the arguments of the manifests; shards are joined" {
  need headroom-probe headroom-load
  local options pids=() i start
  mapfile -t options < <(args probe probe | sed 's/0.0.0.0:8080/127.0.0.1:0/; s/--rounds=.*/--rounds=4000/')
  [ ${#options[@]} -gt 0 ]
  "$build/headroom-probe" "${options[@]}" >"$BATS_TEST_TMPDIR/probe" 2>&1 3>&- &
  probe=$!
  wait_until 30 grep -qE '127.0.0.1:[0-9]+' "$BATS_TEST_TMPDIR/probe"
  local url
  url=$(grep -oE '127.0.0.1:[0-9]+' "$BATS_TEST_TMPDIR/probe" | head -1)

  mapfile -t options < <(args load load | sed "s/headroom-probe:8080/$url/; s/=20s/=2s/")
  run "$build/headroom-load" "${options[@]}" --lateness-bound=1s
  [ "$status" -eq 0 ]
  [[ $output == *"40 planned, 40 sent, 40 ok"* ]]

  # four pods: what Kubernetes would put in, at a tenth of the rate and for 2 s
  args scale load >"$BATS_TEST_TMPDIR/args"
  start=$(date -u -d '+5 seconds' +%FT%TZ)
  for i in 0 1 2 3; do
    mapfile -t options < <(sed "s/headroom-probe:8080/$url/; s/START_AT/$start/; s/=60s/=2s/; s/=2000/=100/
      s/\$(INDEX)/$i/; s/\$(SHARDS)/4/" "$BATS_TEST_TMPDIR/args")
    "$build/headroom-load" "${options[@]}" --lateness-bound=1s >"$BATS_TEST_TMPDIR/$i.json" 3>&- &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i"; done
  end_processes "$probe"
  cat "$BATS_TEST_TMPDIR"/[0-3].json >"$BATS_TEST_TMPDIR/all"
  run "$build/headroom-load" merge - <"$BATS_TEST_TMPDIR/all"
  [[ $output == *"merged from 4 results"* ]]
  cat "$BATS_TEST_TMPDIR"/[0-2].json >"$BATS_TEST_TMPDIR/three"
  run "$build/headroom-load" merge - <"$BATS_TEST_TMPDIR/three"
  [ "$status" -eq 2 ]
  [[ $output == *"shard 3/4 is missing"* ]]
}

@test "without a tool a check says so, and strict mode does not let it pass" {
  local python
  python=$(python3 -c 'import sys; print(sys.executable)')
  mkdir "$BATS_TEST_TMPDIR/bin"
  run env -u HEADROOM_TEST_STRICT PATH="$BATS_TEST_TMPDIR/bin" "$python" "$check" build
  [ "$status" -eq 0 ]
  [[ $output == *"skipped: kubectl is not installed"* ]]
  run env PATH="$BATS_TEST_TMPDIR/bin" "$python" "$check" --strict build
  [ "$status" -eq 1 ]
}
