"""What the sections of the benchmark share: figures with their spread, processes, the machine, the results' form.

A result is one JSON object: section, date, machine, versions, busy_share, missing, notes, goals and tables. A table has
columns ({"name", "digits"}) and rows of cells: a text, None (not there), or a figure {"median", "min", "max", "n"}.
"""
import json
import os
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
import incidents  # noqa: E402


# ---- figures -----------------------------------------------------------------------------------------------------------

def figure(values):
    """Median, min and max of what was measured in the turns; None when nothing was."""
    values = [v for v in values if v is not None]
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "n": len(values)}


def ratio(values, others):
    """Turn by turn: both met the same noise."""
    return figure([a / b for a, b in zip(values, others) if a is not None and b])


def column(name, digits=0):
    return {"name": name, "digits": digits}


def goal(text, fig, holds):
    """holds(median) says whether the goal is met; a figure that is not there meets none."""
    return {"goal": text, "value": fig, "met": None if fig is None else bool(holds(fig["median"]))}


def take_turns(turns, tools):
    """tools: name -> function; every one once in each turn, in changed order. name -> list of results."""
    found = {name: [] for name in tools}
    for turn in range(turns):
        order = list(tools) if turn % 2 == 0 else list(reversed(tools))
        for name in order:
            progress("turn %d of %d: %s" % (turn + 1, turns, name))
            found[name].append(tools[name]())
    progress("")
    return found


def progress(text):
    """One line that changes, for a person at a terminal."""
    if sys.stderr.isatty():
        print("\r  %-60s%s" % (text, "" if text else "\r"), end="", file=sys.stderr, flush=True)


# ---- processes ---------------------------------------------------------------------------------------------------------

def cpu_seconds_of(pid):
    """CPU time of a process with all its threads, in ns resolution (the clock that clock_getcpuclockid(3) names)."""
    return time.clock_gettime((~pid << 3) | 2)


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def memory_kb(pid):
    """(resident, of that anonymous)"""
    found = {}
    for line in read_text("/proc/%d/status" % pid).splitlines():
        if line.startswith(("VmRSS:", "RssAnon:")):
            found[line.split(":")[0]] = int(line.split()[1])
    return found["VmRSS"], found["RssAnon"]


