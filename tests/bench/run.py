#!/usr/bin/env python3
"""Measures headroom beside what people would use instead.

usage: tests/bench/run.py [--quick] [--runs N] [--build DIR] [--results DIR] [--docs FILE] [--wrk2 PATH] [SECTION...]

SECTION is sidecar, load, probe, truth, verdicts or what-if (default: all). Tables on stdout, what is going on on stderr,
JSON into DIR/<section>.json (default bench/results), and FILE (default docs/benchmarks.md) is made anew from all of DIR.
--runs N: turns of every section in the place of its own number; incidents of each kind for verdicts.
Everything that was started is ended and removed, also after an interrupt. Exit status 1 when a section could not be
measured; its earlier results stay.
"""
import argparse
import datetime
import os
import shutil
import signal
import sys
import time

import common
import load
import probe
import render
import sidecar
import truth
import verdicts
import whatif

SECTIONS = {"sidecar": sidecar.measure, "load": load.measure, "probe": probe.measure, "truth": truth.measure,
            "verdicts": verdicts.measure, "whatif": whatif.measure}


def options_of(arguments):
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ", 1)[1])
    p.add_argument("--quick", action="store_true")
    p.add_argument("--runs", type=int)
    p.add_argument("--build", default=os.path.join(common.TOP, "build"))
    p.add_argument("--results", default=os.path.join(common.TOP, "bench", "results"))
    p.add_argument("--docs", default=os.path.join(common.TOP, "docs", "benchmarks.md"))
    p.add_argument("--wrk2", default=os.environ.get("WRK2") or shutil.which("wrk2"))
    p.add_argument("sections", nargs="*")
    o = p.parse_args(arguments)
    o.build = os.path.abspath(o.build)
    o.sections = [s.replace("-", "") for s in o.sections] or list(SECTIONS)
    unknown = [s for s in o.sections if s not in SECTIONS]
    if unknown:
        p.error("no section '%s': there are %s" % (unknown[0], ", ".join(SECTIONS)))
    if o.runs is not None and o.runs < 1:
        p.error("--runs must be 1 or more")
    if o.wrk2 and not os.access(o.wrk2, os.X_OK):
        p.error("WRK2=%s is not a program" % o.wrk2)
    return o


def measure(name, options):
    """One section; what it says is stored and shown. None when it has nothing to say."""
    start = time.monotonic()
    with common.Bench(options) as bench:
        result = SECTIONS[name](bench)
        if result is None:
            for line in bench.missing:
                print("%s: %s" % (name, line), file=sys.stderr)
            return None
        versions = result.pop("versions", {})
        result = {"tables": [], "goals": [], **result, "section": name, "quick": bench.quick,
                  "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
                  "version": (common.version_of([bench.program("headroom-sidecar"), "--version"]) or "").split()[-1],
                  "machine": common.machine(), "busy_share": bench.busy_share(),
                  "versions": {k: v for k, v in versions.items() if v},
                  "missing": bench.missing, "notes": bench.notes,
                  "took_s": round(time.monotonic() - start, 1)}
    common.write_json(os.path.join(options.results, name + ".json"), result)
    return result


def main():
    options = options_of(sys.argv[1:])
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda n, _: sys.exit(128 + n))
    failed = []
    for name in options.sections:
        print("bench: %s ..." % name, file=sys.stderr, flush=True)
        try:
            result = measure(name, options)
        except Exception as why:  # pylint: disable=broad-except  # one section must not take the others with it
            print("bench: %s: %s: %s" % (name, type(why).__name__, why), file=sys.stderr)
            failed.append(name)
            continue
        if result:
            print(render.text(result), flush=True)
    render.write_docs(options.results, options.docs)
    print("\nwritten: %s from %s" % (options.docs, options.results))
    if failed:
        print("not measured: %s" % ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
