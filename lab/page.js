// Looks closer at what is already on the page: one window of time for all pictures of a study, down to a single period,
// and what one request was made of. Everything else works without it.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);

  const roundUp = (v) => {
    const ten = 10 ** Math.floor(Math.log10(v));
    return ten * [1, 2, 2.5, 5, 10].find((k) => v <= ten * k * 1.0000001);
  };
  const seconds = (ms) => Number((ms / 1000).toFixed(3)) + " s";
  const ms = (v) => (v === null || v === undefined ? "not told" : v.toFixed(1) + " ms");

  function setUp(panels) {
    const section = panels.closest("section");
    const zoom = section.querySelector(".zoom");
    const length = Number(zoom.dataset.length);
    const range = zoom.querySelector("input");
    const output = zoom.querySelector("output");
    const buttons = [...zoom.querySelectorAll("button[data-span]")];
    const charts = [...panels.querySelectorAll(".zoomable")];
    const runs = data.results[Number(panels.dataset.results)].runs;
    let from = 0;
    let span = length;

    function label(axis) {
      const step = roundUp(span / 6);
      axis.replaceChildren();
      for (let at = Math.ceil(from / step - 1e-9) * step; at <= from + span + 1e-6; at += step) {
        const mark = document.createElement("span");
        mark.style.left = (100 * (at - from)) / span + "%";
        mark.textContent = Number((at / 1000).toFixed(3));
        axis.append(mark);
      }
    }

    function show() {
      from = Math.max(0, Math.min(from, length - span));
      panels.classList.toggle("close", span <= 2000);
      for (const chart of charts) {
        chart.querySelector("svg").setAttribute("viewBox", `${from} 0 ${span} 1000`);
        if (chart.querySelector(".xt")) label(chart.querySelector(".xa"));
      }
      range.max = length - span;
      range.step = Math.max(10, span / 20);
      range.disabled = span >= length;
      range.value = from;
      output.textContent = seconds(from);
      range.setAttribute("aria-valuetext", `${seconds(from)} to ${seconds(from + span)}`);
      for (const b of buttons)
        b.setAttribute("aria-pressed", String((Number(b.dataset.span) || length) === span));
    }

    for (const b of buttons) {
      b.hidden = Number(b.dataset.span) >= length;
      b.addEventListener("click", () => {
        const middle = span < length ? from + span / 2 : 0;
        span = Number(b.dataset.span) || length;
        from = Math.max(0, middle - span / 2);
        show();
      });
    }
    range.addEventListener("input", () => {
      from = Number(range.value);
      show();
    });

    // repetitions
    const box = zoom.querySelector(".repetitions");
    const repetitions = [...new Set([...panels.querySelectorAll("g.run")].map((g) => Number(g.dataset.repetition)))].sort(
      (a, b) => a - b);
    const choose = (wanted) => {
      for (const svg of panels.querySelectorAll("svg")) {
        const all = [...svg.querySelectorAll("g.run")];
        const one = all.filter((g) => Number(g.dataset.repetition) === wanted).pop() || all[0];
        for (const g of all) g.classList.toggle("off", g !== one);
      }
      for (const b of box.querySelectorAll("button"))
        b.setAttribute("aria-pressed", String(Number(b.textContent) === wanted));
    };
    if (repetitions.length > 1) {
      box.append("repetition");
      for (const n of repetitions) {
        const b = document.createElement("button");
        b.type = "button";
        b.textContent = n;
        b.addEventListener("click", () => choose(n));
        box.append(b);
      }
      choose(repetitions[0]);
    }

    // one request, or one period, under the pointer
    function under(svg, event) {
      const r = svg.getBoundingClientRect();
      const group = svg.querySelector("g.run:not(.off)");
      return { run: group && runs[Number(group.dataset.run)], at: from + (span * (event.clientX - r.left)) / r.width,
               perPixel: span / r.width };
    }
    function nearest(run, at, within) {
      let best = -1;
      for (let i = 0; i < run.at_ms.length; i++)
        if (Math.abs(run.at_ms[i] - at) <= within && run.latency_ms[i] !== null &&
            (best < 0 || run.latency_ms[i] > run.latency_ms[best])) best = i;
      return best;
    }
    function tell(svg, event) {
      const { run, at, perPixel } = under(svg, event);
      if (!run) return "";
      if (svg.querySelector(".cpu")) {
        const p = run.periods_ms.find(([a, b]) => at >= a && at < b);
        return p ? `${seconds(p[0])} to ${seconds(p[1])}\n${ms(p[2])} of CPU used` : "";
      }
      const i = nearest(run, at, 8 * perPixel);
      if (i < 0) return "";
      return `sent at ${seconds(run.at_ms[i])}\nanswered after ${ms(run.latency_ms[i])}\nin the queue ${ms(run.queue_ms[i])}\n` +
        `running ${ms(run.cpu_ms[i])}\nwaiting for a CPU or the quota ${ms(run.cpu_wait_ms[i])}`;
    }
    for (const chart of charts) {
      const svg = chart.querySelector("svg");
      svg.addEventListener("pointermove", (event) => {
        tip.textContent = tell(svg, event);
        tip.hidden = !tip.textContent;
        tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - 274)) + "px";
        tip.style.top = event.clientY + 16 + "px";
      });
      svg.addEventListener("pointerleave", () => { tip.hidden = true; });
      svg.addEventListener("click", (event) => {
        const { at } = under(svg, event);
        const steps = buttons.map((b) => Number(b.dataset.span) || length).filter((s) => s < span);
        if (steps.length) span = Math.max(...steps);
        from = at - span / 2;
        show();
      });
    }
    zoom.hidden = false;
    show();
  }

  document.querySelectorAll(".panels[data-results]").forEach(setUp);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
})();
