#!/usr/bin/env bats
# headroom-sidecar exec and install: a command under it behaves as without it; its own executable, copied whole or not at all.
# tests/run: limit 120

setup() {
    load ../lib/common
    need headroom-sidecar
    sidecar=$build/headroom-sidecar
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    [ -z "${pid-}" ] || end_processes "$pid"
    [ -z "${mounted-}" ] || umount "$mounted"
}

# quietly ARGUMENT...: exec with the log in a file, since the command owns stdout
quietly() { "$sidecar" exec -- "$@" 2>log; }

# in_background ARGUMENT...: the same; $pid is the sidecar's. The command writes `ready` when it may be signalled.
in_background() {
    "$sidecar" exec -- "$@" >out 2>log &
    pid=$!
    wait_until 10 test -e ready
}

# ends STATUS: what was started in the background has this status
ends() {
    local status=0
    wait "$pid" || status=$?
    echo "status $status, wanted $1"
    [ $status = "$1" ]
    pid=''
}

@test "exec: arguments, stdin and stdout are the command's" {
    run quietly printf '%s|' a '' 'b c' --once -x --
    [ "$output" = 'a||b c|--once|-x|--|' ]
    [ "$(echo through | quietly cat)" = through ]
}

@test "exec: the exit status of the command, 128 + signal, 127 and 126" {
    for wanted in 0 1 7 125 255; do
        run quietly sh -c "exit $wanted"
        [ "$status" = $wanted ]
    done
    # shellcheck disable=SC2016
    for signal in TERM KILL SEGV USR1; do
        run quietly sh -c 'ulimit -c 0; kill -$0 $$' $signal
        [ "$status" = $((128 + $(kill -l $signal))) ]
    done
    status=0
    quietly ./no-such-command || status=$?
    [ "$status" = 127 ]
    status=0
    quietly no-such-command-anywhere || status=$?
    [ "$status" = 127 ]
    grep -q "cannot find no-such-command-anywhere" log
    echo text >plain
    run quietly ./plain
    [ "$status" = 126 ]
    run quietly .
    [ "$status" = 126 ]
    printf '#!/no/such/interpreter\n' >script
    chmod +x script
    status=0
    quietly ./script || status=$?
    [ "$status" = 127 ]
    grep -q "interpreter or dynamic loader" log
}

@test "exec: every signal that can be passed on arrives once" {
    cat >catch.py <<'END'
import signal, sys, time
names = sys.argv[1:]
seen = []
for name in names:
    signal.signal(getattr(signal, "SIG" + name), lambda number, frame: seen.append(signal.Signals(number).name[3:]))
open("ready", "w").close()
end = time.monotonic() + 20
while time.monotonic() < end and len(set(seen)) < len(names):
    time.sleep(0.02)
time.sleep(0.2)
print(" ".join(sorted(seen)))
END
    names="ALRM HUP INT QUIT TERM USR1 USR2 VTALRM WINCH XCPU URG IO PWR PROF"
    # shellcheck disable=SC2086
    in_background python3 catch.py $names
    for name in $names; do
        kill -"$name" $pid
        sleep 0.03
    done
    ends 0
    [ "$(cat out)" = "$(tr ' ' '\n' <<<"$names" | sort | tr '\n' ' ' | sed 's/ $//')" ]
}

@test "exec: SIGTERM ends the command first, and its status is told" {
    in_background sh -c 'trap "echo cleaning; exit 9" TERM; : >ready; while :; do sleep 0.05; done'
    kill -TERM $pid
    ends 9
    [ "$(cat out)" = cleaning ]
}

@test "exec: a command without a handler dies of the signal" {
    in_background sh -c ': >ready; exec sleep 60'
    kill -HUP $pid
    ends 129
}

@test "exec: the command begins with no signal blocked; nohup stays nohup" {
    cat >status.sh <<'END'
sed -n 's/^SigBlk:\t//p; s/^SigIgn:\t//p' /proc/self/status
END
    run quietly sh status.sh
    echo "$output"
    [ "${lines[0]}" = 0000000000000000 ]
    # what the test's own shell ignores, the command ignores as well, and nothing else
    [ "${lines[1]}" = "$(sh status.sh | tail -n 1)" ]
    # shellcheck disable=SC2016
    ignored=$(trap '' HUP && "$sidecar" exec -- sh status.sh 2>/dev/null | tail -n 1)
    [ $((0x$ignored & 1)) = 1 ]
}

@test "exec: SIGSTOP and SIGCONT of the command do not confuse it" {
    in_background sh -c 'echo $$ >ready; sleep 0.5; exit 3'
    wait_until 5 test -s ready
    kill -STOP "$(cat ready)"
    sleep 0.2
    grep -q '^State:.T' "/proc/$(cat ready)/status"
    grep -q '^State:.[SR]' "/proc/$pid/status"
    kill -CONT $pid
    ends 3
}

@test "exec: orphans are adopted and reaped" {
    # shellcheck disable=SC2016
    in_background sh -c '(sh -c "echo \$\$ >orphan; exec sleep 0.3" &) ; sleep 0.1; : >ready; exec sleep 1'
    wait_until 5 test -s orphan
    orphan=$(cat orphan)
    [ "$(awk '/^PPid:/ { print $2 }' "/proc/$orphan/status")" = $pid ]
    wait_until 5 gone "$orphan"
    [ -e /proc/$pid ]
    ends 0
}

@test "exec: what outlives the command is not killed" {
    # shellcheck disable=SC2016
    quietly sh -c 'sh -c "echo \$\$ >left; exec sleep 20" >/dev/null 2>&1 & while [ ! -s left ]; do sleep 0.02; done'
    left=$(cat left)
    kill -0 "$left"
    kill -KILL "$left"
}

