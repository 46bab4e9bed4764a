#!/usr/bin/env python3
"""Opens a page from disk in headless Chromium and tells what a person would have met.

usage: tests/page/browser.py [--axe axe.min.js] [--screenshots DIR] PAGE

For 1280 and 390 px of width, light and dark: errors and warnings of the console, requests beyond the page itself, width of the page
against that of the window; with --axe its violations. Then the script is used: zoom, slider, a repetition, a click, a tooltip. Prints
one JSON object; its `problems` is a list of sentences. --screenshots keeps a PNG of each view.
"""
import argparse
import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

VIEWS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


class Browser:
    """Chromium, spoken to by a pair of pipes: no port, no library."""

    def __init__(self, profile):
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def wire():
            os.dup2(to_read, 3)
            os.dup2(from_write, 4)

        # descriptors of ours that happen to be 3 or 4 would be closed by the copy
        to_read, from_write = (os.dup(fd) if fd < 10 else fd for fd in (to_read, from_write))
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--user-data-dir=" + profile, "--remote-debugging-pipe", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, close_fds=False, preexec_fn=wire)
        os.close(to_read)
        os.close(from_write)
        self.rest, self.number, self.events, self.session = b"", 0, [], None

    def receive(self, deadline):
        while b"\0" not in self.rest:
            if not select.select([self.from_read], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("chromium does not answer")
            more = os.read(self.from_read, 1 << 20)
            if not more:
                raise ConnectionError("chromium ended")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 30
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise ValueError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        deadline = time.monotonic() + 30
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.receive(deadline))

    def evaluate(self, text):
        result = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise ValueError(json.dumps(result["exceptionDetails"])[:600])
        return result["result"].get("value")

    def attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def load(browser, url, width, scheme):
    browser.events.clear()
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.call("Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Page.navigate", url=url)
    browser.wait_for("Page.loadEventFired")


def heard(browser, url):
    """What the console said, and which requests were made beside the page's own."""
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            yield "exception: %s" % params["exceptionDetails"].get("exception", {}).get("description", params)
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            yield "console: %s" % params["args"]
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            yield "console: %s" % params["entry"]["text"]
        elif method == "Network.requestWillBeSent":
            asked = params["request"]["url"].split("#")[0]
            if asked != url and not asked.startswith("data:"):
                yield "request: %s" % asked


def look(browser, url, width, scheme, axe):
    load(browser, url, width, scheme)
    problems = []
    wide = browser.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        problems.append("the page is %d px wide" % wide)
    if axe:
        browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        browser.evaluate(axe + "; 0")
        found = browser.evaluate("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.impact + ': ' + v.help + ': ' + "
                                 "v.nodes.slice(0, 3).map(n => n.target.join(' ')).join('; ')))")
        problems += ["axe: " + v for v in found]
        browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = false)")
    problems += list(heard(browser, url))
    return ["%d px, %s: %s" % (width, scheme, p) for p in problems]


def screenshot(browser, path):
    size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
    image = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
    pathlib.Path(path).write_bytes(base64.b64decode(image["data"]))


USE = """(() => {
  const said = [];
  const view = () => document.querySelector('.zoomable svg').getAttribute('viewBox').split(' ').map(Number);
  const button = (span) => document.querySelector(`.zoom button[data-span="${span}"]`);
  const whole = view()[2];
  if (document.querySelector('.zoom').hidden) said.push('the zoom is hidden');
  button(100).click();
  if (view()[2] !== 100) said.push('one period shows ' + view()[2] + ' ms');
  if (button(100).getAttribute('aria-pressed') !== 'true') said.push('the pressed button does not say so');
  const range = document.querySelector('.zoom input');
  range.value = 200;
  range.dispatchEvent(new Event('input'));
  if (view()[0] !== 200) said.push('the slider moves to ' + view()[0]);
  if (!document.querySelector('.zoomable .xa').nextElementSibling && !document.querySelector('.zoomable .xa span'))
    said.push('no numbers after zooming');
  button(0).click();
  if (view()[2] !== whole) said.push('the whole run is ' + view()[2]);
  const svg = document.querySelector('.zoomable svg');
  const r = svg.getBoundingClientRect();
  const at = { clientX: r.left + r.width / 2, clientY: r.top + 20, bubbles: true };
  svg.dispatchEvent(new MouseEvent('click', at));
  if (!(view()[2] < whole)) said.push('a click does not look closer');
  button(0).click();
  let told = '';
  for (let x = 0; x < r.width && !told; x += 3) {
    svg.dispatchEvent(new PointerEvent('pointermove', { ...at, clientX: r.left + x }));
    told = document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent;
  }
  if (!/answered after [0-9.]+ ms/.test(told)) said.push('a dot tells: ' + told);
  svg.dispatchEvent(new PointerEvent('pointerleave', at));
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  if (new Set(ids).size !== ids.length) said.push('an id is used twice');
  return said;
})()"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--axe")
    parser.add_argument("--screenshots")
    parser.add_argument("page")
    options = parser.parse_args()
    url = pathlib.Path(options.page).resolve().as_uri()
    axe = pathlib.Path(options.axe).read_text(encoding="utf-8") if options.axe else None
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            browser.attach()
            problems, used = [], False
            for width, scheme in VIEWS:
                problems += look(browser, url, width, scheme, axe)
                if options.screenshots:
                    screenshot(browser, os.path.join(options.screenshots, "%d-%s.png" % (width, scheme)))
            browser.events.clear()
            if browser.evaluate("document.querySelector('.zoom') !== null"):
                used = True
                problems += ["in use: " + p for p in browser.evaluate(USE)]
            problems += ["in use: " + p for p in heard(browser, url)]
            if options.screenshots:
                browser.evaluate("document.querySelector('.zoom button[data-span=\"400\"]')?.click()")
                screenshot(browser, os.path.join(options.screenshots, "zoomed.png"))
        finally:
            browser.close()
    json.dump({"problems": problems, "axe": bool(axe), "views": len(VIEWS), "used": used}, sys.stdout, indent=2)
    print()
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
