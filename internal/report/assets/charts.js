
// The charts of the page, on uPlot. Everything that is drawn takes its colours
// from the style sheet at the moment of drawing, so a change of theme is a
// redraw.
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const LEFT = 64; // of each chart's plot, so that times stand below one another
const PHASES = { warmup: "warm-up", measure: "measured", drain: "drain", "catch-up": "catching up" };

// el makes an element. Text goes in as text, never as markup.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

function axis(extra) {
  return Object.assign({
    stroke: () => css("soft"), font: FONT, ticks: { show: false },
    grid: { stroke: () => css("grid"), width: 1 },
  }, extra);
}

// powers are the powers of ten between two values: the marks of a log axis.
// With few of them, twice and five times each are marks too.
function powers(min, max, few) {
  const out = [], steps = few && max / min < 150 ? [1, 2, 5] : [1];
  for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max) + 1e-9; e++) {
    for (const s of steps) {
      if (s * 10 ** e >= min * 0.999 && s * 10 ** e <= max * 1.001) out.push(s * 10 ** e);
    }
  }
  return out;
}

const STEPS = [1, 2, 5, 10, 15, 30]; // seconds between the marks of a time axis, and so on in minutes and hours
const TIMES = [...STEPS, ...STEPS.map((s) => s * 60), ...STEPS.map((s) => s * 3600)];

// logRange is the range of a log axis: from half a power of ten to another.
function logRange(u, min, max) {
  if (!(min > 0)) return [1e3, 1e9];
  const low = Math.floor(Math.log10(min) * 2 - 1e-9) / 2, high = Math.ceil(Math.log10(max) * 2 + 0.15) / 2;
  return high - low < 1 ? [10 ** Math.floor(low), 10 ** (Math.floor(low) + 1 + (high > Math.floor(low) + 1))] : [10 ** low, 10 ** high];
}

// base is what every chart shares. y is {log, format}.
function base(y) {
  return {
    legend: { show: false }, padding: [14, 14, 0, 0],
    cursor: {
      y: false, drag: { x: true, y: false, dist: 6 },
      points: { size: 8, width: 0, stroke: () => "transparent", fill: (u, i) => css(u.series[i].color) },
    },
    scales: {
      x: { time: false },
      y: y.log ? { distr: 3, range: logRange } : { range: (u, min, max) => [0, y.top * 1.04 || (max > 0 ? max * 1.1 : 1)] },
    },
    axes: [
      axis({ values: (u, vs) => vs.map(clock), space: 64, size: 30, incrs: TIMES }),
      axis(Object.assign({ size: y.left || LEFT, space: y.space || 34, incrs: y.incrs, values: (u, vs) => vs.map((v) => v == null ? "" : y.format(v)) },
        y.log ? { splits: (u) => powers(u.scales.y.min, u.scales.y.max, true), filter: (u, vs) => vs } : {})),
    ],
    hooks: { drawClear: [], draw: [], setCursor: [] },
  };
}

// lineSeries is a line: {label, color, dash, width, values}.
function lineSeries(line) {
  return {
    label: line.label, color: line.color, stroke: () => css(line.color), width: line.width || 1.75, dash: line.dash,
    fill: line.area ? () => css(line.area) : undefined,
    points: { show: (u) => u.data[0].length <= (line.few || 32), size: 5, width: 0, fill: () => css(line.color), stroke: () => css(line.color) },
  };
}

// text writes on the canvas, in CSS pixels from the plot's left top corner.
function text(u, words, x, y, color, align) {
  const r = uPlot.pxRatio, c = u.ctx;
  c.save();
  c.font = FONT.replace("12px", 11.5 * r + "px");
  c.fillStyle = css(color);
  c.textAlign = align || "left";
  c.textBaseline = "middle";
  c.fillText(words, u.bbox.left + x * r, u.bbox.top + y * r);
  c.restore();
}

// shadePhases shades what is not measured and marks events.
function shadePhases(options, run) {
  options.hooks.drawClear.push((u) => {
    for (const p of run.phases.concat(run.faults || [])) {
      if (p.name === "measure") continue;
      const from = Math.max(u.valToPos(p.from, "x", true), u.bbox.left);
      const to = Math.min(u.valToPos(p.to, "x", true), u.bbox.left + u.bbox.width);
      if (to <= from) continue;
      u.ctx.fillStyle = css("shade");
      u.ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
    }
  });
  options.hooks.draw.push((u) => {
    const width = u.bbox.width / uPlot.pxRatio;
    for (const p of run.phases) {
      const from = Math.max(u.valToPos(p.from, "x"), 0), to = Math.min(u.valToPos(p.to, "x"), width);
      if (PHASES[p.name] && to - from > 56) text(u, PHASES[p.name], from + 4, -6, "soft");
    }
    const rows = []; // where each row of sentences is taken
    const seen = run.events.map((e) => Object.assign({ x: u.valToPos(e.at, "x") }, e)).filter((e) => e.x >= 0 && e.x <= width);
    const color = (e) => e.color || (e.kind === "fault" ? "bad" : "warn");
    for (const e of seen) markEvent(u, e.x, color(e), e.kind === "fault");
    for (const e of seen) if (e.kind === "fault") writeEvent(u, e.x, e.sentence, color(e), rows);
  });
}

