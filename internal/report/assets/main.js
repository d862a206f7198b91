
// What each figure of the page shows.
const page = JSON.parse(document.getElementById("data").textContent);
const RUN_COLORS = ["publish", "e2e", "third", "fourth", "fifth", "sixth"];
const DASHES = [undefined, [7, 4], [2, 3], [10, 3, 2, 3]];
const SERIES = [["publish", "publish"], ["end_to_end", "end-to-end"], ["send", "send (uncorrected)"]];

// near are the events close to the mark, in words.
function near(run) {
  return (u) => {
    const at = u.posToVal(u.cursor.left, "x"), reach = (u.scales.x.max - u.scales.x.min) / 60;
    return run.events.filter((e) => Math.abs(e.at - at) < reach).slice(0, 4).map((e) => clock(e.at) + " " + e.kind + ": " + e.sentence);
  };
}

// moment is a time of a run and the phase that it is in.
function moment(run, t) {
  const phase = run.phases.findLast((p) => p.from <= t && t < p.to);
  return clock(t) + (phase ? ", " + (PHASES[phase.name] || phase.name) : "");
}

// overTime draws lines of one run over its time.
function overTime(root, y, lines) {
  const run = page.runs[root.dataset.run], options = base(y);
  for (const l of lines) l.values = run.time.lines[l.of] || [];
  lines = lines.filter((l) => !l.rare || l.values.some((v) => v > 0));
  timeRange(options, run, "run-" + root.dataset.run);
  shadePhases(options, run);
  lineChart(root, options, run.time.t, lines, y.format, (t) => moment(run, t), near(run));
}

// curves draws latency by percentile. Beyond the point where fewer than ten
// messages lie, the figures are the luck of a few: that part is shaded.
function curves(root, lines, least) {
  const options = base({ log: true, format: duration });
  let most = 10;
  for (const l of lines) most = Math.max(most, l.curve.count);
  const top = Math.max(...lines.map((l) => l.curve.ns.length)), xs = [];
  for (let i = 0; i < top; i++) xs.push(10 ** (i / page.curve_steps));
  for (const l of lines) l.values = xs.map((x, i) => (i < l.curve.ns.length ? l.curve.ns[i] : null));
  options.scales.x = { time: false, distr: 3, range: (u, min, max) => [min, Math.max(max, min * 1.01)] };
  options.axes[0] = axis({
    splits: (u) => powers(u.scales.x.min, u.scales.x.max), filter: (u, vs) => vs, size: 30,
    values: (u, vs) => {
      const every = Math.ceil((58 * vs.length) / (u.bbox.width / uPlot.pxRatio || 1));
      return vs.map((v, i) => (i % every ? "" : percentile(v)));
    },
  });
  options.hooks.drawClear.push((u) => {
    const from = Math.max(u.valToPos(least / 10, "x", true), u.bbox.left), end = u.bbox.left + u.bbox.width;
    if (from >= end) return;
    u.ctx.fillStyle = css("shade");
    u.ctx.fillRect(from, u.bbox.top, end - from, u.bbox.height);
  });
  options.hooks.draw.push((u) => {
    const end = u.bbox.width / uPlot.pxRatio;
    if (u.valToPos(least / 10, "x") < end - 10) text(u, "fewer than ten messages beyond", end - 4, -6, "soft", "right");
  });
  labelLines(options);
  if (root.clientWidth < 620) options.padding[1] = 30;
  return lineChart(root, options, xs, lines, duration, (x) => percentile(x) + " of messages within");
}

function heatColor(t) {
  const stops = css("heat").split(",").map((s) => s.trim().split(" ").map(Number));
  const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
  return "rgb(" + stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * (at - i))).join(" ") + ")";
}

