#!/usr/bin/env bats
# headroom-sidecar --once on recorded trees (tests/fixtures/once): the whole report must be as it was judged right. Each
# folder has `about` (what happened there), `root/`, `args` (one a line, may be missing) and `report.json`.
# Hostile trees are made here: they must end in a clear error within a second.
# tests/run: limit 400
# tests/run: parallel

setup() {
  load ../lib/common
  need headroom-sidecar
  once=$fixtures/once
  tree=$BATS_TEST_TMPDIR/root
}

# report ARGS...: runs it; the report is in $BATS_TEST_TMPDIR/report, its exit status in $status. A second must be enough:
# it is counted in CPU time, so that a busy machine does not matter; what blocks is ended after ten.
report() {
  status=0
  (ulimit -t "${cpu_s:-1}" && exec timeout -k 1 $((10 * ${cpu_s:-1})) "$build/headroom-sidecar" --once -o json "$@") \
    >"$BATS_TEST_TMPDIR/report" 2>"$BATS_TEST_TMPDIR/errors" || status=$?
  if [ $status -gt 1 ]; then
    echo "status $status" && cat "$BATS_TEST_TMPDIR/errors" "$BATS_TEST_TMPDIR/report" && return 1
  fi
}

# recorded NAME: the whole report, and the exit status that belongs to it
recorded() {
  local args=() wanted
  [ ! -f "$once/$1/args" ] || mapfile -t args <"$once/$1/args"
  report --root "$once/$1/root" "${args[@]}"
  "$top/tests/lib/compare-report" "$once/$1/report.json" "$BATS_TEST_TMPDIR/report"
  wanted=$(jq 'if .error == null then 0 else 1 end' "$once/$1/report.json")
  [ "$status" = "$wanted" ]
}

# key NAME VALUE: of the last report
key() {
  local got
  got=$(jq -c "$1" "$BATS_TEST_TMPDIR/report")
  [ "$got" = "$2" ] || { echo "$1 is $got, not $2" && cat "$BATS_TEST_TMPDIR/report" && return 1; }
}

# refused WORD: the limit is unknown, nothing is guessed, and the sentence holds WORD
refused() {
  [ "$status" = 1 ]
  key .quota_status '"unknown"'
  key '[.quota_cpus, .quota_usec, .period_usec, .binding_cgroup, .effective_cpus, .mismatch, .throttle_stat] | unique' '[null]'
  jq -e --arg word "$1" '.error | contains($word)' "$BATS_TEST_TMPDIR/report" || { cat "$BATS_TEST_TMPDIR/report" && return 1; }
}

# a copy of a good tree, to be spoilt
spoil() {
  cp -r "$once/v2-plain/root" "$tree"
  app=$tree/sys/fs/cgroup/system.slice/app.service
}

# --- recorded ---------------------------------------------------------------------------------------------------------

@test "every recorded tree has a test here" {
  diff <(find "$once" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort) \
    <(sed -n 's/^@test .* { recorded \([^ ]*\); }$/\1/p' "$BATS_TEST_FILENAME" | sort)
}

