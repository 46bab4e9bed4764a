"""Section "load": is the sender on time, and what does a request cost it? Seen by a neutral recorder (recorder.c).

The generator runs on CPU 0, the recorder on CPU 1. `late` is lateness over the least late request of the run, against the
ideal schedule (analyse.py); the first burst is left out for every tool, since those that open their connections then are
charged for more than their timer. Warm-up requests of headroom-load are the recorder's first ones, and left out as well.
"""
import json
import os

import analyse
import common
from common import column, figure, goal, ratio

OURS, NORMAL = "headroom-load", "the same, normal priority"
# name, title, seconds, seconds of a quick run, period ms, burst
SCHEDULES = [
    ("rate20", "20 requests a second", 6, 3, 50.0, 1),
    ("rate1000", "1,000 a second", 3, 2, 1.0, 1),
    ("rate10000", "10,000 a second", 2, 1, 0.1, 1),
    ("burst8", "8 at once every 400 ms", 6, 3, 400.0, 8),
    ("burst64", "64 at once every 400 ms", 6, 3, 400.0, 64),
]
STALL_S = 1.0


class Recorder:
    def __init__(self, bench, program, *options):
        self.arrivals = os.path.join(bench.tmp, "arrivals")
        self.told = open(os.path.join(bench.tmp, "recorder.json"), "w+", encoding="ascii")
        self.port = common.free_port()
        self.url = "http://127.0.0.1:%d/" % self.port
        self.p = bench.start([program, "-p", str(self.port), "-k", "-o", self.arrivals, *options],
                             common.on_cpu(1, realtime=True), stderr=self.told)
        common.wait_for_port(self.port, self.p)

    def stop(self):
        """What it says: requests, connections."""
        common.end(self.p)
        self.told.seek(0)
        with self.told:
            return json.load(self.told)


def tools_for(bench, burst):
    """name -> path; a peer that is missing is a line."""
    found = {OURS: bench.program("headroom-load"), NORMAL: bench.program("headroom-load")}
    if bench.wrk2:
        found["wrk2"] = bench.wrk2
    else:
        bench.miss("wrk2 is not there: build it from its sources and give WRK2=path")
    for name, package in (("h2load", "nghttp2-client"), ("hey", "hey")):
        path = bench.tool(name, "Debian: " + package)
        if path:
            found[name] = path
    if burst == 1:
        # both send as fast as they can: no schedule to compare with
        for name in ("wrk", "ab"):
            bench.tool(name, "Debian: " + {"wrk": "wrk", "ab": "apache2-utils"}[name])
    return found


def command(tool, path, url, seconds, period_ms, burst):
    """For a schedule; None when the tool cannot keep such a one."""
    rate = burst * 1e3 / period_ms
    if tool in (OURS, NORMAL):
        shape = (["--rate", "%d/s" % rate] if burst == 1 else
                 ["--pattern", "burst", "--burst", str(burst), "--every", "%dms" % period_ms])
        return [path, url, *shape, "--duration", "%ds" % seconds, "-o", "json",
                *(["--realtime", "off"] if tool == NORMAL else [])]
    if tool == "wrk2":
        return [path, "-t1", "-c%d" % burst, "-d%ds" % seconds, "-R%d" % rate, url]
    if tool == "h2load":
        return [path, "--h1", "-c%d" % burst, "-n%d" % (rate * seconds), "--rps", "%g" % (1e3 / period_ms), url]
    # hey's timer cannot do 10,000 a second with one connection
    if rate / burst > 1000:
        return None
    return [path, "-c", str(burst), "-q", "%g" % (1e3 / period_ms), "-z", "%ds" % seconds, url]


def run_tool(bench, programs, line, *recorder_options):
    """(what the recorder says, CPU seconds of the tool, its report or None, the recorder)"""
    recorder = Recorder(bench, programs["recorder"], *recorder_options)
    use = os.path.join(bench.tmp, "use")
    _, out = bench.run([programs["rusage"], use, *[a.replace("URL", recorder.url) for a in line]], common.on_cpu(0))
    seen = recorder.stop()
    used = json.loads(common.read_text(use))
    try:
        report = json.loads(out)
    except ValueError:
        report = None
    return seen, used["user_s"] + used["sys_s"], report, recorder


def scheduled(bench, programs, line, period_ms, burst):
    seen, cpu, report, recorder = run_tool(bench, programs, line)
    warm_up = report.get("warmup", 0) if isinstance(report, dict) else 0
    r = analyse.analyse(analyse.read_times(recorder.arrivals, warm_up + burst), period_ms, burst)
    if "late" not in r:
        return None
    return {"p50": r["late"]["p50"], "p99": r["late"]["p99"], "max": r["late"]["max"],
            "spread": r["burst_spread"]["p50"] if burst > 1 else None, "rate": r["rate_rps"],
            "cpu": cpu * 1e6 / max(1, seen["requests"])}


