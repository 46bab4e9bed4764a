#!/usr/bin/env python3
"""The table of load.sh: medians over its turns, from the files that it left in a folder.

    load_table.py FOLDER [--busy SHARE] [--json FILE]

Lateness is the recorder's: when the request arrived, against the ideal schedule that fits best (analyse.py). The first
burst and the first request are left out for every tool, since tools that open their connections then are charged for
more than their timer. Connections that headroom-load opens for its warm-up send requests as well: the recorder's first
N arrivals are those, and are left out.
"""
import argparse
import json
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import analyse  # noqa: E402

CASES = {  # period in ms, burst, what the goals of the project say (us): late p50, p99
    "paced20": (50.0, 1, (50, 200)),
    "rate1000": (1.0, 1, (50, 150)),
    "rate10000": (0.1, 1, (60, 250)),
    "burst": (400.0, 8, (200, 400)),
}

OURS = ("headroom", "normal")


def load_json(path):
    try:
        with open(path) as f:
            return json.loads(f.read())
    except (OSError, ValueError):
        return None


def warm_up_of(folder, name):
    report = load_json(os.path.join(folder, name + ".out"))
    return report["warmup"] if isinstance(report, dict) and "warmup" in report else 0


def one_run(folder, tool, case, turn):
    name = "%s.%s.%d" % (tool, case, turn)
    path = os.path.join(folder, name)
    out = {"turn": turn}
    usage = load_json(path + ".use")
    seen = load_json(path + ".rec")
    if usage:
        out["cpu_s"] = usage["user_s"] + usage["sys_s"]
        out["wall_s"] = usage["wall_s"]
        out["exit"] = usage["status"]
    if seen:
        out["requests"] = seen["requests"]
        out["connections"] = seen["connections"]
    skip = warm_up_of(folder, name)
    report = load_json(path + ".out")
    if isinstance(report, dict):
        for key in ("p99_ms", "lateness_p50_ms", "lateness_p99_ms", "lateness_max_ms", "valid", "connections_opened",
                    "scheduling", "rate_per_s", "cpu_s", "sent", "ok"):
            out["own_" + key] = report.get(key)
    if case == "closed":
        if seen and usage:
            seconds = 5.0
            out["rate_rps"] = seen["requests"] / seconds
            out["cpu_us_per_request"] = out["cpu_s"] * 1e6 / max(1, seen["requests"])
        return out
    if not os.path.exists(path + ".arr"):
        return out
    if case == "stall":
        # only what came while the server did not answer: kernel stamps show when it was sent
        times = analyse.read_times(path + ".arr", skip)
        if times:
            first = analyse.read_times(path + ".arr")[0]
            out["during_stall"] = sum(1 for t in times if first + 3.0e9 < t <= first + 4.0e9)
        return out
    period, burst, _ = CASES[case]
    times = analyse.read_times(path + ".arr", skip + burst)
    out.update(analyse.analyse(times, period, burst))
    return out


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def show(value, form="%.0f"):
    return "-" if value is None else form % value


def summarise(case, runs):
    row = {"runs": len(runs), "cpu_s": median([r.get("cpu_s") for r in runs]),
           "rate_rps": median([r.get("rate_rps") for r in runs]),
           "connections": median([r.get("connections") for r in runs])}
    if case in CASES:
        for key in ("late", "burst_spread"):
            for q in ("p50", "p99"):
                row["%s_%s_us" % (key, q)] = median([r[key][q] for r in runs if key in r])
    if case == "closed":
        row["cpu_us_per_request"] = median([r.get("cpu_us_per_request") for r in runs])
    if case == "stall":
        row["during_stall"] = median([r.get("during_stall") for r in runs])
        row["own_p99_ms"] = median([r.get("own_p99_ms") for r in runs])
        row["own_lateness_max_ms"] = median([r.get("own_lateness_max_ms") for r in runs])
    return row


def print_case(case, tools):
    print("\n%s" % case)
    if case in CASES:
        print("  %-10s %10s %10s %10s %12s %8s %6s" % ("tool", "late p50", "late p99", "to best", "rate/s", "CPU s", "conns"))
        others = [t["late_p99_us"] for n, t in tools.items() if n not in OURS and t.get("late_p99_us")]
        best = min(others) if others else None
        for name, t in tools.items():
            share = t["late_p99_us"] / best if best and t.get("late_p99_us") else None
            print("  %-10s %10s %10s %10s %12s %8s %6s" % (
                name, show(t.get("late_p50_us")), show(t.get("late_p99_us")), show(share, "%.2f"),
                show(t["rate_rps"], "%.3f"), show(t["cpu_s"], "%.2f"), show(t["connections"])))
        print("  goal       %10d %10d %10s   (us; a third of the best other tool's p99)" % (CASES[case][2] + ("0.33",)))
    elif case == "closed":
        print("  %-10s %12s %14s" % ("tool", "requests/s", "CPU us/request"))
        for name, t in tools.items():
            print("  %-10s %12s %14s" % (name, show(t["rate_rps"]), show(t["cpu_us_per_request"], "%.1f")))
        print("  goal       %12s %14s" % (">= 45000", "<= 22"))
    else:
        print("  %-10s %18s %12s %16s" % ("tool", "sent in the stall", "own p99 ms", "own lateness max"))
        for name, t in tools.items():
            print("  %-10s %18s %12s %16s" % (name, show(t["during_stall"]), show(t["own_p99_ms"], "%.1f"),
                                              show(t["own_lateness_max_ms"], "%.3f")))
        print("  goal       %18s %12s %16s" % ("20", "about 850", "< 0.3"))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder")
    p.add_argument("--busy", type=float, default=None)
    p.add_argument("--json")
    a = p.parse_args()
    runs = {}
    for name in sorted(os.listdir(a.folder)):
        m = re.fullmatch(r"(\w+)\.(\w+)\.(\d+)\.use", name)
        if m:
            runs.setdefault(m.group(2), {}).setdefault(m.group(1), []).append(
                one_run(a.folder, m.group(1), m.group(2), int(m.group(3))))
    table = {case: {tool: summarise(case, r) for tool, r in tools.items()} for case, tools in runs.items()}
    for case, tools in table.items():
        print_case(case, tools)
    if a.busy is not None:
        print("\nboth CPUs together were busy %.0f%% of the time, the measured programs included" % (a.busy * 100))
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"busy": a.busy, "table": table, "runs": runs}, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
