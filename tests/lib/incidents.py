#!/usr/bin/env python3
"""Makes the incidents of study 2 for real and compares the sidecar's verdict with the right one.

usage: tests/lib/incidents.py [--build DIR] [--runs N] [--incidents A,B,C,D,F] [--seed N] [--cpu-seconds S]
                              [--calm-wait S] [--again N] [--log FILE.jsonl]

The work is a busy loop of 2 s of CPU time in a cgroup of its own, under these circumstances:
    A  nothing                                          own_code
    B  a quota of 0.3 CPU                               throttled
    C  12 processes in another cgroup compete           contention (by neighbours)
    D  a process beside it writes to the disk, fsync    io_wait
    F  a quota of 0.3 CPU on the parent only            throttled_above
Every incident is made N times (default 1), in random order. The sidecar is asked for a token before the work and for
the window since that token after it. All helpers are tracked by pid, ended and proved gone before the next run.

All but C want a calm machine: other work on the CPUs makes the verdict "contention", and rightly so. Therefore their
cgroup outweighs the rest of the machine; before A and D the CPUs should be idle for a second, which is waited for up to
--calm-wait seconds; and when a verdict is not the right one while others used more than a quarter of a CPU, the run is
made again, up to --again (4) times. All that is told. Exit status: 0 all verdicts are right; 1 some are not;
77 the machine was never calm, or cannot do this (a sentence on stderr).

Cgroups: v2, or v1 with the v2 tree beside it (hybrid). Needs root.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

WANTED = {"A": "own_code", "B": "throttled", "C": "contention", "D": "io_wait", "F": "throttled_above"}
CAUSES = ["own_code", "throttled", "throttled_above", "contention", "io_wait", "queue", "cannot_tell", "unreadable"]
RIVALS = 12
QUOTA_USEC, PERIOD_USEC = 30000, 100000
OTHERS_MAX_CORES = 0.25

# Fixed CPU time, not fixed work: the machine's speed changes nothing. The rivals and the writer end with SIGKILL.
# The writer's pieces are long, so that it seldom has to wait for a CPU when the disk has answered: tried on a machine whose
# CPUs were busy with others, pieces of 1, 32 and 128 MB gave 40%, 13% and 7% of the time in cpu.pressure.
WORK = "import time\nwhile time.process_time() < %f:\n    for _ in range(20000): pass"
RIVAL = "while True: pass"
WRITER = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
block = os.urandom(1 << 20)
while True:
    for i in range(128):
        os.pwrite(fd, block, i << 20)
    os.fdatasync(fd)
"""


class CannotDo(Exception):
    pass


# ---- cgroups ----------------------------------------------------------------------------------------------------------

class Cgroups:
    """The same folder in every hierarchy that matters: cpu, usage and pressure."""

    def __init__(self):
        mounts = {}
        with open("/proc/self/mounts", encoding="utf-8") as f:
            for line in f:
                _, folder, kind, options = line.split()[:4]
                if kind == "cgroup2":
                    mounts.setdefault("v2", folder)
                elif kind == "cgroup":
                    for controller in {"cpu", "cpuacct"} & set(options.split(",")):
                        mounts.setdefault(controller, folder)
        if "v2" not in mounts:
            raise CannotDo("no cgroup v2 hierarchy is mounted: there is no pressure of a cgroup")
        self.is_v1 = "cpu" in mounts
        self.roots = sorted(set(mounts.values()))
        self.cpu = mounts["cpu" if self.is_v1 else "v2"]
        self.v2 = mounts["v2"]
        self.made = []
        if not os.access(self.cpu, os.W_OK):
            raise CannotDo("cgroups cannot be made here: %s is not writable" % self.cpu)

    def make(self, name, for_children=False):
        for root in self.roots:
            os.mkdir(os.path.join(root, name))
        self.made.append(name)
        if not self.is_v1 and for_children:
            write(os.path.join(self.v2, name, "cgroup.subtree_control"), "+cpu")
        if not os.path.exists(os.path.join(self.v2, name, "cpu.pressure")):
            raise CannotDo("there is no pressure of a cgroup (PSI is off)")

    def limit(self, name, quota_usec, period_usec):
        folder = os.path.join(self.cpu, name)
        if self.is_v1:
            write(os.path.join(folder, "cpu.cfs_period_us"), str(period_usec))
            write(os.path.join(folder, "cpu.cfs_quota_us"), str(quota_usec))
            got = [read(os.path.join(folder, f)).strip() for f in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
        else:
            write(os.path.join(folder, "cpu.max"), "%d %d" % (quota_usec, period_usec))
            got = read(os.path.join(folder, "cpu.max")).split()
        if got != [str(quota_usec), str(period_usec)]:
            raise CannotDo("a quota of %d %d reads back as %s" % (quota_usec, period_usec, got))

    def weigh(self, name, times):
        """Against a cgroup of the usual weight."""
        if self.is_v1:
            write(os.path.join(self.cpu, name, "cpu.shares"), "%d" % min(1024 * times, 262144))
        else:
            write(os.path.join(self.cpu, name, "cpu.weight"), "%d" % min(100 * times, 10000))

    def enter(self, name):
        """For a child between fork and exec."""
        for root in self.roots:
            write(os.path.join(root, name, "cgroup.procs"), str(os.getpid()))

    def remove_all(self):
        for name in reversed(self.made):
            for root in self.roots:
                folder = os.path.join(root, name)
                deadline = time.monotonic() + 5
                while os.path.isdir(folder):
                    try:
                        os.rmdir(folder)
                    except OSError:
                        if time.monotonic() > deadline:
                            raise RuntimeError("%s cannot be removed; in it: %s" %
                                               (folder, read(os.path.join(folder, "cgroup.procs")).split())) from None
                        time.sleep(0.02)
        self.made = []


def read(path):
    with open(path, encoding="ascii") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


# ---- processes --------------------------------------------------------------------------------------------------------

class Helpers:
    def __init__(self):
        self.all = []

    def start(self, command, enter=None, **kwargs):
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=enter, **kwargs)
        self.all.append(p)
        return p

    def end_all(self):
        for p in self.all:
            if p.poll() is None:
                p.send_signal(signal.SIGKILL)
        for p in self.all:
            p.wait(10)
        left = [p.pid for p in self.all if os.path.exists("/proc/%d" % p.pid)]
        if left:
            raise RuntimeError("helpers are still there: %s" % left)
        self.all = []


