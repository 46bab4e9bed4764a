#!/usr/bin/env bats
# Study 2 for real on this host: four incidents and a limit on the parent only, and what the sidecar says about each.
# HEADROOM_TEST_INCIDENT_RUNS=10 makes each ten times. tests/vm/guest/50-incidents.sh does the same on pure cgroup v2.
# tests/run: limit 3600

setup() {
  load ../lib/common
  need headroom-sidecar
}

@test "every incident gets its own verdict" {
  run python3 "$top/tests/lib/incidents.py" --build "$build" --runs "${HEADROOM_TEST_INCIDENT_RUNS:-1}"
  sed 's/^/# /' <<<"$output" >&3
  [ "$status" != 77 ] || not_on_this_host "$(sed -n 's/^incidents: //p' <<<"$output")"
  [ "$status" = 0 ]
  [[ ${lines[-1]} =~ ^([0-9]+)\ of\ ([0-9]+)\ verdicts\ are\ right$ ]]
  [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
}
