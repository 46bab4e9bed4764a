"""Section "what-if": predictions beside measurements. tests/bench/whatif.sh FILE makes the list: {condition,
measured_p99_ms, predicted_p99_ms, error_ms, error_share}."""
import os
import subprocess

import common
from common import column, figure

SCRIPT = os.path.join(common.HERE, "whatif.sh")
LIMIT_S = 600


def table_of(rows):
    one = lambda v: None if v is None else figure([v])  # noqa: E731
    return {"title": "Predicted and measured p99",
            "columns": [column("condition"), column("measured ms", 1), column("predicted ms", 1), column("error ms", 1),
                        column("of the measured", 3)],
            "rows": [[r["condition"]] + [one(r.get(k)) for k in ("measured_p99_ms", "predicted_p99_ms", "error_ms",
                                                                "error_share")] for r in rows]}


def errors_of(rows):
    return figure([abs(r["error_share"]) for r in rows if r.get("error_share") is not None])


def measure(bench):
    if not os.path.exists(SCRIPT):
        bench.miss("there is no %s" % os.path.relpath(SCRIPT, common.TOP))
        return None
    out = os.path.join(bench.tmp, "whatif.json")
    p = bench.start([SCRIPT, out], env=dict(os.environ, QUICK="1" if bench.quick else "", HEADROOM_BUILD=bench.build),
                    stdout=subprocess.DEVNULL)
    if p.wait(LIMIT_S) != 0:
        raise RuntimeError("whatif.sh ended with %d" % p.returncode)
    rows = common.read_json(out)
    return {"tables": [table_of(rows)], "results": rows,
            "goals": [common.goal("error of the predicted p99, share of the measured one (median of the conditions)",
                                  errors_of(rows), lambda v: v <= 0.2)]}