def cpu_seconds():
    """Of the node: busy, and all."""
    ticks = [int(x) for x in read("/proc/stat").split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / 100, sum(ticks) / 100


def others_during(seconds):
    busy, _ = cpu_seconds()
    start = time.monotonic()
    time.sleep(seconds)
    return (cpu_seconds()[0] - busy) / (time.monotonic() - start)


def wait_until_calm(limit_s):
    """What to tell about it."""
    start = time.monotonic()
    while True:
        cores = others_during(1)
        waited = time.monotonic() - start - 1
        if cores <= OTHERS_MAX_CORES:
            return "" if waited < 1 else "; waited %.0f s for a calm machine" % waited
        if waited >= limit_s:
            return "; others used %.2f CPUs before it" % cores


# ---- one run ----------------------------------------------------------------------------------------------------------

class Sidecar:
    def __init__(self, helpers, program, cgroup):
        self.p = helpers.start([program, "--cgroup", cgroup, "--listen", "127.0.0.1:0", "-o", "json"],
                               stdout=subprocess.PIPE, text=True)
        while True:
            line = self.p.stdout.readline()
            if not line:
                raise RuntimeError("the sidecar ended with %s" % self.p.wait())
            line = json.loads(line)
            if line["event"] == "started":
                self.port = line["http_port"]
            if line["event"] in ("target_found", "unreadable"):
                break

    def report(self, since=None):
        url = "http://127.0.0.1:%d/report%s" % (self.port, "?since=" + since if since else "")
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)


def run_one(kind, options, cgroups, helpers, number):
    base = "headroom-incident-%d-%d" % (os.getpid(), number)
    app = base + "/app"
    result = {"incident": kind}
    try:
        cgroups.make(base, for_children=True)
        cgroups.make(app)
        if kind != "C":
            cgroups.weigh(base, 256)
        if kind == "B":
            cgroups.limit(app, QUOTA_USEC, PERIOD_USEC)
        elif kind == "F":
            cgroups.limit(base, QUOTA_USEC, PERIOD_USEC)
        sidecar = Sidecar(helpers, os.path.join(options.build, "headroom-sidecar"), "/" + app)
        disturbers = disturb(kind, base, app, cgroups, helpers)
        if disturbers:
            time.sleep(0.5)
        busy, _ = cpu_seconds()
        start = time.monotonic()
        ours_before = cpu_of(disturbers)
        token = sidecar.report()["token"]
        work = helpers.start([sys.executable, "-c", WORK % options.cpu_seconds], lambda: cgroups.enter(app))
        if work.wait(120) != 0:
            raise RuntimeError("the work ended with %d" % work.returncode)
        report = sidecar.report(token)
        seconds = time.monotonic() - start
        ours = options.cpu_seconds + cpu_of(disturbers) - ours_before
        if any(p.poll() is not None for p in disturbers):
            raise RuntimeError("a helper ended by itself")
        window = report["containers"][0]["window"]
        result.update(window, seconds=seconds, cpu_us_per_sample=report["sidecar"]["cpu_us_per_sample"],
                      others_cores=(cpu_seconds()[0] - busy - ours) / seconds)
    finally:
        helpers.end_all()
        cgroups.remove_all()
    return result


