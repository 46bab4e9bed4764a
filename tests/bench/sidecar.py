"""Section "sidecar": what watching costs, beside others that watch and beside the bare reads of the same files."""
import json
import os
import re
import shutil
import subprocess
import sys
import time

import common
import peers
from common import column, figure, goal, ratio

SECONDS_PER_DAY = 86400
# The container that is watched does a little all the time, as services do.
LIGHT_WORK = ("import time\nwhile True:\n    end = time.process_time() + 0.002\n"
              "    while time.process_time() < end: pass\n    time.sleep(0.098)")


class Watching:
    """A running sidecar that has found its target."""

    def __init__(self, bench, options):
        command = [bench.sidecar(), "--listen", "127.0.0.1:0", "-o", "json", *options]
        start = time.monotonic()
        self.p = bench.start(command, stdout=subprocess.PIPE)
        for line in self.p.stdout:
            line = json.loads(line)
            if line["event"] == "started":
                self.port = line["http_port"]
            if line["event"] in ("target_found", "unreadable"):
                break
        else:
            raise RuntimeError("the sidecar ended with %s" % self.p.wait())
        self.found_s = time.monotonic() - start

    def report(self, since=None):
        return json.loads(common.fetch("http://127.0.0.1:%d/report%s" % (self.port, "?since=" + since if since else "")))

    def samples(self):
        """(taken, late or missed); by /metrics, since /report keeps a mark for its client, which costs memory."""
        text = common.fetch("http://127.0.0.1:%d/metrics" % self.port).decode()
        own = dict(re.findall(r"^headroom_sidecar_(samples|late_ticks|missed_ticks)_total (\d+)", text, re.M))
        return int(own["samples"]), int(own["late_ticks"]) + int(own["missed_ticks"])

    def stop(self):
        common.end(self.p)
        self.p.stdout.close()


def watch_for(bench, options, seconds, settle=0.5):
    """CPU per sample in us, share of a core in %, memory in kB, over `seconds`. The two requests for the number of samples
    are outside of what is counted."""
    w = Watching(bench, options)
    time.sleep(settle)
    first, late = w.samples()
    cpu, wall = common.cpu_seconds_of(w.p.pid), time.monotonic()
    time.sleep(seconds)
    cpu, wall = common.cpu_seconds_of(w.p.pid) - cpu, time.monotonic() - wall
    resident, anonymous = common.memory_kb(w.p.pid)
    last, late_now = w.samples()
    w.stop()
    samples = last - first
    return {"us": cpu * 1e6 / samples, "percent": cpu / wall * 100, "resident": resident, "anonymous": anonymous,
            "late": late_now - late, "samples": samples}


def bare(bench, pace, seconds, interval_ms, *files):
    status, out = bench.run([pace, str(interval_ms), str(seconds), *files])
    if status:
        raise RuntimeError("pace ended with %d" % status)
    got = json.loads(out)
    return {"us": got["cpu_s"] * 1e6 / got["ticks"], "percent": got["cpu_s"] / got["wall_s"] * 100}


def values(results, key):
    return [None if r is None else r.get(key) for r in results]


def cost_row(name, results, base):
    us, percent = values(results, "us"), values(results, "percent")
    day = [p / 100 * SECONDS_PER_DAY for p in percent if p is not None]
    return [name, figure(us), figure(percent), figure(day), figure(values(results, "resident")),
            figure(values(results, "anonymous")), "1" if results is base else ratio(us, values(base, "us"))]


COST_COLUMNS = [column(""), column("CPU us a sample", 1), column("% of a core", 3), column("CPU s a day", 1),
                column("resident kB"), column("anonymous kB")]


