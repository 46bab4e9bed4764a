"""Section "truth": what the sidecar says, against the kernel's counters read by somebody else, and against the stops that a
thread under a quota sees on its own clock (victim.c)."""
import os
import statistics

import common
import sidecar
from common import column, figure, goal

PERIOD_USEC = 100000
QUOTAS_USEC = [30000, 50000]


def counters(bench, cgroup):
    """Straight from the files, in the units of v2."""
    stat = dict(line.split() for line in common.read_text(os.path.join(bench.cgroups.cpu, cgroup, "cpu.stat")).splitlines())
    if not bench.cgroups.is_v1:
        names = ("usage_usec", "nr_periods", "nr_throttled", "throttled_usec")
        return {name: int(stat[name]) for name in names}
    usage = common.read_text(bench.counter_files(cgroup)[1])
    return {"usage_usec": int(usage) // 1000, "nr_periods": int(stat["nr_periods"]),
            "nr_throttled": int(stat["nr_throttled"]), "throttled_usec": int(stat["throttled_time"]) // 1000}


def circular_ms(a, b, period):
    """The shorter way round."""
    d = (a - b) % period
    return min(d, period - d)


def one_run(bench, victim, quota_usec, number):
    cgroup = bench.cgroup("truth-%d" % number, quota=(quota_usec, PERIOD_USEC))
    watching = sidecar.Watching(bench, ["--cgroup", "/" + cgroup])
    before = counters(bench, cgroup)
    # a stop for lack of quota is as long as the rest of the period; half of that is no other task's slice
    least_ms = (PERIOD_USEC - quota_usec) / 2000
    _, out = bench.run([victim, str(bench.seconds(4, 2)), str(least_ms)], lambda: bench.cgroups.enter(cgroup))
    stops = [tuple(int(x) / 1e6 for x in line.split()) for line in out.splitlines()]
    after, report = counters(bench, cgroup), watching.report()["containers"][0]
    if counters(bench, cgroup) != after:
        raise RuntimeError("the counters of %s do not stand still, though nothing runs in it" % cgroup)
    watching.stop()
    since, demand = report["since_start"], report["demand"]
    period = PERIOD_USEC / 1000
    # from one release to the next stop: how long the budget of a period lasted
    lasted = [b[0] - a[1] for a, b in zip(stops, stops[1:]) if b[0] - a[1] < period]
    begins = [to % period for _, to in stops]
    middle = statistics.median([circular_ms(b, begins[0], period) for b in begins]) if begins else None
    return {
        "errors": {k: abs(report["cpu_stat"][k] - after[k]) + abs(since[k] - (after[k] - before[k])) for k in after},
        "throttled": after["nr_throttled"], "stops": len(stops),
        "stopped_ms": sum(to - start for start, to in stops), "throttled_ms": since["throttled_usec"] / 1e3,
        "exhausted_error": abs(demand["exhausted_at_ms"] - statistics.mean(lasted))
        if lasted and demand["exhausted_at_ms"] is not None else None,
        "phase_error": statistics.median([circular_ms(b, demand["phase_ms"], period) for b in begins])
        if middle is not None and demand["phase_ms"] is not None else None,
    }


def measure(bench):
    victim = bench.compile("victim")
    turns = bench.runs or bench.turns(3, 1)
    runs = [one_run(bench, victim, quota, turn * len(QUOTAS_USEC) + i)
            for turn in range(turns) for i, quota in enumerate(QUOTAS_USEC)]
    get = lambda key: figure([r[key] for r in runs])  # noqa: E731
    rows = [["%s, error" % k, figure([r["errors"][k] for r in runs])] for k in runs[0]["errors"]]
    rows += [["throttled periods in a run", get("throttled")], ["stops that the thread saw", get("stops")],
             ["throttled by the sidecar to stops by the thread's clock",
              common.ratio([r["throttled_ms"] for r in runs], [r["stopped_ms"] for r in runs])],
             ["instant at which the budget ran out, error ms", get("exhausted_error")],
             ["instant of the period timer, error ms", get("phase_error")]]
    worst = figure([max(r["errors"].values()) for r in runs])
    if any(r["exhausted_error"] is None or r["phase_error"] is None for r in runs):
        bench.notes.append("Runs in which the sidecar saw no whole period, or the thread was never stopped, have no edges.")
    edges = figure([max(v for v in (r["exhausted_error"], r["phase_error"]) if v is not None) for r in runs
                    if r["exhausted_error"] is not None or r["phase_error"] is not None])
    return {"tables": [{"title": "%d runs under quotas of 0.3 and 0.5 CPU" % len(runs),
                        "columns": [column(""), column("", 3)], "rows": rows}],
            "goals": [goal("error of the counters, 0", worst, lambda v: v == 0),
                      goal("error of a stop's edges, ms (mean of a run), below 10", edges, lambda v: v < 10)]}
