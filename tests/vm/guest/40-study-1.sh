#!/bin/sh
# vm: psi=1 psi=0
# shellcheck disable=SC2016 # expressions are for awk
# Study 1, short, under pure cgroup v2: the shape, judged here from runs.csv and not by the program alone; and that no cgroup
# and no process is left, also after an interruption. The CPUs are emulated: a request costs three times the CPU that its
# work was calibrated to, so there is five times the time between requests, and a second and a third try.
cgroups=/sys/fs/cgroup
# shellcheck source=/dev/null
. /vm/tap.sh

for program in headroom headroom-probe headroom-load headroom-sidecar; do
    command -v $program >/dev/null || { echo "1..0 # SKIP $program is not in the guest"; exit 0; }
done
out=/tmp/study-1

# value LIMIT PATTERN COLUMN: of the valid run of a condition in runs.csv
value() {
    awk -F, -v l="$1" -v p="$2" -v name="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["limit_cpus"] == l && $at["pattern"] == p && $at["valid"] == "true" { print $at[name]; exit }' $out/runs.csv
}

# holds EXPRESSION VALUE...: an expression of awk in $1, $2, ...; an empty value is never right
holds() {
    expression=$1
    shift
    echo "$*" | awk -v n=$# "{ exit !(NF == n && ($expression)) }"
}

groups_left() { find $cgroups -type d -name 'headroom-*' | wc -l; }

# The shape with bounds for emulated CPUs, where a single request can need more than the 25 ms of a period: bursts wait for
# the quota, even requests in less than half as many of their periods.
shape_is_there() {
    holds '$1 > 0 && $2 == 0 && $3 == 0' "$(value 0.25 burst nr_throttled)" "$(value none even nr_throttled)" \
        "$(value none burst nr_throttled)" &&
        holds '$1 / $2 <= $3 / $4 / 2' "$(value 0.25 even nr_throttled)" "$(value 0.25 even nr_periods)" \
            "$(value 0.25 burst nr_throttled)" "$(value 0.25 burst nr_periods)" &&
        holds '$1 >= 2 * $2' "$(value 0.25 burst p99_ms)" "$(value 0.25 even p99_ms)" &&
        holds '$1 > $2' "$(value 0.25 burst p99_ms)" "$(value none burst p99_ms)" &&
        holds '$1 < 0.8 && $2 < 0.8' "$(value 0.25 even of_limit)" "$(value 0.25 burst of_limit)"
}

for try in 1 2 3; do
    rm -rf $out
    headroom study 1 --stretch 5 --seconds 6 --lateness-bound 1s --seed $try --out $out >/tmp/report 2>/tmp/errors
    status=$?
    diag "try $try: status $status"
    diag "$(cat /tmp/report /tmp/errors)"
    shape_is_there && break
done

check "bursts wait for the quota, even requests do not, and neither does without a limit" shape_is_there
check "status 0 or 1: the study went through" [ "$status" -le 1 ]
is "nothing was complained about" "$(cat /tmp/errors)" ""
like "the limit was made in cgroup v2" "$(cat /tmp/report)" "*limiter   v2 (cgroup v2 at /sys/fs/cgroup)*"
like "the report judges the shape" "$(cat /tmp/report)" "*shape: *"
like "the sidecar warned" "$(cat /tmp/report)" "*at 0.25 CPU, nproc_quota_mismatch*"
is "six conditions" "$(tail -n +2 $out/runs.csv | cut -d, -f1,2 | sort -u | wc -l)" 6
check "every request of a condition is recorded" [ "$(grep -c '^0.25,burst,' $out/requests.csv)" -ge 24 ]
check "the CPU observation begins 0.1 s before the load" \
    holds '$1 > 6.05 && $1 < 10' "$(value 0.25 even cpu_observed_s)"
if [ "$VM_PSI" = 1 ]; then
    check "pressure grew while bursts waited" holds '$1 > 10000' "$(value 0.25 burst psi_cpu_some_usec)"
else
    is "psi=0: pressure is empty, not 0" "$(value 0.25 burst psi_cpu_some_usec)" ""
fi
check "the phase was seen" holds '$1 >= 0 && $1 < 100' "$(value 0.25 burst phase_ms)"
is "summary.json names the way" "$(jget $out/summary.json limiter)" v2
is "summary.json has the six conditions" "$(jget $out/summary.json conditions.5.pattern)" burst
is "no cgroup is left" "$(groups_left)" 0

# Interrupted in its second run
headroom study 1 --rounds 1000 --seconds 2 --lateness-bound 1s --out /tmp/cut >/dev/null 2>/tmp/errors &
pid=$!
tries=0
until [ "$(wc -l 2>/dev/null </tmp/cut/runs.csv || echo 0)" -ge 2 ] || [ $tries = 600 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
sleep 1
kill -TERM $pid
wait $pid
is "TERM: status 143" $? 143
is "TERM: no cgroup is left" "$(groups_left)" 0
is "TERM: no process is left" "$(grep -l '^headroom' /proc/[0-9]*/comm 2>/dev/null)" ""
check "TERM: what was measured is there" [ "$(wc -l </tmp/cut/runs.csv)" -ge 2 ]

# As in a container of its own: nothing but our own cgroup is seen, and we are alone in it. headroom makes room by moving
# itself down, and moves back.
cg_make box "max 100000"
ns --cgroup $cgroups/box --rw headroom study 1 --rounds 1000 --seconds 1 --lateness-bound 1s --out /tmp/box \
    >/tmp/report 2>/tmp/errors
check "in a cgroup namespace of its own" [ $? -le 1 ]
diag "$(cat /tmp/errors)"
is "all six conditions" "$(tail -n +2 /tmp/box/runs.csv | cut -d, -f1,2 | sort -u | wc -l)" 6
is "nothing is left in there" "$(find $cgroups/box -mindepth 1 -type d | wc -l)" 0
cg_remove box
tap_end
