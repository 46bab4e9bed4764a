#!/usr/bin/env python3
"""The results as text for a terminal and as docs/benchmarks.md.

usage: tests/bench/render.py [--results DIR] [--docs FILE]      makes FILE from what is in DIR, and measures nothing
"""
import argparse
import os

import common

ORDER = ["sidecar", "load", "probe", "truth", "verdicts", "whatif"]
TITLES = {"sidecar": "Sidecar", "load": "Load generator", "probe": "Probe", "truth": "Truth", "verdicts": "Verdicts",
          "whatif": "What-if"}

HEAD = """# Benchmarks

Made by `make bench` from `bench/results/*.json`: do not edit. `make bench BENCH=sidecar` measures one section anew, the
others keep their figures and their date. `make bench-deps` installs the peers; how each figure is taken stands in
[tests/bench/README.md](../tests/bench/README.md).

A figure is the median over the turns, with min and max in brackets. Tools take turns, so that all meet the same noise;
ratios are taken turn by turn. On a shared machine compare the tools, not the microseconds.
"""


def show(cell, digits):
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    counts = all(isinstance(cell[k], int) for k in ("median", "min", "max"))
    form = "%d" if counts else "%%.%df" % digits
    text = form % cell["median"]
    if cell["n"] > 1:
        text += " (%s to %s)" % (form % cell["min"], form % cell["max"])
    return text


def rows_of(table):
    digits = [c["digits"] for c in table["columns"]]
    return [[c["name"] for c in table["columns"]]] + [[show(c, d) for c, d in zip(row, digits)] for row in table["rows"]]


def goal_line(g):
    text = "-" if g["value"] is None else "%.4g" % g["value"]["median"]
    return "%s: %s (%s)" % (g["goal"], text, {True: "met", False: "not met", None: "not measured"}[g["met"]])


def circumstances(r):
    m = r["machine"]
    yield "%s; headroom %s; %s" % (r["date"], r["version"], "quick run, wide figures" if r["quick"] else "full run")
    yield "%d x %s%s, %d MB; %s, Linux %s, cgroup %s for cpu" % (
        m["cpus"], m["cpu"], " (virtual)" if m["virtual"] else "", m["memory_mb"], m["system"], m["kernel"], m["cgroup"])
    if r.get("busy_share") is not None:
        yield "the CPUs were busy %.0f%% of the time, with what was measured" % (r["busy_share"] * 100)
    if r["versions"]:
        yield "beside it: " + ", ".join("%s" % v for v in r["versions"].values())


def text(r):
    """For a terminal."""
    out = ["", "== %s ==" % TITLES[r["section"]]]
    out += list(circumstances(r))
    for table in r["tables"]:
        out += ["", table["title"]]
        rows = rows_of(table)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            out.append("  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                                        for i, (c, w) in enumerate(zip(row, widths))).rstrip())
    out += [""] if r["goals"] else []
    out += ["goal     " + goal_line(g) for g in r["goals"]]
    out += ["missing  " + m for m in r["missing"]]
    out += ["note     " + n for n in r["notes"]]
    return "\n".join(out)


def markdown(r):
    out = ["## " + TITLES[r["section"]], ""]
    out += [". ".join(part[0].upper() + part[1:] for part in circumstances(r)) + ".", ""]
    for table in r["tables"]:
        rows = rows_of(table)
        out += ["**%s**" % table["title"], "", "| " + " | ".join(rows[0]) + " |", "|---" * len(rows[0]) + "|"]
        out += ["| " + " | ".join(row) + " |" for row in rows[1:]] + [""]
    items = ["Goal: " + goal_line(g) for g in r["goals"]] + ["Missing: " + m for m in r["missing"]] + r["notes"]
    out += ["- " + item for item in items] + ([""] if items else [])
    return "\n".join(out)


def load_results(folder):
    found = [common.read_json(os.path.join(folder, name + ".json")) for name in ORDER]
    return [r for r in found if r and "tables" in r]


def write_docs(folder, path):
    parts = [HEAD] + [markdown(r) for r in load_results(folder)]
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write("\n".join(parts).rstrip("\n") + "\n")
    os.replace(path + ".new", path)


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ", 1)[1])
    p.add_argument("--results", default=os.path.join(common.TOP, "bench", "results"))
    p.add_argument("--docs", default=os.path.join(common.TOP, "docs", "benchmarks.md"))
    options = p.parse_args()
    write_docs(options.results, options.docs)


if __name__ == "__main__":
    main()
