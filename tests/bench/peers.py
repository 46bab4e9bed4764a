"""The tools that people watch containers with today, each as cheap as it can be set up."""
import json
import os
import shutil
import time

import common

NETDATA = """[global]
    run as user = root
[directories]
    config = {tmp}
    cache = {tmp}/cache
    lib = {tmp}/lib
    log = {tmp}/log
    home = {tmp}
[db]
    mode = ram
    update every = 1
[web]
    bind to = 127.0.0.1:{port}
[health]
    enabled = no
[ml]
    enabled = no
[plugins]
    enable running new plugins = no
    proc = no
    diskspace = no
    tc = no
    idlejitter = no
    timex = no
    profile = no
    apps = no
    charts.d = no
    python.d = no
    go.d = no
    perf = no
    slabinfo = no
    statsd = no
    netdata monitoring = no
    cgroups = yes
[plugin:cgroups]
    update every = 1
    check for new cgroups every = 1
"""

TELEGRAF = """[agent]
  interval = "1s"
  flush_interval = "10s"
  omit_hostname = true
[[inputs.cgroup]]
  paths = ["{folder}"]
  files = ["cpu.stat", "cpuacct.usage"]
[[outputs.discard]]
"""


def shell_loop(bench, files, seconds):
    """One turn of the loop a second; its children are counted."""
    rusage = bench.compile("rusage")
    out = os.path.join(bench.tmp, "loop")
    script = ("for ((i = 0; i < $1; i++)); do cat \"${@:2}\" | awk '/nr_throttled/ { n = $2 } END { print n }'; "
              "sleep 1; done")
    bench.run([rusage, out, "bash", "-c", script, "loop", str(seconds), *files])
    used = json.loads(common.read_text(out))
    cpu = used["user_s"] + used["sys_s"]
    return {"us": cpu * 1e6 / seconds, "percent": cpu / used["wall_s"] * 100, "resident": used["maxrss_kib"]}


def cpu_of_tree(pid):
    total = 0.0
    for one in common.tree_of(pid):
        try:
            total += common.cpu_seconds_of(one)
        except OSError:
            pass
    return total


def watched_for(process, seconds, each_second=None):
    """A tool that runs by itself, once it has settled; each_second is its scrape."""
    time.sleep(1.5)
    cpu, wall = cpu_of_tree(process.pid), time.monotonic()
    for i in range(seconds):
        if each_second:
            each_second()
        time.sleep(max(0.0, wall + i + 1 - time.monotonic()))
    cpu, wall = cpu_of_tree(process.pid) - cpu, time.monotonic() - wall
    memory = [common.memory_kb(p) for p in common.tree_of(process.pid)]
    return {"us": cpu * 1e6 / seconds, "percent": cpu / wall * 100, "resident": sum(m[0] for m in memory),
            "anonymous": sum(m[1] for m in memory)}


def end_tree(process):
    """A tool's helpers end with it, or are ended."""
    below = common.tree_of(process.pid)[1:]
    common.end(process)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any(os.path.exists("/proc/%d" % p) for p in below):
        time.sleep(0.05)
    for pid in below:
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass


def node_exporter(bench, path, seconds):
    port = common.free_port()
    p = bench.start([path, "--web.listen-address=127.0.0.1:%d" % port])
    common.wait_for_port(port, p)
    result = watched_for(p, seconds, lambda: common.fetch("http://127.0.0.1:%d/metrics" % port))
    common.end(p)
    return result


def netdata(bench, path, seconds):
    folder, port = os.path.join(bench.tmp, "netdata"), common.free_port()
    for name in ("cache", "lib", "log"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, "netdata.conf"), "w", encoding="ascii") as f:
        f.write(NETDATA.format(tmp=folder, port=port))
    p = bench.start([path, "-D", "-c", os.path.join(folder, "netdata.conf"), "-P", os.path.join(folder, "pid")],
                    env=dict(os.environ, DISABLE_TELEMETRY="1", DO_NOT_TRACK="1"))
    common.wait_for_port(port, p)
    # it looks for cgroups some seconds after its start; before it has found ours it costs nothing
    url, deadline, found = "http://127.0.0.1:%d/api/v1/charts" % port, time.monotonic() + 30, False
    while not found and time.monotonic() < deadline:
        time.sleep(0.5)
        found = any("headroom-bench" in name for name in json.loads(common.fetch(url))["charts"])
    result = watched_for(p, seconds) if found else None
    if not found:
        bench.miss("netdata did not find the cgroup within 30 s")
    end_tree(p)
    return result


def telegraf(bench, path, seconds, cgroup):
    config = os.path.join(bench.tmp, "telegraf.conf")
    with open(config, "w", encoding="ascii") as f:
        f.write(TELEGRAF.format(folder=os.path.join(bench.cgroups.cpu, cgroup)))
    p = bench.start([path, "--config", config])
    result = watched_for(p, seconds)
    end_tree(p)
    return result


def watchers(bench, cgroup, seconds):
    """name -> function, of those that are installed."""
    found = {}
    path = bench.tool("prometheus-node-exporter", "Debian: prometheus-node-exporter")
    if path:
        found["node-exporter, scraped"] = lambda path=path: node_exporter(bench, path, seconds)
    path = bench.tool("netdata", "Debian: netdata-core")
    if path:
        found["netdata, cgroups plugin alone"] = lambda path=path: netdata(bench, path, seconds)
    path = bench.tool("telegraf", "not in Debian 12")
    if path:
        found["telegraf, inputs.cgroup alone"] = lambda path=path: telegraf(bench, path, seconds, cgroup)
    return found


def watcher_versions():
    return {name: common.package_version(shutil.which(name)) or common.version_of([name, "--version"])
            for name in ("prometheus-node-exporter", "netdata", "telegraf") if shutil.which(name)}
