# Loaded by bats files that make cgroups of their own, after common: load ../lib/cgroups
#
#   find_hierarchies              where they can be made (v2, or v1 with the v2 tree beside it): sets $cpu_root, $v2_root,
#                                 $roots; skips where they cannot
#   make_cgroup NAME              in all of them, with the most weight; added to `made`, which the caller sets to ()
#   limit NAME QUOTA_US|none [PERIOD_US]
#   inside NAME COMMAND...        becomes that command, in there from its first instruction on; for a subshell or `&`
#   unmake NAME                   waits until it is empty, removes it

# Where the quota is, and all folders that a process must be put into for usage and pressure as well. The first mount of
# each hierarchy: others (of a container's root, say) show the same.
find_hierarchies() {
    local folder kind options acct_root=
    cpu_root='' v2_root=''
    while read -r _ folder kind options _; do
        case $kind,$options, in
            cgroup2,*) v2_root=${v2_root:-$folder} ;;
            cgroup,*,cpu,*) cpu_root=${cpu_root:-$folder} ;;
        esac
        case $kind,$options, in
            cgroup,*,cpuacct,*) acct_root=${acct_root:-$folder} ;;
        esac
    done </proc/self/mounts
    cpu_root=${cpu_root:-$v2_root}
    mapfile -t roots < <(printf '%s\n' "$cpu_root" "$acct_root" "$v2_root" | grep . | sort -u)
    if [ -z "$v2_root" ] || [ ! -w "$cpu_root/cgroup.procs" ]; then not_on_this_host "cgroups cannot be made here"; fi
}
is_v1() { [ -e "$cpu_root/cpu.shares" ]; }

# One at the top outweighs other work on this machine: what is throttled here must not wait for others instead.
make_cgroup() {
    local root
    made+=("$1")
    for root in "${roots[@]}"; do mkdir "$root/$1"; done
    if is_v1; then echo 262144 >"$cpu_root/$1/cpu.shares"; else echo 10000 >"$cpu_root/$1/cpu.weight"; fi
}
unmake() {
    local root
    for root in "${roots[@]}"; do
        [ ! -d "$root/$1" ] || wait_until 5 rmdir "$root/$1" 2>/dev/null
    done
}

# limit CGROUP QUOTA_US|none [PERIOD_US]
limit() {
    local period=${3:-100000}
    if is_v1; then
        # quota first when it falls, so that quota / period is never above what a parent allows
        echo -1 >"$cpu_root/$1/cpu.cfs_quota_us"
        echo "$period" >"$cpu_root/$1/cpu.cfs_period_us"
        echo "${2/none/-1}" >"$cpu_root/$1/cpu.cfs_quota_us"
    else
        echo "${2/none/max} $period" >"$cpu_root/$1/cpu.max"
    fi
}

inside() {
    exec bash -c 'name=$1 n=$2; for root in "${@:3:n}"; do echo $$ >"$root/$name/cgroup.procs"; done; shift $((n + 2)); exec "$@"' \
        - "$1" ${#roots[@]} "${roots[@]}" "${@:2}"
}
