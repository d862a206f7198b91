
// The small charts of what a run cost: many, over one time, and one set of
// names for all that show processes.
const BINARY = [0, 1, 2, 3, 4].flatMap((p) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => n * 1024 ** p));
const UNITS = {
  cores: { format: cores }, per_s: { format: perSecond },
  bytes: { format: bytes, incrs: BINARY }, bytes_per_s: { format: bytesPerSecond, incrs: BINARY }, share: { format: percent },
};
const SMALL_LEFT = 62;
const small = new Map(); // of each run, its charts of processes

function usageColor(i) { return i < 0 ? "send" : RUN_COLORS[i % RUN_COLORS.length]; }

function usageChart(root) {
  const number = root.dataset.run, run = page.runs[number], chart = run.usage.charts[root.dataset.index];
  const y = Object.assign({ left: SMALL_LEFT, space: 26, top: chart.top }, UNITS[chart.format]), options = base(y);
  const lines = chart.lines.map((l) => ({
    label: l.label, color: usageColor(l.color), values: run.usage.lines[l.of], few: 2,
    dash: l.dash ? [4, 3] : DASHES[Math.floor(Math.max(l.color, 0) / RUN_COLORS.length) % DASHES.length],
  }));
  timeRange(options, run, "run-" + number, run.usage.t);
  shadePhases(options, run);
  if (chart.limit) showLimit(options, chart.limit);
  options.axes[0].space = 44;
  const placed = lineChart(root, options, run.usage.t, lines, y.format, (t) => moment(run, t), near(run), { shared: chart.members });
  if (placed && chart.members) small.set(number, [...(small.get(number) || []), placed]);
  return placed;
}

// showLimit draws what the machine can do at best, once the lines come near
// enough for both to be seen.
function showLimit(options, limit) {
  options.scales.y.range = (u, min, max) => [0, max > limit * 0.3 ? Math.max(max, limit) * 1.15 : max > 0 ? max * 1.1 : 1];
  options.hooks.draw.push((u) => {
    if (u.scales.y.max < limit) return;
    const c = u.ctx, r = uPlot.pxRatio, at = Math.round(u.valToPos(limit, "y", true));
    c.save();
    c.strokeStyle = css("soft");
    c.lineWidth = r;
    c.setLineDash([6 * r, 3 * r]);
    c.beginPath();
    c.moveTo(u.bbox.left, at);
    c.lineTo(u.bbox.left + u.bbox.width, at);
    c.stroke();
    c.restore();
    text(u, "limit", u.bbox.width / r - 4, u.valToPos(limit, "y") - 8, "soft", "right");
  });
}

// shareKeys gives a run's charts of processes one set of names, which hide and
// show a process in all of them.
function shareKeys(root) {
  const grid = root.nextElementSibling, first = grid && grid.querySelector(".plot");
  const charts = first && small.get(first.dataset.run);
  if (!charts) return;
  const lines = [];
  for (const c of charts) for (const l of c.lines) if (!lines.some((o) => o.label === l.label)) lines.push(l);
  if (lines.length < 2) return;
  root.replaceWith(Object.assign(keys({
    setSeries: (i, how) => {
      for (const c of charts) {
        const at = c.lines.findIndex((l) => l.label === lines[i - 1].label);
        if (at >= 0) c.u.setSeries(at + 1, how);
      }
    },
  }, lines), { className: "keys members" }));
}