@test "cgroup-missing" { recorded cgroup-missing; }
@test "cgroup-name" { recorded cgroup-name; }
@test "cgroup-path" { recorded cgroup-path; }
@test "empty-tree" { recorded empty-tree; }
@test "host-cgroupfs-v2" { recorded host-cgroupfs-v2; }
@test "host-colon-two" { recorded host-colon-two; }
@test "host-colon" { recorded host-colon; }
@test "host-crun-extra-level" { recorded host-crun-extra-level; }
@test "host-docker-cgroupfs" { recorded host-docker-cgroupfs; }
@test "host-docker-scope" { recorded host-docker-scope; }
@test "host-guaranteed" { recorded host-guaranteed; }
@test "host-hybrid-systemd" { recorded host-hybrid-systemd; }
@test "host-kind" { recorded host-kind; }
@test "host-no-tree" { recorded host-no-tree; }
@test "host-pod-missing" { recorded host-pod-missing; }
@test "host-systemd-burstable" { recorded host-systemd-burstable; }
@test "host-systemd-one-container" { recorded host-systemd-one-container; }
@test "host-v1-cgroupfs" { recorded host-v1-cgroupfs; }
@test "host-v1-copied-tree" { recorded host-v1-copied-tree; }
@test "hybrid-paths-differ" { recorded hybrid-paths-differ; }
@test "hybrid-v2-part-removed" { recorded hybrid-v2-part-removed; }
@test "no-cgroup-file" { recorded no-cgroup-file; }
@test "pid-fake-cgroup" { recorded pid-fake-cgroup; }
@test "pid-gone" { recorded pid-gone; }
@test "pid-root-missing" { recorded pid-root-missing; }
@test "pid-through-own-mounts" { recorded pid-through-own-mounts; }
@test "pid-v1" { recorded pid-v1; }
@test "pid-v2" { recorded pid-v2; }
@test "v1-cpu-not-mounted" { recorded v1-cpu-not-mounted; }
@test "v1-cpuset-named-cpu" { recorded v1-cpuset-named-cpu; }
@test "v1-docker" { recorded v1-docker; }
@test "v1-host-view-of-own" { recorded v1-host-view-of-own; }
@test "v1-period-missing" { recorded v1-period-missing; }
@test "v1-root" { recorded v1-root; }
@test "v2-affinity-below" { recorded v2-affinity-below; }
@test "v2-broken-ancestor" { recorded v2-broken-ancestor; }
@test "v2-broken-stat" { recorded v2-broken-stat; }
@test "v2-component-boundary" { recorded v2-component-boundary; }
@test "v2-cpuset-broken" { recorded v2-cpuset-broken; }
@test "v2-cpuset-empty" { recorded v2-cpuset-empty; }
@test "v2-crlf" { recorded v2-crlf; }
@test "v2-deleted" { recorded v2-deleted; }
@test "v2-equal-quotas" { recorded v2-equal-quotas; }
@test "v2-extra-fields" { recorded v2-extra-fields; }
@test "v2-folder-missing" { recorded v2-folder-missing; }
@test "v2-grandparent-below" { recorded v2-grandparent-below; }
@test "v2-hidden-by-tmpfs" { recorded v2-hidden-by-tmpfs; }
@test "v2-mounted-twice" { recorded v2-mounted-twice; }
@test "v2-no-controller" { recorded v2-no-controller; }
@test "v2-online-missing" { recorded v2-online-missing; }
@test "v2-outside-of-mount" { recorded v2-outside-of-mount; }
@test "v2-parent-quota" { recorded v2-parent-quota; }
@test "v2-period-2s" { recorded v2-period-2s; }
@test "v2-plain" { recorded v2-plain; }
@test "v2-private-namespace" { recorded v2-private-namespace; }
@test "v2-psi-empty" { recorded v2-psi-empty; }
@test "v2-psi-without-full" { recorded v2-psi-without-full; }
@test "v2-quota-is-2-64-1" { recorded v2-quota-is-2-64-1; }
@test "v2-root-is-unnamed-child" { recorded v2-root-is-unnamed-child; }
@test "v2-status-missing" { recorded v2-status-missing; }
@test "v2-two-lines" { recorded v2-two-lines; }
@test "v2-value-alone" { recorded v2-value-alone; }

# --- hostile ------------------------------------------------------------------------------------------------------------

@test "hostile: a fifo as cpu.max" {
  spoil
  rm "$app/cpu.max" && mkfifo "$app/cpu.max"
  report --root "$tree"
  refused "cpu.max is not a regular text file"
}

