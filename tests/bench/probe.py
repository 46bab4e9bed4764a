"""Section "probe": what the service itself costs, against nginx; how well the unit of work repeats."""
import json
import os
import re

import common
from common import column, figure, goal, ratio

NGINX = """daemon off;
master_process off;
pid {tmp}/nginx.pid;
error_log {tmp}/nginx.error;
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {tmp}/body;
    proxy_temp_path {tmp}/proxy;
    fastcgi_temp_path {tmp}/fastcgi;
    uwsgi_temp_path {tmp}/uwsgi;
    scgi_temp_path {tmp}/scgi;
    keepalive_requests 100000000;
    server {{
        listen 127.0.0.1:{port};
        root {tmp}/www;
    }}
}}
"""
CONNECTIONS = 8


def hammer(bench, server, url, wrk, seconds):
    """One thread of wrk, as fast as the server goes; CPU of the server for each request."""
    cpu = common.cpu_seconds_of(server.pid)
    status, out = bench.run([wrk, "-t1", "-c%d" % CONNECTIONS, "-d%ds" % seconds, url])
    cpu = common.cpu_seconds_of(server.pid) - cpu
    requests = re.search(r"(\d+) requests in", out)
    rate = re.search(r"Requests/sec:\s*([0-9.]+)", out)
    if status or not requests or not rate:
        raise RuntimeError("wrk ended with %d: %s" % (status, out.strip()[-200:]))
    if "Non-2xx" in out:
        raise RuntimeError("%s does not answer with 200" % url)
    return {"rate": float(rate.group(1)), "us": cpu * 1e6 / int(requests.group(1))}


def probe(bench, path, workers, wrk, seconds):
    port = common.free_port()
    p = bench.start([bench.program("headroom-probe"), "--listen", "127.0.0.1:%d" % port, "--rounds", "1000", "--workers",
                     workers])
    common.wait_for_port(port, p)
    result = hammer(bench, p, "http://127.0.0.1:%d%s" % (port, path), wrk, seconds)
    common.end(p)
    return result


def nginx(bench, program, wrk, seconds):
    port = common.free_port()
    www = os.path.join(bench.tmp, "www")
    os.makedirs(www, exist_ok=True)
    for folder in (bench.tmp, www):
        os.chmod(folder, 0o755)
    with open(os.path.join(www, "empty"), "w", encoding="ascii"):
        pass
    config = os.path.join(bench.tmp, "nginx.conf")
    with open(config, "w", encoding="ascii") as f:
        f.write(NGINX.format(tmp=bench.tmp, port=port))
    p = bench.start([program, "-c", config, "-e", os.path.join(bench.tmp, "nginx.error")])
    common.wait_for_port(port, p)
    result = hammer(bench, p, "http://127.0.0.1:%d/empty" % port, wrk, seconds)
    common.end(p)
    return result


def rate_table(bench, wrk):
    seconds = bench.seconds(3, 1)
    tools = {"headroom-probe, /work?rounds=0": lambda: probe(bench, "/work?rounds=0", "nproc", wrk, seconds),
             "headroom-probe, /healthz": lambda: probe(bench, "/healthz", "nproc", wrk, seconds)}
    program = bench.tool("nginx", "Debian: nginx")
    if program:
        tools["nginx, an empty file"] = lambda: nginx(bench, program, wrk, seconds)
    found = common.take_turns(bench.runs or bench.turns(5, 2), tools)
    get = lambda name, key: [r[key] for r in found[name]]  # noqa: E731
    base = list(found)[-1] if program else None
    rows = [[name, figure(get(name, "rate")), figure(get(name, "us")),
             ratio(get(name, "rate"), get(base, "rate")) if base else None] for name in found]
    return {"title": "Requests a second without work: wrk, one thread, %d connections, turns of %d s" % (CONNECTIONS, seconds),
            "columns": [column(""), column("requests/s"), column("CPU us a request", 1), column("to nginx", 2)],
            "rows": rows}, goal("requests/s without work to those of nginx, 0.5 at least", rows[0][3], lambda v: v >= 0.5)


def calibration_table(bench):
    found = []
    for _ in range(bench.runs or bench.turns(7, 3)):
        status, out = bench.run([bench.program("headroom-probe"), "--calibrate", "--cpu-ms", "4"])
        if status == 0:
            found.append(json.loads(out))
    if len(found) < 2:
        bench.miss("the calibration: the machine was never calm enough for it")
        return None
    rounds = [c["rounds"] for c in found]
    middle = figure(rounds)["median"]
    return {"title": "Calibration: rounds for 4 ms, found anew each time",
            "columns": [column(""), column("", 3)],
            "rows": [["rounds", figure(rounds)], ["to their median", figure([r / middle for r in rounds])],
                     ["spread inside of one calibration", figure([c["spread"] for c in found])]]}


def measure(bench):
    wrk = bench.tool("wrk", "Debian: wrk")
    if not wrk:
        return None
    rates, one = rate_table(bench, wrk)
    tables = [rates] + [t for t in [calibration_table(bench)] if t]
    return {"tables": tables, "goals": [one],
            "versions": {n: common.package_version(bench.tool(n, "")) for n in ("wrk", "nginx")}}