// markEvent draws a line at a moment: a fault's is whole, others' are dashed.
function markEvent(u, x, color, fault) {
  const c = u.ctx, r = uPlot.pxRatio, top = u.bbox.top, at = Math.round(u.bbox.left + x * r);
  c.save();
  c.strokeStyle = c.fillStyle = css(color);
  c.lineWidth = (fault ? 1.5 : 1) * r;
  if (!fault) c.setLineDash([3 * r, 3 * r]);
  c.beginPath();
  c.moveTo(at, top);
  c.lineTo(at, top + u.bbox.height);
  c.stroke();
  c.beginPath();
  c.moveTo(at - 4 * r, top - 5 * r);
  c.lineTo(at + 4 * r, top - 5 * r);
  c.lineTo(at, top + 2 * r);
  c.fill();
  c.restore();
}

// writeEvent writes an event's sentence beside its line, on the side with more
// room and in the first row where no other stands. What has no room is below
// the mark when the reader points there.
function writeEvent(u, x, sentence, color, rows) {
  const c = u.ctx, r = uPlot.pxRatio, width = u.bbox.width / r, right = width - x >= x;
  c.save();
  c.font = FONT.replace("12px", 11.5 * r + "px");
  const wide = (s) => c.measureText(s).width / r, room = (right ? width - x : x) - 9;
  let words = sentence;
  while (words.length > 4 && wide(words) > room) words = words.slice(0, -2).trimEnd() + "…";
  const from = right ? x + 6 : x - 6 - wide(words), to = from + wide(words);
  let row = 0;
  while ((rows[row] || []).some(([a, b]) => from < b + 6 && to > a - 6)) row++;
  const y = 11 + 15 * row;
  if (words.length > 4 && y < u.bbox.height / r / 2) {
    (rows[row] = rows[row] || []).push([from, to]);
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.lineJoin = "round";
    c.strokeStyle = css("panel");
    c.lineWidth = 4 * r;
    c.fillStyle = css(color);
    c.strokeText(words, u.bbox.left + from * r, u.bbox.top + y * r);
    c.fillText(words, u.bbox.left + from * r, u.bbox.top + y * r);
  }
  c.restore();
}

// timeRange shows the whole run unless a part was chosen with the mouse, and
// ties the marks of one run's charts together.
function timeRange(options, run, key, times) {
  const t = times || run.time.t, first = t[0], last = t[t.length - 1];
  options.scales.x.range = (u, min, max) => (min <= first && max >= last ? [run.from, run.end] : [min, max]);
  options.cursor.sync = { key: key };
}

// labelLines writes each line's name at its right end, none over another.
function labelLines(options) {
  options.padding[1] = 122;
  options.hooks.draw.push((u) => {
    if (u.width < 620) return;
    const ends = [];
    u.series.forEach((s, i) => {
      if (i === 0 || !s.show) return;
      let last = u.data[i].length - 1;
      while (last >= 0 && u.data[i][last] == null) last--;
      if (last >= 0) ends.push({ s, y: u.valToPos(u.data[i][last], "y") });
    });
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((e, i) => {
      if (i > 0) e.y = Math.max(e.y, ends[i - 1].y + 15);
      text(u, e.s.label.length > 17 ? e.s.label.slice(0, 16) + "…" : e.s.label, u.bbox.width / uPlot.pxRatio + 8, e.y, e.s.color);
    });
  });
}

// tooltip shows the values below the mark. lines(u, idx) returns a heading and
// rows of [name, value, color].
function tooltip(options, root, content) {
  const tip = el("div", { class: "tip", role: "status" });
  options.hooks.setCursor.push((u) => {
    const here = root.matches(":hover") || root.contains(document.activeElement);
    const found = here && u.cursor.left >= 0 ? content(u) : null;
    tip.style.display = found ? "block" : "none";
    if (!found) return;
    tip.replaceChildren(el("b", {}, found.head), ...found.rows.map(([name, value, color]) => {
      const label = el("i", {}, name);
      if (color) label.style.color = "var(--" + color + ")";
      return el("div", {}, label, el("span", {}, value));
    }), ...(found.notes || []).map((n) => el("p", {}, n)));
    const left = u.over.offsetLeft + u.cursor.left, room = root.clientWidth;
    tip.style.left = tip.style.right = "";
    if (left > room / 2) tip.style.right = room - left + 14 + "px";
    else tip.style.left = left + 14 + "px";
    tip.style.top = root.querySelector(".uplot").offsetTop + 18 + "px";
  });
  return tip;
}

