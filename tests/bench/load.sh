#!/bin/bash
# Compares headroom-load with other load generators, as a neutral recorder sees them (recorder.c, analyse.py).
#
#   tests/bench/load.sh [--runs 5] [--json FILE] [--cases paced20,rate1000,rate10000,burst,closed,stall]
#
# Every case is run RUNS times, the tools taking turns within each turn, so that all meet the same noise; the table shows
# the median over the turns. The generator runs on CPU 0, the recorder on CPU 1. wrk2 is used when WRK2 names its binary;
# hey, h2load and wrk when they are installed. headroom-load takes a real-time priority by itself where that is permitted;
# "normal" is the same program without it. The recorder gets one as well, so that it disturbs nobody. How much other work the machine did is printed beside the figures: on a
# busy machine compare the tools, not the microseconds.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
load=${HEADROOM_LOAD:-$top/build/headroom-load}
runs=5
json=''
cases=paced20,rate1000,rate10000,burst,closed,stall
while [ $# -gt 0 ]; do
    case $1 in
    --runs) runs=$2; shift 2 ;;
    --json) json=$2; shift 2 ;;
    --cases) cases=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "load.sh: unknown option $1" >&2; exit 2 ;;
    esac
done
[ -x "$load" ] || { echo "load.sh: $load is not built: make" >&2; exit 1; }

tmp=$(mktemp -d)
recorder_pid=''
# Ends the recorder by its pid and waits for its arrivals.
stop_recorder() {
    [ -n "$recorder_pid" ] || return 0
    kill -TERM "$recorder_pid" 2>/dev/null || true
    wait "$recorder_pid" 2>/dev/null || true
    recorder_pid=''
}
cleanup() { stop_recorder; rm -rf "$tmp"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cc=${CC:-cc}
"$cc" -O2 -o "$tmp/recorder" "$top/tests/bench/recorder.c"
"$cc" -O2 -o "$tmp/rusage" "$top/tests/bench/rusage.c"

two_cpus=$(nproc)
on() { # on CPU COMMAND...: pinned where there is more than one CPU
    local cpu=$1
    shift
    if [ "$two_cpus" -gt 1 ]; then exec taskset -c "$cpu" "$@"; else exec "$@"; fi
}

realtime=()
if chrt -f 1 true 2>/dev/null; then realtime=(chrt -f 1); fi

port=$((20000 + $$ % 10000))
url=http://127.0.0.1:$port/
start_recorder() { # start_recorder ARRIVALS [OPTION...]
    local arrivals=$1
    shift
    (on 1 "${realtime[@]}" "$tmp/recorder" -p "$port" -k -o "$arrivals" "$@" 2>"$tmp/recorder.json") &
    recorder_pid=$!
    local i
    for ((i = 0; i < 100; i++)); do
        if (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; then return 0; fi
        sleep 0.05
    done
    echo "load.sh: the recorder does not listen" >&2
    exit 1
}

# Share of the CPUs' time that was not idle, from /proc/stat.
busy_sample() { awk '/^cpu /{ idle = $5 + $6; for (i = 2; i <= 9; i++) all += $i; print idle, all }' /proc/stat; }

# run TOOL CASE TURN COMMAND...: leaves TOOL.CASE.TURN.{arr,use,rec} in $tmp
run() {
    local name=$1.$2.$3 recorder_options=()
    local case=$2
    shift 3
    [ "$case" = stall ] && recorder_options=(-D 3000:1000)
    [ "$case" = closed ] && recorder_options=(-q)
    start_recorder "$tmp/$name.arr" "${recorder_options[@]}"
    (on 0 "$tmp/rusage" "$tmp/$name.use" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err") || true
    stop_recorder
    cp "$tmp/recorder.json" "$tmp/$name.rec"
}

have() { command -v "$1" >/dev/null 2>&1; }
wrk2=${WRK2:-}

bench_case() { # bench_case CASE TURN
    case $1 in
    paced20)
        run headroom "$1" "$2" "$load" "$url" --rate 20/s --duration 20s -o json
        run normal "$1" "$2" "$load" "$url" --rate 20/s --duration 20s --realtime off -o json
        [ -n "$wrk2" ] && run wrk2 "$1" "$2" "$wrk2" -t1 -c1 -d20s -R20 "$url"
        have h2load && run h2load "$1" "$2" h2load --h1 -c1 -n400 --rps 20 "$url"
        have hey && run hey "$1" "$2" hey -c 1 -q 20 -z 20s "$url"
        ;;
    rate1000)
        run headroom "$1" "$2" "$load" "$url" --rate 1000/s --duration 10s -o json
        run normal "$1" "$2" "$load" "$url" --rate 1000/s --duration 10s --realtime off -o json
        [ -n "$wrk2" ] && run wrk2 "$1" "$2" "$wrk2" -t1 -c1 -d10s -R1000 "$url"
        have h2load && run h2load "$1" "$2" h2load --h1 -c1 -n10000 --rps 1000 "$url"
        have hey && run hey "$1" "$2" hey -c 1 -q 1000 -z 10s "$url"
        ;;
    rate10000)
        run headroom "$1" "$2" "$load" "$url" --rate 10000/s --duration 10s -o json
        run normal "$1" "$2" "$load" "$url" --rate 10000/s --duration 10s --realtime off -o json
        [ -n "$wrk2" ] && run wrk2 "$1" "$2" "$wrk2" -t1 -c1 -d10s -R10000 "$url"
        have h2load && run h2load "$1" "$2" h2load --h1 -c1 -n100000 --rps 10000 "$url"
        ;;
    burst)
        run headroom "$1" "$2" "$load" "$url" --pattern burst --burst 8 --every 400ms --duration 20s -o json
        run normal "$1" "$2" "$load" "$url" --pattern burst --burst 8 --every 400ms --duration 20s --realtime off -o json
        [ -n "$wrk2" ] && run wrk2 "$1" "$2" "$wrk2" -t1 -c8 -d20s -R20 "$url"
        have h2load && run h2load "$1" "$2" h2load --h1 -c8 -n400 --rps 2.5 "$url"
        have hey && run hey "$1" "$2" hey -c 8 -q 2.5 -z 20s "$url"
        ;;
    closed)
        run headroom "$1" "$2" "$load" "$url" --pattern closed --threads 8 --duration 5s -o json
        have wrk && run wrk "$1" "$2" wrk -t1 -c8 -d5s "$url"
        have h2load && run h2load "$1" "$2" h2load --h1 -c8 -D5 "$url"
        have hey && run hey "$1" "$2" hey -c 8 -z 5s "$url"
        ;;
    stall)
        run headroom "$1" "$2" "$load" "$url" --rate 20/s --duration 20s -o json
        run normal "$1" "$2" "$load" "$url" --rate 20/s --duration 20s --realtime off -o json
        [ -n "$wrk2" ] && run wrk2 "$1" "$2" "$wrk2" -t1 -c1 -d20s -R20 --latency "$url"
        ;;
    esac
    return 0
}

read -r idle0 all0 < <(busy_sample)
for ((turn = 1; turn <= runs; turn++)); do
    for case in ${cases//,/ }; do
        printf '\rturn %d of %d: %-10s' "$turn" "$runs" "$case" >&2
        bench_case "$case" "$turn"
    done
done
printf '\r%40s\r' '' >&2
read -r idle1 all1 < <(busy_sample)
python3 "$top/tests/bench/load_table.py" "$tmp" --busy "$(awk "BEGIN { print 1 - ($idle1 - $idle0) / ($all1 - $all0) }")" \
    ${json:+--json "$json"}