// heatMap draws how many messages had which latency when.
function heatMap(root, run, map, controls) {
  const lowest = (row) => 1e3 * 10 ** (row / map.per_ten);
  const cells = new Map(), totals = [];
  let most = 1, bottom = Infinity, top = 0;
  for (let i = 0; i < map.cells.length; i += 3) {
    const [c, r, n] = map.cells.slice(i, i + 3);
    cells.set(c + ":" + r, n);
    totals[c] = (totals[c] || 0) + n;
    most = Math.max(most, n);
    bottom = Math.min(bottom, r);
    top = Math.max(top, r);
  }
  const shade = (n) => heatColor(0.16 + 0.84 * (most > 1 ? Math.log(n) / Math.log(most) : 1));
  const options = base({ log: true, format: duration });
  options.cursor.y = true;
  options.scales.y.range = () => [lowest(bottom - 1), lowest(top + 2)];
  options.series = [{}, { label: "cells", color: "accent", show: true, stroke: () => "transparent", points: { show: false } }];
  timeRange(options, run, "run-" + root.dataset.run);
  options.hooks.draw.push((u) => {
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    u.ctx.clip();
    for (let i = 0; i < map.cells.length; i += 3) {
      const [c, r, n] = map.cells.slice(i, i + 3);
      const x0 = Math.round(u.valToPos(map.starts[c], "x", true)), x1 = Math.round(u.valToPos(map.ends[c], "x", true));
      const y0 = Math.round(u.valToPos(lowest(r + 1), "y", true)), y1 = Math.round(u.valToPos(lowest(r), "y", true));
      u.ctx.fillStyle = shade(n);
      u.ctx.fillRect(x0, y0, Math.max(x1 - x0, 1), Math.max(y1 - y0, 1));
    }
    u.ctx.restore();
  });
  shadePhases(options, run);
  const tip = tooltip(options, root, (u) => {
    const x = u.posToVal(u.cursor.left, "x"), y = u.posToVal(u.cursor.top, "y");
    const c = map.starts.findIndex((s, i) => s <= x && x < map.ends[i]), r = Math.floor(Math.log10(y / 1e3) * map.per_ten);
    if (c < 0) return null;
    const n = cells.get(c + ":" + r) || 0;
    return {
      head: clock(map.starts[c]) + " to " + clock(map.ends[c]),
      rows: [[duration(lowest(r)) + " to " + duration(lowest(r + 1)), ""], ["messages", n.toLocaleString("en")],
        ["of this moment's", totals[c] ? significant((n / totals[c]) * 100) + "%" : "–"]],
      notes: near(run)(u),
    };
  });
  const t = run.time.t.length > 1 ? run.time.t : [map.starts[0], map.ends[map.ends.length - 1]];
  const placed = place(root, options, [t, t.map(() => null)], 300);
  const ramp = el("canvas", { width: 120, height: 1, "aria-hidden": "true" });
  const paint = () => {
    for (let i = 0; i < 120; i++) {
      ramp.getContext("2d").fillStyle = heatColor(0.16 + 0.84 * (i / 119));
      ramp.getContext("2d").fillRect(i, 0, 1, 1);
    }
  };
  placed.u.hooks.draw.push(paint);
  paint();
  controls.append(el("span", { class: "scale" }, "1", ramp, count(most) + " messages"));
  root.prepend(controls);
  root.append(tip);
  return placed;
}

// chosen draws one of several things, with buttons to choose by.
function chosen(root, names, draw) {
  let placed = null;
  const show = (i) => {
    if (placed) placed.remove();
    root.replaceChildren();
    placed = draw(i, choice(names, i, (j) => { show(j); root.querySelectorAll(".choice button")[j].focus(); }));
  };
  show(0);
}

// acrossRuns draws one line of each run, aligned on the measured window, and
// the faults of all. from is where a run has the line: time or usage.
function acrossRuns(root, y, of, from) {
  const tables = [], lines = [], faults = [];
  page.runs.forEach((run, i) => {
    const has = run[from || "time"];
    if (!has || !has.t.length || !(has.lines[of] || []).some((v) => v != null)) return;
    tables.push([has.t.map((t) => t - run.measured_from), has.lines[of]]);
    lines.push(runLine(i));
    for (const e of run.events) {
      if (e.kind !== "fault") continue;
      faults.push({ at: e.at - run.measured_from, kind: e.kind, sentence: run.name + ": " + e.sentence, color: runLine(i).color });
    }
  });
  if (!tables.length) {
    root.append(el("p", { class: "nothing" }, "Nothing was recorded that this chart could show."));
    return null;
  }
  const joined = uPlot.join(tables), options = base(y);
  lines.forEach((l, i) => { l.values = joined[i + 1]; });
  options.cursor.sync = { key: "compare" };
  const all = { phases: [{ name: "warmup", from: joined[0][0], to: 0 }], events: faults };
  shadePhases(options, all);
  return lineChart(root, options, joined[0], lines, y.format, clock, near(all));
}

function runLine(i) {
  return { label: page.runs[i].name, color: RUN_COLORS[i % RUN_COLORS.length], dash: DASHES[Math.floor(i / RUN_COLORS.length) % DASHES.length] };
}