@test "hostile: fifos in the place of every other file cost only what they hold" {
  spoil
  for file in cpu.pressure io.pressure memory.pressure; do rm "$app/$file" && mkfifo "$app/$file"; done
  for file in proc/self/status sys/devices/system/cpu/online; do rm "${tree:?}/$file" && mkfifo "$tree/$file"; done
  mkfifo "$app/cpuset.cpus.effective"
  report --root "$tree"
  [ "$status" = 0 ]
  key .quota_cpus 0.25
  key '[.nproc, .online_cpus, .cpuset_cpus]' '[null,null,null]'
  key '[.psi_cpu_status, .psi_cpu]' '["broken",null]'
}

@test "hostile: a fifo as /proc/self/cgroup or mountinfo" {
  for file in cgroup mountinfo; do
    rm -rf "$tree" && spoil
    rm "$tree/proc/self/$file" && mkfifo "$tree/proc/self/$file"
    report --root "$tree"
    refused "proc/self/$file is not a regular text file"
  done
}

@test "hostile: cpu.max is a link out of the tree" {
  spoil
  echo "6400000 100000" >"$BATS_TEST_TMPDIR/outside"
  for target in "$BATS_TEST_TMPDIR/outside" ../../../../../../../outside ../../cpu.max; do
    ln -sf "$target" "$app/cpu.max"
    report --root "$tree"
    refused "cpu.max is not a regular text file"
  done
}

@test "hostile: the cgroup's folder is a link out of the tree" {
  spoil
  mkdir "$BATS_TEST_TMPDIR/outside" && echo "6400000 100000" >"$BATS_TEST_TMPDIR/outside/cpu.max"
  rm -r "$app" && ln -s "$BATS_TEST_TMPDIR/outside" "$app"
  report --root "$tree"
  refused "is not there (any more)"
}

@test "hostile: links that turn in a circle" {
  spoil
  rm -r "$app" && ln -s app.service "$app"
  report --root "$tree"
  refused "app.service"
}

@test "hostile: 100 MB in the place of each file" {
  spoil
  truncate -s 100M "$app/cpu.max"
  report --root "$tree"
  refused "larger than such a file can be"
  # full of digits, not of holes
  head -c 100000000 /dev/zero | tr '\0' 9 >"$app/cpu.max"
  report --root "$tree"
  refused "larger than such a file can be"
  echo "25000 100000" >"$app/cpu.max"
  for file in cgroup mountinfo; do
    mv "$tree/proc/self/$file" "$BATS_TEST_TMPDIR/kept"
    truncate -s 100M "$tree/proc/self/$file"
    report --root "$tree"
    refused "proc/self/$file"
    mv "$BATS_TEST_TMPDIR/kept" "$tree/proc/self/$file"
  done
  truncate -s 100M "$app/cpu.stat" "$app/cpu.pressure" "$tree/proc/self/status" "$tree/sys/devices/system/cpu/online"
  report --root "$tree"
  key '[.quota_cpus, .nproc, .online_cpus, .cpu_stat.nr_throttled, .psi_cpu]' '[0.25,null,null,null,null]'
}

@test "hostile: a table of mounts of 16 MB, all of cgroups" {
  spoil
  awk 'BEGIN { for (i = 100; n < 16700000; i++) { s = i " 24 0:29 / /sys/fs/cgroup/" i " rw - cgroup2 cgroup rw"; print s; n += length(s) + 1 } }' \
    >>"$tree/proc/self/mountinfo"
  # with sanitizers it takes longer, but no square of the lines
  [[ $build != *san* ]] || cpu_s=5
  report --root "$tree"
  [ "$status" = 0 ]
  key .quota_cpus 0.25
}

@test "hostile: binary files" {
  spoil
  head -c 64 /dev/urandom >"$app/cpu.max"
  printf '25000\0 100000\n' >>"$app/cpu.max"
  report --root "$tree"
  refused "cpu.max"
  printf '25000 100000\n\0\0\0' >"$app/cpu.max"
  report --root "$tree"
  refused "not a regular text file"
  echo "25000 100000" >"$app/cpu.max"
  head -c 3000 "$build/headroom-sidecar" >"$app/cpu.stat"
  cp "$app/cpu.stat" "$app/cpu.pressure"
  report --root "$tree"
  [ "$status" = 0 ]
  key '[.quota_cpus, .cpu_stat.usage_usec, .psi_cpu_status]' '[0.25,null,"broken"]'
}

