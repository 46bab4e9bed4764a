"""Section "verdicts": the incidents of study 2, made for real, and what the sidecar said about each."""
import json
import os
import sys

import common
from common import column, figure, goal, incidents

NAMES = {"A": "nothing", "B": "quota of 0.3 CPU", "C": "12 processes compete", "D": "writes to the disk",
         "F": "quota on the parent only"}


def read_log(path):
    with open(path, encoding="utf-8") as f:
        return [r for r in map(json.loads, f) if not r["disturbed"]]


def confusion(results):
    """One row an incident: how often each cause was named."""
    kinds = sorted({r["incident"] for r in results})
    named = [c for c in incidents.CAUSES if any(r["verdict"] == c for r in results)]
    rows = [["%s: %s" % (k, NAMES[k]), incidents.WANTED[k]] +
            [str(sum(r["incident"] == k and r["verdict"] == c for r in results) or "") for c in named] for k in kinds]
    right = sum(map(incidents.is_right, results))
    return {"title": "%d of %d verdicts are right" % (right, len(results)),
            "columns": [column("incident"), column("right is")] + [column(c) for c in named], "rows": rows}, right


def measure(bench):
    log = os.path.join(bench.tmp, "incidents.jsonl")
    runs = bench.runs or bench.turns(2, 1)
    script = os.path.join(common.TOP, "tests", "lib", "incidents.py")
    kinds = "B,C" if bench.quick else "A,B,C,D,F"
    status, _ = bench.run([sys.executable, script, "--build", bench.build, "--runs", str(runs), "--incidents", kinds,
                           "--log", log], timeout=120 + 100 * runs)
    results = read_log(log) if os.path.exists(log) else []
    if status == 77 and not results:
        bench.miss("the machine was never calm enough for the incidents, or cannot make them")
        return None
    if not results:
        raise RuntimeError("incidents.py ended with %d" % status)
    if status == 77:
        bench.miss("some incidents: other work on the machine came between")
    table, right = confusion(results)
    return {"tables": [table],
            "goals": [goal("share of right verdicts", figure([right / len(results)]), lambda v: v == 1)],
            "results": [{k: r.get(k) for k in ("incident", "verdict", "contention_by", "others_cores", "nr_throttled",
                                              "throttled_usec", "psi_cpu_some_usec", "psi_io_some_usec")}
                        for r in results]}