@test "exec: as process 1 of a PID namespace" {
    unshare --pid --fork --mount-proc true 2>/dev/null || not_on_this_host "no new PID namespace can be made"
    # the command is not process 1, so signals that it does not handle end it
    # shellcheck disable=SC2016
    run unshare --pid --fork --mount-proc "$sidecar" exec -- sh -c 'echo $PPID; kill -TERM $$'
    echo "$output"
    [ "${lines[0]}" = 1 ] || [[ $output == *$'\n1\n'* ]]
    [ "$status" = 143 ]
    # shellcheck disable=SC2016
    run unshare --pid --fork --mount-proc "$sidecar" exec -- sh -c '(sleep 0.1 &); sleep 0.4; grep -l "^State:.Z" /proc/[0-9]*/status; exit 5'
    echo "$output"
    [ "$status" = 5 ]
    [[ $output != */status* ]]
    # docker stop: SIGTERM to process 1 reaches the command
    # shellcheck disable=SC2016
    unshare --pid --fork --mount-proc "$sidecar" exec -- sh -c 'trap "exit 4" TERM; : >ready; while :; do sleep 0.05; done' 2>log &
    outer=$!
    wait_until 10 test -e ready
    kill -TERM "$(pgrep -P $outer)"
    status=0
    wait $outer || status=$?
    [ $status = 4 ]
}

@test "exec: on a terminal Ctrl-C arrives once, Ctrl-Z stops both and fg continues them" {
    command -v python3 >/dev/null
    cat >terminal.py <<'END'
import os, pty, select, signal, subprocess, sys, time
sidecar = sys.argv[1]
child = r'''
import signal, time, os
n = 0
def on(number, frame):
    global n
    n += 1
signal.signal(signal.SIGINT, on)
os.write(1, b"up\n")
end = time.monotonic() + 20
while time.monotonic() < end and n == 0: time.sleep(0.02)
time.sleep(0.3)
os.write(1, b"interrupted %d\n" % n)
'''
pid, master = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", PS1="ready> ")
    os.execvp("bash", ["bash", "--norc", "--noediting", "-i"])
text = b""
def until(what, seconds=15):
    global text
    end = time.monotonic() + seconds
    while what not in text:
        if time.monotonic() > end or not select.select([master], [], [], 1)[0] and time.monotonic() > end:
            print("never saw", what, text)
            os.kill(pid, signal.SIGKILL)
            sys.exit(1)
        if select.select([master], [], [], 0.1)[0]:
            text += os.read(master, 4096)
    text = text.split(what, 1)[1]
open("child.py", "w").write(child)
until(b"ready> ")
os.write(master, b"%s exec -- python3 child.py 2>/dev/null\n" % sidecar.encode())
until(b"up\r\n")
os.write(master, b"\x1a")
until(b"Stopped")
until(b"ready> ")
os.write(master, b"echo shell $((1 + 1)) here\n")
until(b"shell 2 here")
os.write(master, b"fg\n")
time.sleep(0.5)
os.write(master, b"\x03")
until(b"interrupted 1\r\n")
os.write(master, b"echo status $?; exit\n")
until(b"status 0")
os.waitpid(pid, 0)
print("fine")
END
    run timeout 60 python3 terminal.py "$sidecar"
    echo "$output"
    [ "$output" = fine ]
}

@test "install: a whole, executable copy" {
    mkdir volume
    umask 077
    run "$sidecar" install volume
    [ "$status" = 0 ] && [ -z "$output" ]
    cmp "$sidecar" volume/headroom-sidecar
    [ "$(stat -c %a volume/headroom-sidecar)" = 755 ]
    [ "$(ls -A volume)" = headroom-sidecar ]
    # over a copy that is running, and by the copy itself
    volume/headroom-sidecar exec -- sleep 5 2>/dev/null &
    pid=$!
    volume/headroom-sidecar install volume
    cmp "$sidecar" volume/headroom-sidecar
    [ "$(ls -A volume)" = headroom-sidecar ]
}

# refuses DIR TEXT: status 1, one sentence with this text, nothing left
refuses() {
    run "$sidecar" install "$1"
    echo "$output"
    [ "$status" = 1 ]
    [ ${#lines[@]} = 1 ]
    [[ $output == *"$2"* ]]
}

@test "install: what cannot be is said in one sentence, and nothing is left" {
    refuses no-such-folder "must be a folder that exists"
    echo x >file
    refuses file "must be a folder that exists"
    mkdir -p taken/headroom-sidecar
    refuses taken "cannot install into taken"
    [ "$(ls -A taken)" = headroom-sidecar ]
    run "$sidecar" install
    [ "$status" = 2 ]
}

@test "install: no room, read-only, no right" {
    mkdir volume
    mount -t tmpfs -o size=16k none volume 2>/dev/null || not_on_this_host "nothing may be mounted here"
    mounted=$PWD/volume
    refuses volume "sizeLimit"
    [ -z "$(ls -A volume)" ]
    mount -o remount,ro volume
    refuses volume "readOnly"
    mount -o remount,rw,size=64m volume
    chmod 755 volume
    chmod 711 "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$(dirname "$(dirname "$BATS_TEST_TMPDIR")")" 2>/dev/null || true
    cp "$sidecar" volume/copy
    chmod 755 volume/copy
    run setpriv --reuid 1234 --regid 1234 --clear-groups volume/copy install volume
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == *"1234:1234"* ]]
    [ "$(ls -A volume)" = copy ]
}
