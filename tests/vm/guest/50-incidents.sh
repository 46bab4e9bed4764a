#!/bin/sh
# vm: psi=1
# The four incidents of study 2 and a limit on the parent only, made for real around a busy loop of 2 s of CPU time, in
# random order: the sidecar's verdict over exactly that time must be the right one. HEADROOM_RUNS=10 (tests/vm/run --env)
# makes each ten times.
#
#   A nothing                                      own_code
#   B a quota of 0.3 CPU                           throttled
#   C 12 processes of another cgroup compete       contention, by neighbours
#   D a process beside it writes to the disk       io_wait
#   F a quota of 0.3 CPU on the parent only        throttled_above
cgroups=/sys/fs/cgroup
# shellcheck source=/dev/null
. /vm/tap.sh

command -v headroom-sidecar >/dev/null || { echo "1..0 # SKIP headroom-sidecar is not in the guest"; exit 0; }

runs=${HEADROOM_RUNS:-1}
disk=/dev/nvme0n1
url=http://127.0.0.1:9470/report
helpers='' sidecar='' right=0 made=0

wanted() {
    case $1 in
    A) echo own_code ;;
    B) echo throttled ;;
    C) echo contention/neighbours ;;
    D) echo io_wait ;;
    F) echo throttled_above ;;
    esac
}

# helper CGROUP COMMAND...: starts it; ns becomes the command, so the pid is the command's
helper() {
    folder=$cgroups/$1
    shift
    ns --plain --cgroup "$folder" "$@" &
    helpers="$helpers $!"
}

prepare() {
    cg_make incident
    echo "+cpu +io +memory" >$cgroups/incident/cgroup.subtree_control
    cg_make incident/app
    case $1 in
    B) echo "30000 100000" >$cgroups/incident/app/cpu.max ;;
    F) echo "30000 100000" >$cgroups/incident/cpu.max ;;
    C)
        cg_make incident/rivals
        # Twelve containers in one: with the weight of a single one the scheduler would leave the application a CPU of its
        # own. So many that it gets two fifths of a CPU, which made the work of the study 2.5 times slower.
        echo $((250 * VM_CPUS - 100)) >$cgroups/incident/rivals/cpu.weight
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do helper incident/rivals sh -c 'while :; do :; done'; done
        ;;
    D)
        # A disk of 2 MB a second: under emulation writing to a faster one costs more CPU time than waiting.
        echo "$(cat /sys/class/block/${disk#/dev/}/dev) wbps=2097152" >$cgroups/incident/app/io.max
        mkdir -p /mnt && mount -t ext4 $disk /mnt
        helper incident/app sh -c \
            'while :; do dd if=/dev/zero of=/mnt/file bs=64k count=16 conv=fsync,notrunc 2>/dev/null; done'
        ;;
    esac
    rm -f /tmp/log
    headroom-sidecar --cgroup /incident/app --listen 127.0.0.1:9470 -o json >/tmp/log 2>&1 &
    sidecar=$!
    tries=0
    until grep -q '"target_found"' /tmp/log || [ $tries = 100 ]; do tries=$((tries + 1)) && sleep 0.1; done
    [ -z "$helpers" ] || sleep 0.5
}

# ended PID...: reaps them and proves them gone
ended() {
    for pid in "$@"; do
        wait "$pid" 2>/dev/null
        [ ! -e "/proc/$pid" ] || { not_ok "process $pid is gone" && return 1; }
    done
}

clean_up() {
    kill "$sidecar"
    echo 1 >$cgroups/incident/cgroup.kill
    # shellcheck disable=SC2086 # several pids
    ended $sidecar $helpers
    helpers=''
    [ "$1" != C ] || cg_remove incident/rivals
    cg_remove incident/app incident
    [ "$1" != D ] || umount /mnt
}

value() { jget /tmp/report "containers.0.window.$1"; }

incident() {
    prepare "$1"
    token=$(wget -q -O - $url | jget - token)
    # SIGXCPU ends it after 2 s of CPU time
    ns --plain --cgroup $cgroups/incident/app sh -c 'ulimit -t 2; while :; do :; done' 2>/dev/null
    wget -q -O /tmp/report "$url?since=$token" || echo '{}' >/tmp/report
    verdict=$(value verdict)
    [ "$verdict" != contention ] || verdict=$verdict/$(value contention_by)
    is "$1: $(wanted "$1")" "$verdict" "$(wanted "$1")"
    diag "$1 $(value duration_s) s, $(value usage_usec) us of CPU; throttled $(value nr_throttled) of $(value nr_periods) periods," \
        "$(value throttled_usec) us; above $(value nr_throttled_above), $(value throttled_usec_above) us;" \
        "cpu.pressure $(value psi_cpu_some_usec) us, io.pressure $(value psi_io_some_usec) us;" \
        "$(jget /tmp/report sidecar.cpu_us_per_sample) us of CPU a sample"
    made=$((made + 1))
    [ "$verdict" != "$(wanted "$1")" ] || right=$((right + 1))
    clean_up "$1"
}

kinds="A B C F"
if [ -b $disk ]; then
    kinds="$kinds D"
else
    skip "D: io_wait" "not on this host: this boot has no disk (tests/vm/run --disk)"
fi
for kind in $(for _ in $(seq "$runs"); do echo "$kinds"; done | tr ' ' '\n' | shuf); do incident "$kind"; done
diag "$right of $made verdicts are right"
tap_end
