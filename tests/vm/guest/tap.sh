# shellcheck shell=dash
# TAP for guest scripts (busybox sh), and small helpers for cgroups. Used as
#   cgroups=/sys/fs/cgroup
#   . /vm/tap.sh
#   is "name" "$got" "$wanted"
#   tap_end                          # prints the plan; the script's status is 1 if a test failed

: "${cgroups:=/sys/fs/cgroup}"
tap_n=0
tap_bad=0

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }
ok() { tap_n=$((tap_n + 1)) && echo "ok $tap_n - $1"; }

# not_ok NAME [WHY]
not_ok() {
    tap_n=$((tap_n + 1)) tap_bad=$((tap_bad + 1))
    echo "not ok $tap_n - $1"
    [ -n "${2-}" ] && diag "$2"
    return 0
}
skip() { tap_n=$((tap_n + 1)) && echo "ok $tap_n - $1 # SKIP $2"; }

# is NAME GOT WANTED
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got '$2', wanted '$3'"; fi; }

# like NAME GOT PATTERN (of case)
like() {
    # shellcheck disable=SC2254
    case $2 in
    $3) ok "$1" ;;
    *) not_ok "$1" "got '$2', wanted something like '$3'" ;;
    esac
}

# check NAME COMMAND...: the command succeeds
check() {
    tap_name=$1
    shift
    if tap_output=$("$@" 2>&1); then ok "$tap_name"; else not_ok "$tap_name" "status $? of: $*
$tap_output"; fi
}
tap_end() {
    echo "1..$tap_n"
    [ $tap_bad = 0 ]
    exit
}

# cg_make NAME [CPU.MAX]: a cgroup below the root, its controllers on for children
cg_make() { mkdir "$cgroups/$1" && { [ -z "${2-}" ] || echo "$2" >"$cgroups/$1/cpu.max"; }; }

# cg_run NAME [NS OPTIONS] COMMAND...: runs a command in a cgroup, without namespaces; --timeout S limits it
cg_run() {
    cg_name=$1
    shift
    ns --plain --cgroup "$cgroups/$cg_name" "$@"
}

# cg_burn NAME SECONDS: a busy loop
cg_burn() { cg_run "$1" --timeout "$2" sh -c 'while :; do :; done' 2>/dev/null; }

# cg_remove NAME...: waits up to 2 s until the last process is gone
cg_remove() {
    for cg_name in "$@"; do
        cg_tries=0
        until rmdir "$cgroups/$cg_name" 2>/dev/null; do
            cg_tries=$((cg_tries + 1))
            [ $cg_tries -lt 40 ] || { diag "cgroup $cg_name cannot be removed"; return 1; }
            sleep 0.05
        done
    done
}

# cg_stat NAME KEY: one counter of cpu.stat
cg_stat() { awk -v key="$2" '$1 == key { print $2 }' "$cgroups/$1/cpu.stat"; }