def fast_table(bench, cgroup, pace):
    files = bench.counter_files(cgroup)
    seconds = bench.seconds(6, 2)
    tools = {
        "headroom-sidecar": lambda: watch_for(bench, ["--cgroup", "/" + cgroup], seconds),
        "bare preads (%d)" % len(files): lambda: bare(bench, pace, seconds, 10, *files),
        "bare timer": lambda: bare(bench, pace, seconds, 10),
    }
    found = common.take_turns(bench.runs or bench.turns(5, 2), tools)
    ours, preads, _ = found.values()
    to_bare = ratio(values(ours, "us"), values(preads, "us"))
    goals = [
        goal("CPU of one container at 10 ms, % of a core, below 0.3 (aim 0.2)", figure(values(ours, "percent")),
             lambda v: v < 0.3),
        goal("CPU us a sample, 15 at most or 3 times the bare preads at most", figure(values(ours, "us")),
             lambda v: v <= 15 or to_bare["median"] <= 3),
        goal("resident kB, below 1536", figure(values(ours, "resident")), lambda v: v < 1536),
    ]
    return {"title": "One container every 10 ms, turns of %d s; the limit is a loop that only reads the same files" % seconds,
            "columns": COST_COLUMNS + [column("times the bare preads", 2)],
            "rows": [cost_row(name, r, preads) for name, r in found.items()]}, goals


def slow_table(bench, cgroup, pace):
    """Every second, as the others do by default."""
    files = bench.counter_files(cgroup)
    seconds = bench.seconds(8, 3)
    ours = "headroom-sidecar --interval 1s"
    tools = {
        ours: lambda: watch_for(bench, ["--cgroup", "/" + cgroup, "--interval", "1s"], seconds, settle=1.2),
        "bare preads (%d)" % len(files): lambda: bare(bench, pace, seconds, 1000, *files),
        "shell loop (cat, awk, sleep)": lambda: peers.shell_loop(bench, files, seconds),
    }
    tools.update(peers.watchers(bench, cgroup, seconds))
    found = common.take_turns(bench.runs or bench.turns(3, 1), tools)
    return {"title": "Every second, turns of %d s: each tool as it comes, reading what it reads" % seconds,
            "columns": COST_COLUMNS + [column("times the sidecar", 1)],
            "rows": [cost_row(name, r, found[ours]) for name, r in found.items()]}


def grown(bench, root, n, seconds):
    return watch_for(bench, ["--root", root, "--host-cgroup", "/host/sys/fs/cgroup", "--node", "--interval", "100ms",
                             "--pod-logs", "/host/var/log/pods", "--container-logs", "/host/var/log/containers"],
                     seconds, settle=1.0 + n / 500)


def growth_table(bench):
    sizes = [1, 3, 10, 100, 500]
    roots = {}
    for n in sizes:
        roots[n] = os.path.join(bench.tmp, "node-%d" % n)
        subprocess.run([os.path.join(common.TOP, "scripts", "make-node-tree"), "--containers", str(n), roots[n]],
                       check=True, stdout=subprocess.DEVNULL)
    tools = {n: (lambda n=n: grown(bench, roots[n], n, bench.seconds(3, 2))) for n in sizes}
    found = common.take_turns(bench.runs or bench.turns(3, 1), tools)
    for root in roots.values():
        shutil.rmtree(root)
    rows, goals = [], []
    for n, results in found.items():
        each = figure([v / n for v in values(results, "us")])
        rows.append([str(n), figure(values(results, "us")), each, figure(values(results, "resident")),
                     figure(values(results, "anonymous"))])
        if n == 3:
            goals.append(goal("anonymous kB with 3 containers, below 400", figure(values(results, "anonymous")),
                              lambda v: v < 400))
        if n == 100:
            goals.append(goal("node mode, CPU us a container and sample (100 containers), 15 at most", each,
                              lambda v: v <= 15))
    return {"title": "Node mode, every 100 ms, on a tree of plain files like a node's (v2; scripts/make-node-tree)",
            "columns": [column("containers"), column("CPU us a sample of all", 0), column("us a container", 1),
                        column("resident kB"), column("anonymous kB")], "rows": rows}, goals