// keys are buttons that name the lines and hide or show them.
function keys(u, lines) {
  return el("div", { class: "keys", role: "group", "aria-label": "Lines" }, ...lines.map((line, i) => {
    const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), path = document.createElementNS(ns, "path");
    path.setAttribute("d", "M0 5h22");
    path.style.stroke = "var(--" + line.color + ")";
    path.style.strokeWidth = String((line.width || 1.75) + 0.5);
    path.style.strokeDasharray = (line.dash || []).join(" ");
    svg.append(path);
    svg.setAttribute("aria-hidden", "true");
    const b = el("button", { type: "button", "aria-pressed": "true" }, svg, line.label);
    b.addEventListener("click", () => {
      const show = b.getAttribute("aria-pressed") === "false";
      b.setAttribute("aria-pressed", String(show));
      u.setSeries(i + 1, { show: show });
    });
    return b;
  }));
}

// choice are buttons of which one is pressed.
function choice(names, chosen, choose) {
  return el("div", { class: "keys choice", role: "group", "aria-label": "What is shown" }, ...names.map((name, i) => {
    const b = el("button", { type: "button", "aria-pressed": String(i === chosen) }, name);
    b.addEventListener("click", () => choose(i));
    return b;
  }));
}

// place puts a chart into its figure, fits it to the width it has, and lets
// the arrow keys move the mark.
function place(root, options, data, height, printed) {
  const size = () => ({ width: Math.max(root.clientWidth, 200), height: root.clientWidth < 560 ? Math.min(height, 250) : height });
  const u = new uPlot(Object.assign(options, size()), data, root);
  u.root.setAttribute("aria-hidden", "true");
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", root.dataset.label + " The arrow keys move along the chart.");
  const resize = new ResizeObserver(() => { if (u.width !== size().width) u.setSize(size()); });
  resize.observe(root);
  root.onkeydown = (e) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (!step || e.target !== root) return;
    e.preventDefault();
    const xs = u.data[0], at = u.cursor.idx == null ? (step > 0 ? -1 : xs.length) : u.cursor.idx;
    const next = Math.min(Math.max(at + step, 0), xs.length - 1);
    u.setCursor({ left: u.valToPos(xs[next], "x"), top: u.over.clientHeight / 2 }, true, true); // and tell the other charts
  };
  root.onblur = () => u.setCursor({ left: -10, top: -10 }, true, true);
  const again = (width) => (width ? u.setSize({ width: printed || width, height: height }) : u.redraw(false));
  again.fit = () => u.setSize(size());
  drawn.push(again);
  return { u, remove: () => { drawn.splice(drawn.indexOf(again), 1); resize.disconnect(); u.destroy(); } };
}

// lineChart draws lines over x, with keys and values below the mark.
function lineChart(root, options, x, lines, format, head, notes, small) {
  if (!lines.some((l) => l.values.some((v) => v != null))) {
    root.replaceChildren(el("p", { class: "nothing" }, "Nothing was recorded that this chart could show."));
    return null;
  }
  lines = lines.filter((l) => l.values.some((v) => v != null));
  options.series = [{}, ...lines.map(lineSeries)];
  // Lines of several runs have their own moments: the value nearest the mark
  // is the one to show.
  options.cursor.dataIdx = (u, s, i) => {
    if (s === 0 || u.data[s][i] != null) return i;
    for (let d = 1; d < 12; d++) {
      if (u.data[s][i - d] != null) return i - d;
      if (u.data[s][i + d] != null) return i + d;
    }
    return i;
  };
  const tip = tooltip(options, root, (u) => {
    if (u.cursor.idx == null) return null;
    const rows = lines.map((l, i) => [l.label, u.series[i + 1].show ? format(u.data[i + 1][u.cursor.idxs[i + 1]]) : null, l.color]);
    return { head: head(u.data[0][u.cursor.idx]), rows: rows.filter((r) => r[1] !== null), notes: notes ? notes(u) : [] };
  });
  const placed = place(root, options, [x, ...lines.map((l) => l.values)], small ? 150 : 270, small ? 200 : 0);
  placed.lines = lines;
  if (lines.length > 1 && !(small && small.shared)) root.prepend(keys(placed.u, lines));
  root.append(tip);
  return placed;
}