@test "hostile: a folder in the place of cpu.max" {
  spoil
  rm "$app/cpu.max" && mkdir "$app/cpu.max"
  report --root "$tree"
  refused "cpu.max is not a regular text file"
}

@test "hostile: an endless device in the place of cpu.max" {
  spoil
  rm "$app/cpu.max"
  mknod "$app/cpu.max" c 1 5 || not_on_this_host "device files cannot be made here"
  report --root "$tree"
  refused "cpu.max is not a regular text file"
}

@test "hostile: a cgroup nested 200 levels deep" {
  spoil
  deep=$(printf '/d%.0s' {1..200})
  mkdir -p "$tree/sys/fs/cgroup$deep" && echo "25000 100000" >"$tree/sys/fs/cgroup$deep/cpu.max"
  echo "0::$deep" >"$tree/proc/self/cgroup"
  report --root "$tree"
  refused "levels deep"
}

@test "hostile: a path longer than any" {
  spoil
  printf '0::/%s\n' "$(head -c 60000 /dev/zero | tr '\0' x)" >"$tree/proc/self/cgroup"
  report --root "$tree"
  refused "File name too long"
}

@test "hostile: control characters and wrong UTF-8 in the cgroup's name" {
  spoil
  name=$'x\x1b[2J\x7f\t\xff\xfey"\\'
  mkdir "$tree/sys/fs/cgroup/$name" && echo "25000 100000" >"$tree/sys/fs/cgroup/$name/cpu.max"
  printf '0::/%s\n' "$name" >"$tree/proc/self/cgroup"
  report --root "$tree"
  [ "$status" = 0 ]
  key .quota_cpus 0.25
  [ "$(LC_ALL=C tr -d '\n\040-\177' <"$BATS_TEST_TMPDIR/report" | LC_ALL=C tr -d '\357\277\275' | wc -c)" = 0 ]
  # and where the name comes into a sentence
  echo "junk" >"$tree/sys/fs/cgroup/$name/cpu.max"
  report --root "$tree"
  refused "cpu.max of cgroup /x?[2J"
  [ "$(LC_ALL=C tr -d '\n\040-\177' <"$BATS_TEST_TMPDIR/report" | LC_ALL=C tr -d '\357\277\275' | wc -c)" = 0 ]
}

@test "hostile: '..' in the cgroup's path is never resolved" {
  spoil
  mkdir "$tree/secret" && echo "6400000 100000" >"$tree/secret/cpu.max"
  for path in /system.slice/../../../../secret /.. /system.slice/.. /../secret; do
    echo "0::$path" >"$tree/proc/self/cgroup"
    report --root "$tree"
    refused "outside of what is mounted"
  done
}

@test "hostile: a tree of hundreds of thousands of folders below the host's cgroup mount" {
  cp -r "$once/host-pod-missing/root" "$tree"
  (cd "$tree/host/sys/fs/cgroup/kubepods.slice" && mkdir $(seq -f 'd%g' 20000))
  report --root "$tree" --host-cgroup /host/sys/fs/cgroup --pod-uid 1f2e3d4c-5b6a-4789-8c9d-0e1f2a3b4c5d
  refused "there is no cgroup of pod"
}

@test "hostile: a pod's folder that is a link" {
  cp -r "$once/host-pod-missing/root" "$tree"
  mkdir -p "$tree/outside" && echo "6400000 100000" >"$tree/outside/cpu.max"
  ln -s ../../../../outside "$tree/host/sys/fs/cgroup/pod1f2e3d4c-5b6a-4789-8c9d-0e1f2a3b4c5d"
  report --root "$tree" --host-cgroup /host/sys/fs/cgroup --pod-uid 1f2e3d4c-5b6a-4789-8c9d-0e1f2a3b4c5d
  refused "there is no cgroup of pod"
}