def schedule_table(bench, programs, case):
    name, title, usual, quick, period_ms, burst = case
    seconds = bench.seconds(usual, quick)
    lines = {tool: command(tool, path, "URL", seconds, period_ms, burst)
             for tool, path in tools_for(bench, burst).items()}
    tools = {tool: (lambda line=line: scheduled(bench, programs, line, period_ms, burst))
             for tool, line in lines.items() if line}
    found = common.take_turns(bench.runs or bench.turns(3, 1), tools)
    get = lambda tool, key: [r and r[key] for r in found[tool]]  # noqa: E731
    others = [t for t in found if t not in (OURS, NORMAL)]
    best = [min((v for v in turn if v is not None), default=None) for turn in zip(*(get(t, "p99") for t in others))]
    rows = [[t] + [figure(get(t, k)) for k in ("p50", "p99", "max", "spread", "rate", "cpu")] +
            [ratio(get(t, "p99"), best) if best else None] for t in found]
    share = ratio(get(OURS, "p99"), best) if best else None
    table = {"title": "%s, turns of %d s" % (title, seconds),
             "columns": [column(""), column("late p50 us"), column("late p99 us"), column("late max us"),
                         column("burst spread us"), column("requests/s", 1), column("CPU us a request", 1),
                         column("p99 to the best peer's", 2)], "rows": rows}
    if burst == 1:
        table["columns"].pop(4)
        for row in rows:
            row.pop(4)
    return table, goal("late p99, %s, to the best peer's of the turn, 0.33 at most" % title, share, lambda v: v <= 1 / 3)


def closed_commands(bench, seconds):
    found = {OURS: [bench.program("headroom-load"), "URL", "--pattern", "closed", "--threads", "8", "--duration",
                    "%ds" % seconds, "-o", "json"]}
    for name, package, arguments in (("wrk", "wrk", ["-t1", "-c8", "-d%ds" % seconds]),
                                     ("h2load", "nghttp2-client", ["--h1", "-c8", "-D%d" % seconds]),
                                     ("hey", "hey", ["-c", "8", "-z", "%ds" % seconds]),
                                     ("ab", "apache2-utils", ["-q", "-k", "-c8", "-n", "1000000", "-t", str(seconds)])):
        path = bench.tool(name, "Debian: " + package)
        if path:
            found[name] = [path, *arguments, "URL"]
    return found


def closed(bench, programs, line):
    seen, cpu, _, recorder = run_tool(bench, programs, line)
    times = analyse.read_times(recorder.arrivals)
    span_s = (times[-1] - times[0]) / 1e9 if len(times) > 1 else None
    return {"rate": len(times) / span_s if span_s else None, "cpu": cpu * 1e6 / max(1, seen["requests"])}


def closed_table(bench, programs):
    seconds = bench.seconds(2, 1)
    lines = closed_commands(bench, seconds)
    found = common.take_turns(bench.runs or bench.turns(3, 1),
                              {tool: (lambda line=line: closed(bench, programs, line)) for tool, line in lines.items()})
    get = lambda tool, key: [r[key] for r in found[tool]]  # noqa: E731
    rows = [[t, figure(get(t, "rate")), figure(get(t, "cpu")), ratio(get(t, "rate"), get(OURS, "rate"))] for t in found]
    goals = [goal("closed loop, requests/s, 45000 at least", figure(get(OURS, "rate")), lambda v: v >= 45000),
             goal("closed loop, CPU us a request, 22 at most", figure(get(OURS, "cpu")), lambda v: v <= 22)]
    return {"title": "As fast as it goes: 8 connections, closed loop, one thread, turns of %d s" % seconds,
            "columns": [column(""), column("requests/s"), column("CPU us a request", 1), column("times ours", 2)],
            "rows": rows}, goals


def stalled(bench, programs, line):
    _, _, report, recorder = run_tool(bench, programs, line, "-D", "1500:%d" % (STALL_S * 1e3))
    times = analyse.read_times(recorder.arrivals)
    # kernel stamps show when a request was sent, also while the server does not read
    sent = sum(1 for t in times if times[0] + 1.5e9 < t <= times[0] + (1.5 + STALL_S) * 1e9)
    own = report if isinstance(report, dict) else {}
    return {"sent": sent, "p99": own.get("p99_ms")}


def stall_table(bench, programs):
    found = tools_for(bench, 1)
    lines = {tool: command(tool, found[tool], "URL", 4, 50.0, 1) for tool in (OURS, "wrk2", "hey") if tool in found}
    got = common.take_turns(bench.turns(2, 1),
                            {tool: (lambda line=line: stalled(bench, programs, line)) for tool, line in lines.items()})
    return {"title": "A server that stands still for 1 s, 20 requests a second: 20 are to be sent meanwhile",
            "columns": [column(""), column("sent in it"), column("p99 it says, ms", 1)],
            "rows": [[tool, figure([r["sent"] for r in rs]), figure([r["p99"] for r in rs])] for tool, rs in got.items()]}


def versions(bench):
    found = {name: common.package_version(bench.tool(name, "")) for name in ("h2load", "hey", "wrk", "ab")}
    if bench.wrk2:
        found["wrk2"] = common.version_of([bench.wrk2, "-v"])
    return found


def measure(bench):
    if os.cpu_count() < 2:
        bench.notes.append("Only one CPU: generator and recorder share it, so the figures say little.")
    programs = {name: bench.compile(name) for name in ("recorder", "rusage")}
    tables, goals = [], []
    for case in SCHEDULES:
        table, one = schedule_table(bench, programs, case)
        tables.append(table)
        goals.append(one)
    table, more = closed_table(bench, programs)
    tables += [table, stall_table(bench, programs)]
    return {"tables": tables, "goals": goals + more, "versions": versions(bench)}