const RATE = { format: perSecond }, COUNT = { format: count }, LATENCY = { log: true, format: duration };
const CHARTS = {
  throughput: (root) => overTime(root, RATE, [
    { of: "offered", label: "offered", color: "send", dash: [6, 4], area: "area" },
    { of: "acked", label: "acknowledged", color: "publish", width: 2.2 },
    { of: "received", label: "received", color: "e2e" },
    { of: "replayed", label: "replayed", color: "third", width: 2, rare: true },
    { of: "failed", label: "failed", color: "bad", dash: [2, 3], rare: true },
  ]),
  backlog: (root) => overTime(root, COUNT, [
    { of: "backlog", label: "backlog", color: "e2e", width: 2 },
    { of: "in_flight", label: "in flight", color: "publish" },
  ]),
  latency: (root) => overTime(root, LATENCY, [
    { of: "publish_p50", label: "publish p50", color: "publish", width: 1.2 },
    { of: "publish_p99", label: "publish p99", color: "publish", width: 2.2 },
    { of: "publish_max", label: "publish max", color: "publish", dash: [2, 3] },
    { of: "send_p50", label: "send p50", color: "send", width: 1.2 },
    { of: "send_p99", label: "send p99", color: "send", width: 2.2 },
    { of: "send_max", label: "send max", color: "send", dash: [2, 3] },
    { of: "end_to_end_p50", label: "end-to-end p50", color: "e2e", width: 1.2 },
    { of: "end_to_end_p99", label: "end-to-end p99", color: "e2e", width: 2.2 },
    { of: "end_to_end_max", label: "end-to-end max", color: "e2e", dash: [2, 3] },
  ]),
  self: (root) => overTime(root, LATENCY, [
    { of: "schedule_lag_p99", label: "schedule lag p99", color: "fourth", width: 2.2 },
    { of: "schedule_lag_max", label: "schedule lag max", color: "fourth", dash: [2, 3] },
    { of: "hiccup_p99", label: "hiccup p99", color: "third", width: 2.2 },
    { of: "hiccup_max", label: "hiccup max", color: "third", dash: [2, 3] },
    { of: "gc", label: "longest collection pause", color: "fifth", width: 1.4 },
  ]),
  cpu: (root) => overTime(root, { format: cores }, [{ of: "cpu", label: "cores used", color: "fourth", width: 2 }]),
  heat: (root) => {
    const run = page.runs[root.dataset.run], series = SERIES.filter(([key]) => run.heat[key]);
    chosen(root, series.map(([, name]) => name), (i, controls) => heatMap(root, run, run.heat[series[i][0]], controls));
  },
  curve: (root) => {
    const run = page.runs[root.dataset.run], colors = { publish: "publish", end_to_end: "e2e", send: "send" };
    const lines = SERIES.filter(([key]) => run.curves[key]).map(([key, name]) => (
      { label: name, color: colors[key], curve: run.curves[key], width: 2, dash: key === "send" ? [6, 4] : undefined }));
    curves(root, lines, Math.min(...lines.map((l) => l.curve.count)));
  },
  "compare-curve": (root) => {
    const series = SERIES.filter(([key]) => page.runs.some((r) => r.curves[key]));
    chosen(root, series.map(([, name]) => name), (i, controls) => {
      const lines = page.runs.map((r, k) => Object.assign(runLine(k), { curve: r.curves[series[i][0]], width: 2 })).filter((l) => l.curve);
      const placed = curves(root, lines, Math.min(...lines.map((l) => l.curve.count)));
      root.prepend(controls);
      return placed;
    });
  },
  "compare-throughput": (root) => acrossRuns(root, RATE, "acked"),
  "compare-latency": (root) => {
    const of = (key) => key + "_p99";
    let series = SERIES.filter(([key]) => page.runs.some((r) => (r.time.lines[of(key)] || []).some((v) => v != null)));
    if (!series.length) series = SERIES.slice(0, 2);
    chosen(root, series.map(([, name]) => name), (i, controls) => {
      const placed = acrossRuns(root, LATENCY, of(series[i][0]));
      root.prepend(controls);
      return placed;
    });
  },
  "compare-backlog": (root) => acrossRuns(root, COUNT, "backlog"),
  "compare-cpu": (root) => acrossRuns(root, UNITS.cores, "all.cpu", "usage"),
  "compare-written": (root) => acrossRuns(root, UNITS.bytes_per_s, "all.written", "usage"),
  "compare-syncs": (root) => acrossRuns(root, UNITS.per_s, "all.syncs", "usage"),
  usage: usageChart,
};

for (const root of document.querySelectorAll(".plot")) CHARTS[root.dataset.kind](root);
for (const root of document.querySelectorAll(".members")) shareKeys(root);

// On paper: light, and as wide as the sheet.
let before;
addEventListener("beforeprint", () => {
  before = document.documentElement.dataset.theme;
  theme("light");
  for (const d of document.querySelectorAll("details")) d.open = true;
  for (const again of drawn) again(660);
});
addEventListener("afterprint", () => {
  theme(before);
  for (const again of drawn) again.fit();
});