def start_table(bench, cgroup):
    once, watch = [], []
    for _ in range(bench.turns(15, 5)):
        start = time.monotonic()
        bench.run([bench.sidecar(), "--once", "-o", "json", "--cgroup", "/" + cgroup])
        once.append((time.monotonic() - start) * 1e3)
        w = Watching(bench, ["--cgroup", "/" + cgroup])
        watch.append(w.found_s * 1e3)
        w.stop()
    rows = [["start to the report of --once, ms", figure(once)], ["start to the first sample of the target, ms", figure(watch)]]
    for kind, path in {"dynamic": bench.program("headroom-sidecar"), "static": bench.static_sidecar}.items():
        if os.path.exists(path) and shutil.which("strip"):
            out = os.path.join(bench.tmp, "stripped")
            subprocess.run(["strip", "-s", "-o", out, path], check=True)
            rows.append(["%s binary, stripped, kB" % kind, figure([os.path.getsize(out) / 1024])])
        else:
            bench.miss("the size of the %s binary: it was not built, or there is no strip" % kind)
    return {"title": "Start and size", "columns": [column(""), column("", 1)], "rows": rows}


def disturbed(bench, cgroup, watched, seconds):
    """The probe in its own cgroup, with a paced load, and a sidecar beside it or none."""
    port = common.free_port()
    server = bench.start([bench.program("headroom-probe"), "--listen", "127.0.0.1:%d" % port, "--workers", "1", "--rounds",
                          "500"], lambda: bench.cgroups.enter(cgroup))
    common.wait_for_port(port, server)
    w = Watching(bench, ["--cgroup", "/" + cgroup]) if watched else None
    cpu = common.cpu_seconds_of(server.pid)
    _, out = bench.run([bench.program("headroom-load"), "http://127.0.0.1:%d/work" % port, "--rate", "200/s", "--duration",
                        "%ds" % seconds, "-o", "json"])
    cpu = common.cpu_seconds_of(server.pid) - cpu
    if w:
        w.stop()
    common.end(server)
    load = json.loads(out)
    return {"p50": load["p50_ms"], "p99": load["p99_ms"], "us": cpu * 1e6 / load["ok"]}


def disturbance_table(bench):
    cgroup = bench.cgroup("probe")
    seconds = bench.seconds(4, 2)
    found = common.take_turns(bench.runs or bench.turns(5, 2),
                       {"without": lambda: disturbed(bench, cgroup, False, seconds),
                        "with the sidecar at 10 ms": lambda: disturbed(bench, cgroup, True, seconds)})
    without, beside = found.values()
    rows = [[name] + [figure(values(r, key)) for key in ("p50", "p99", "us")] for name, r in found.items()]
    rows.append(["with / without"] + [ratio(values(beside, key), values(without, key)) for key in ("p50", "p99", "us")])
    return {"title": "What it disturbs: a service with 200 requests a second, turns of %d s" % seconds,
            "columns": [column(""), column("p50 ms", 3), column("p99 ms", 3), column("service's CPU us a request", 1)],
            "rows": rows}


def measure(bench):
    pace = bench.compile("pace")
    cgroup = bench.cgroup("watched", quota=(50000, 100000))
    bench.start([sys.executable, "-c", LIGHT_WORK], lambda: bench.cgroups.enter(cgroup))
    fast, goals = fast_table(bench, cgroup, pace)
    tables = [fast, slow_table(bench, cgroup, pace), start_table(bench, cgroup)]
    growth, more = growth_table(bench)
    # a service in the same parent would wake up beside the work: it is ended first
    bench.helpers.end_all()
    tables += [growth, disturbance_table(bench)]
    bench.notes.append("Measured is the %s sidecar." % ("static" if bench.sidecar() == bench.static_sidecar else "dynamic"))
    bench.notes.append("The bare timer is what an empty loop costs here that wakes up every 10 ms: no sampler can go below.")
    return {"tables": tables, "goals": goals + more, "versions": peers.watcher_versions()}