def disturb(kind, base, app, cgroups, helpers):
    if kind == "C":
        rivals = base + "/rivals"
        cgroups.make(rivals)
        # Twelve containers in one: with the weight of a single one the scheduler could leave the application a CPU of
        # its own. So many that it gets two fifths of a CPU, which made the work of the study 2.5 times slower.
        cgroups.weigh(rivals, 2.5 * os.cpu_count() - 1)
        return [helpers.start([sys.executable, "-c", RIVAL], lambda: cgroups.enter(rivals)) for _ in range(RIVALS)]
    if kind == "D":
        path = os.path.join(options_tmp(), "headroom-incident-%d" % os.getpid())
        return [helpers.start([sys.executable, "-c", WRITER, path], lambda: cgroups.enter(app))]
    return []


def options_tmp():
    return os.environ.get("HEADROOM_TEST_DISK", tempfile.gettempdir())


def cpu_of(processes):
    """CPU seconds of living helpers."""
    seconds = 0
    for p in processes:
        fields = read("/proc/%d/stat" % p.pid).rpartition(")")[2].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


# ---- all of them --------------------------------------------------------------------------------------------------------

def is_right(result):
    by = result.get("contention_by")
    return result["verdict"] == WANTED[result["incident"]] and (result["incident"] != "C" or by == "neighbours")


def tell(result, note):
    ms = lambda key: "-" if result.get(key) is None else "%.0f" % (result[key] / 1000)
    print("%s %-5s %-15s %5.2f s  throttled %s/%s, %s ms; above %s, %s ms; cpu.pressure %s ms, io.pressure %s ms; "
          "others %.2f CPUs; %.1f us a sample%s" %
          (result["incident"], "ok" if is_right(result) else "WRONG", result["verdict"] +
           ("" if "contention_by" not in result else "/" + result["contention_by"]), result["seconds"],
           result["nr_throttled"], result["nr_periods"], ms("throttled_usec"), result["nr_throttled_above"],
           ms("throttled_usec_above"), ms("psi_cpu_some_usec"), ms("psi_io_some_usec"), result["others_cores"],
           result["cpu_us_per_sample"], note), flush=True)


def print_matrix(results, kinds):
    print("%-10s" % "incident" + "".join("%16s" % c for c in CAUSES))
    for kind in kinds:
        row = [sum(r["incident"] == kind and r["verdict"] == c for r in results) for c in CAUSES]
        print("%-10s" % kind + "".join("%16s" % (n or ".") for n in row))
    print("%d of %d verdicts are right" % (sum(map(is_right, results)), len(results)), flush=True)


def run_all(options):
    kinds = options.incidents.split(",")
    plan = kinds * options.runs
    random.Random(options.seed).shuffle(plan)
    cgroups, helpers, results = Cgroups(), Helpers(), []
    for number, kind in enumerate(plan):
        for _ in range(options.again + 1):
            note = wait_until_calm(options.calm_wait) if kind in "AD" else ""
            result = run_one(kind, options, cgroups, helpers, number)
            disturbed = result["others_cores"] > OTHERS_MAX_CORES and not is_right(result)
            if options.log:
                with open(options.log, "a", encoding="utf-8") as f:
                    f.write(json.dumps(dict(result, disturbed=disturbed)) + "\n")
            if not disturbed:
                break
            tell(result, note + "; other work came between: again")
        else:
            raise CannotDo("other work on this machine came between %d times in a row" % (options.again + 1))
        tell(result, note)
        results.append(result)
    print_matrix(results, sorted(set(kinds)))
    return all(map(is_right, results))


def main():
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ", 1)[1])
    parser.add_argument("--build", default=os.path.join(top, "build"))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--incidents", default="A,B,C,D,F")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--cpu-seconds", type=float, default=2.0)
    parser.add_argument("--calm-wait", type=float, default=20)
    parser.add_argument("--again", type=int, default=4)
    parser.add_argument("--log")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda n, _: sys.exit(128 + n))
    print("order by --seed %d" % options.seed)
    try:
        return 0 if run_all(options) else 1
    except CannotDo as why:
        print("incidents: %s" % why, file=sys.stderr)
        return 77


if __name__ == "__main__":
    sys.exit(main())