# --- not allowed --------------------------------------------------------------------------------------------------------

@test "files that may not be read: the pressure is denied, the quota unknown" {
  spoil
  as_nobody=()
  if [ "$(id -u)" = 0 ]; then
    as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all)
    chmod 755 "$BATS_TEST_TMPDIR"
    "${as_nobody[@]}" test -x "$tree" || { tree=$(mktemp -d) && rmdir "$tree" && spoil; }
  fi
  chmod 000 "$app/cpu.pressure"
  "${as_nobody[@]}" "$build/headroom-sidecar" --once -o json --root "$tree" >"$BATS_TEST_TMPDIR/report"
  key '[.quota_cpus, .psi_cpu_status, .psi_cpu]' '[0.25,"denied",null]'
  chmod 000 "$app/cpu.max"
  status=0
  "${as_nobody[@]}" "$build/headroom-sidecar" --once -o json --root "$tree" >"$BATS_TEST_TMPDIR/report" || status=$?
  refused "cpu.max: Permission denied"
}

# --- options --------------------------------------------------------------------------------------------------------------

@test "options that do not go together are usage errors" {
  for args in "--pid 1 --cgroup /x" "--pod-uid x" "--container-id 3c1f0a9be27d" "--host-cgroup /x" "--pid 0" "--pid -1" "--pid x" \
    "--pid 99999999999" "--pid ../1" "--nonsense"; do
    # shellcheck disable=SC2086 # several words
    run "$build/headroom-sidecar" --once $args
    echo "$args: $status $output"
    [ "$status" = 2 ]
    [ "${#lines[@]}" = 1 ]
  done
}

@test "a root that is not there, or no folder" {
  for root in /nonexistent/folder /etc/passwd; do
    run "$build/headroom-sidecar" --once --root $root
    [ "$status" != 0 ]
    [[ $output == *"$root"* ]]
  done
}

@test "a report that cannot be written is a failure" {
  [ -e /dev/full ] || not_on_this_host "no /dev/full"
  run bash -c "'$build/headroom-sidecar' --once -o json --root '$once/v2-plain/root' >/dev/full"
  [ "$status" = 1 ]
}

@test "for people: the limit, where it is set, and what nproc would say" {
  run "$build/headroom-sidecar" --once -o text --root "$once/v2-parent-quota/root"
  [ "$status" = 0 ]
  [[ $output == *"0.3 CPUs (30000 us per 100000 us)"* ]]
  [[ $output == *"/pod"* ]]
  [[ $output == *"40 of 100"* ]]
  run "$build/headroom-sidecar" --once -o text --root "$once/v2-private-namespace/root"
  [ "$status" = 0 ]
  [[ $output == *"none is visible"* ]]
  run "$build/headroom-sidecar" --once -o text --root "$once/v2-crlf/root"
  [ "$status" = 1 ]
  [[ $output == *"unknown"* ]]
}

@test "options come from the environment as well" {
  HEADROOM_ONCE=1 HEADROOM_OUTPUT=json HEADROOM_ROOT=$once/v2-plain/root run "$build/headroom-sidecar"
  [ "$status" = 0 ]
  [ "$(jq .quota_cpus <<<"$output")" = 0.25 ]
}

@test "this very machine: an answer or a reason" {
  report
  jq -e '(.error == null) == (.quota_status != "unknown")' "$BATS_TEST_TMPDIR/report"
}

@test "scripts/capture-fixture: the copy of this machine gives the same answer" {
  keep='[.cgroup_version, .cpu_controller, .cgroup, .quota_status, .quota_cpus, .binding_cgroup, .ancestors_hidden, .nproc, .psi_cpu_status, (.error == null)]'
  "$top/scripts/capture-fixture" "$BATS_TEST_TMPDIR/captured"
  report
  live=$(jq -c "$keep" "$BATS_TEST_TMPDIR/report")
  report --root "$BATS_TEST_TMPDIR/captured/root"
  key "$keep" "$live"
}
