#!/bin/sh
# vm: psi=1
# The sidecar in a shared PID namespace, without capabilities: it finds its neighbours by their cgroups, reads those of its
# own uid and gid, names both identities where it may not, and finds a restarted container again. Real cgroup, mount and PID
# namespaces; the cgroups are called as containerd calls them.
# shellcheck disable=SC2086 # $contained is several words
cgroups=/sys/fs/cgroup
# shellcheck source=/dev/null
. /vm/tap.sh

command -v headroom-sidecar >/dev/null || { echo "1..0 # SKIP headroom-sidecar is not in the guest"; exit 0; }

uid=5f6e0a1c-3c7e-4a0b-9d54-2b8e7a61c9f0
web=4b5e57f6eb2f42b9039b3d1e13929295f231749c510cbe341cd68036d9af97e2
again=a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be3f333
db=7bdc25d1694ef984782a16f6f1710c1c6bc83ba7a131b515baf532bea021d011
pause=6210c0bf05396716df932f0729df69de0533933e5ad9871fd07b61811c4c28df
own=1241936d4dd3aad68fe7bfbdfe854b935926bc678fc72377e15166078916227a
contained="--drop-caps --no-new-privs"
log=/tmp/sidecar.log

# --- a pod: one cgroup, its containers below it
pod=kubepods-pod1.slice
cg_make $pod
echo +cpu >$cgroups/$pod/cgroup.subtree_control
scope() { echo $pod/cri-containerd-$1.scope; }

# container ID NAME UID LIMIT COMMAND: a container's process in the background, with the kubelet's mount; its pid in $pid
container() {
    cg_make "$(scope $1)" "$4"
    termination=/tmp/kubelet/pods/$uid/containers/$2/1a2b3c4d
    mkdir -p ${termination%/*}
    : >$termination
    : >/tmp/termination-log
    ns --cgroup $cgroups/"$(scope $1)" sh -c \
        "mount --bind $termination /tmp/termination-log && exec ns --plain --uid $3 --gid $3 $contained sh -c '$5'" &
    pid=$!
    tries=0
    until grep -q "^CapPrm:.0000000000000000" /proc/$pid/status || [ $tries = 100 ]; do
        tries=$((tries + 1)) && sleep 0.05
    done
}

# start_sidecar UID [OPTIONS]: in its own container
start_sidecar() {
    sidecar_uid=$1
    shift
    : >$log
    ns --cgroup $cgroups/"$(scope $own)" --uid $sidecar_uid --gid $sidecar_uid $contained --timeout 60 \
        headroom-sidecar -o json --log-every 1s "$@" >$log 2>&1 &
    sidecar=$!
}
stop_sidecar() {
    kill $sidecar
    wait $sidecar
    status=$?
}

# line_of EVENT ID: the last line of this event about this container, in /tmp/line
line_of() { grep "\"event\": \"$1\".*$2" $log | tail -n 1 >/tmp/line; }
# wait_for EVENT ID: up to 15 s
wait_for() {
    tries=0
    until line_of $1 $2 && [ -s /tmp/line ] || [ $tries = 75 ]; do tries=$((tries + 1)) && sleep 0.2; done
    [ -s /tmp/line ]
}
# has NAME KEY=VALUE...: keys of /tmp/line
has() {
    has_name=$1 has_bad=''
    shift
    for pair in "$@"; do
        got=$(jget /tmp/line "${pair%%=*}" 2>/dev/null) || got='(no line)'
        awk -v a="$got" -v b="${pair#*=}" 'BEGIN { exit !(a == b) }' || has_bad="$has_bad ${pair%%=*} is '$got'"
    done
    if [ -z "$has_bad" ]; then ok "$has_name"; else not_ok "$has_name" "$has_bad"; fi
}

cg_make "$(scope $own)" "200000 100000"
# pause: a container that holds one process of this name; it reads from a fifo that nobody writes to
mkfifo -m 666 /tmp/never
container $pause '' 65535 "100000 100000" 'printf pause >/proc/self/comm; read x </tmp/never'
pause_pid=$pid
tries=0
until [ "$(cat /proc/$pause_pid/comm)" = pause ] || [ $tries = 50 ]; do tries=$((tries + 1)) && sleep 0.1; done
is "pause is called so" "$(cat /proc/$pause_pid/comm)" pause
container $web web 1000 "25000 100000" 'while :; do :; done'
web_pid=$pid
container $db db 2000 "50000 100000" 'while :; do :; done'
db_pid=$pid

# --- equal uid and gid, no capabilities
start_sidecar 1000
check "it finds the container of its own uid" wait_for target_found $web
has "... by name, with its quota" container=web pod_uid=$uid container_id=$web scope=container quota_cpus=0.25 quota_usec=25000
check "the one of another uid: may not be read" wait_for unreadable $db
like "... the sentence names the application's identity and the sidecar's" "$(jget /tmp/line msg)" "*2000:2000*1000:1000*"
like "... and the field to set" "$(jget /tmp/line msg)" "*runAsUser 2000*"
sleep 2
line_of summary $web
has "it goes on: a summary of web" container=web quota_cpus=0.25
is "pause is nobody's neighbour" "$(grep -c $pause $log)" 0
is "nor is the sidecar itself" "$(grep -c $own $log)" 0

# --- a restart: another id, another cgroup
kill $web_pid
wait $web_pid 2>/dev/null
cg_remove "$(scope $web)"
container $again web 1000 "75000 100000" 'while :; do :; done'
web_pid=$pid
check "the container that ended is told" wait_for target_lost $web
check "its successor is found" wait_for target_found $again
has "... by the same name, with its own quota" container=web container_id=$again quota_cpus=0.75
stop_sidecar
[ ! -d /out ] || cp $log /out/
is "SIGTERM: status 0" $status 0

# --- a selection
start_sidecar 1000 --container db
check "--container db: only db" wait_for unreadable $db
stop_sidecar
is "... and nobody else" "$(grep -c $again $log)" 0

# --- the other way round: with db's identity
start_sidecar 2000
check "with the other identity: db is read" wait_for target_found $db
has "... its quota" container=db quota_cpus=0.5
check "... and web is not" wait_for unreadable $again
stop_sidecar

kill $web_pid $db_pid $pause_pid
wait $web_pid $db_pid $pause_pid 2>/dev/null
cg_remove "$(scope $pause)" "$(scope $again)" "$(scope $db)" "$(scope $own)" $pod
tap_end