def tree_of(pid):
    """The process and everything below it."""
    found = [pid]
    for at in found:
        for task in os.listdir("/proc/%d/task" % at):
            found += [int(p) for p in read_text("/proc/%d/task/%s/children" % (at, task)).split()]
    return found


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def fetch(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read()


def wait_for_port(port, process, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("%s ended with %s before it listened" % (process.args[0], process.returncode))
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("%s does not listen on port %d" % (process.args[0], port))


def end(process, number=signal.SIGTERM):
    """Ends one helper and waits for it."""
    if process.poll() is None:
        process.send_signal(number)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


def on_cpu(cpu, realtime=False):
    """For a child between fork and exec: pinned where there is more than one CPU; a small real-time priority where it
    is permitted."""
    def enter():
        if os.cpu_count() > 1:
            os.sched_setaffinity(0, {cpu})
        if realtime:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            except PermissionError:
                pass
    return enter


# ---- one section's run -------------------------------------------------------------------------------------------------

class Bench:
    """Options, a scratch folder, helpers and cgroups; leaving it ends and removes them all."""

    def __init__(self, options):
        self.build = options.build
        self.results = options.results
        self.quick = options.quick
        self.runs = options.runs
        self.wrk2 = options.wrk2
        self.missing, self.notes = [], []
        self.helpers = incidents.Helpers()
        self.cgroups = None
        self.tmp = None

    def __enter__(self):
        self.tmp = tempfile.mkdtemp(prefix="headroom-bench-")
        self.busy_before = node_ticks()
        return self

    def __exit__(self, *_):
        # processes first: a cgroup with one in it cannot be removed
        try:
            self.helpers.end_all()
        finally:
            if self.cgroups:
                self.cgroups.remove_all()
            shutil.rmtree(self.tmp, ignore_errors=True)

    def turns(self, usual, quick):
        return quick if self.quick else usual

    def seconds(self, usual, quick):
        return quick if self.quick else usual

    def program(self, name):
        path = os.path.join(self.build, name)
        if not os.access(path, os.X_OK):
            raise RuntimeError("%s is not built: make" % path)
        return path

    @property
    def static_sidecar(self):
        return os.path.join(self.build, "static", "headroom-sidecar")

    def sidecar(self):
        """What images ship, when it is built; else the one of every day."""
        static = self.static_sidecar
        return static if os.access(static, os.X_OK) else self.program("headroom-sidecar")

    def tool(self, name, package):
        """The path of a peer, or None and a line that says so."""
        path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
        if not path:
            self.miss("%s is not installed%s" % (name, " (%s)" % package if package else ""))
        return path

    def miss(self, sentence):
        if sentence not in self.missing:
            self.missing.append(sentence)

    def compile(self, name, *flags):
        out = os.path.join(self.tmp, name)
        source = os.path.join(HERE, name + ".c")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", out, source, *flags], check=True)
        return out

    def start(self, command, enter=None, **kwargs):
        kwargs.setdefault("stdout", subprocess.DEVNULL)
        kwargs.setdefault("stderr", subprocess.DEVNULL)
        return self.helpers.start(command, enter, **kwargs)

    def run(self, command, enter=None, timeout=120):
        """Runs to its end; (status, stdout)."""
        p = self.start(command, enter, stdout=subprocess.PIPE)
        out, _ = p.communicate(timeout=timeout)
        return p.returncode, out.decode(errors="replace")

    def cgroup(self, name, quota=None):
        """A cgroup of our own below a parent of our own; its name from the root of the hierarchies."""
        base = "headroom-bench-%d" % os.getpid()
        if not self.cgroups:
            self.cgroups = incidents.Cgroups()
            self.cgroups.make(base, for_children=True)
        full = base + "/" + name
        self.cgroups.make(full)
        if quota:
            self.cgroups.limit(full, *quota)
        return full

    def counter_files(self, cgroup):
        """What a sampler of this cgroup cannot do without: v2 has it in one file, v1 in two."""
        files = [os.path.join(self.cgroups.cpu, cgroup, "cpu.stat")]
        if self.cgroups.is_v1:
            roots = [r for r in self.cgroups.roots if os.path.exists(os.path.join(r, cgroup, "cpuacct.usage"))]
            files.append(os.path.join(roots[0], cgroup, "cpuacct.usage"))
        return files

    def busy_share(self):
        """Of all CPUs since the section began, what was measured included."""
        busy, everything = (b - a for a, b in zip(self.busy_before, node_ticks()))
        return busy / everything if everything else None


def node_ticks():
    return incidents.cpu_seconds()


# ---- the machine and the versions --------------------------------------------------------------------------------------

def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in read_text("/proc/cpuinfo").splitlines()
                if line.startswith("model name")), platform.machine())
    system = next((line.split("=", 1)[1].strip('"') for line in read_text("/etc/os-release").splitlines()
                   if line.startswith("PRETTY_NAME=")), platform.system())
    kind = "v2" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "v1"
    virtual = "hypervisor" in read_text("/proc/cpuinfo")
    return {"cpu": cpu, "cpus": os.cpu_count(), "virtual": virtual, "kernel": platform.release(), "system": system,
            "cgroup": kind, "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20}


def version_of(command):
    """The first line of --version that has a figure in it."""
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line.strip() for line in (p.stdout + p.stderr).splitlines()]
    return next((line for line in lines if any(c.isdigit() for c in line)), None)


def package_version(path):
    """Of the Debian package that a program belongs to."""
    if not path or not shutil.which("dpkg-query"):
        return None
    p = subprocess.run(["dpkg-query", "-S", os.path.realpath(path)], capture_output=True, text=True, check=False)
    if p.returncode:
        return None
    name = p.stdout.split(":")[0]
    p = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}", name], capture_output=True, text=True,
                       check=False)
    return p.stdout or None


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(value, f, indent=1, sort_keys=True)
        f.write("\n")
    os.replace(path + ".new", path)


def read_json(path):
    """None when it is not there."""
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return None
