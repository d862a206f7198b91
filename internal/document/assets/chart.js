// The values of a chart below the pointer, or at the mark that the arrow keys move. The lines
// are read back from their paths, so a page holds each figure once. Listeners on the document
// serve charts that are added later.
(() => {
  const number = (v, units, size) => {
    let i = 0;
    while (i < units.length - 1 && Math.abs(v) >= size) { v /= size; i++; }
    return (Math.abs(v) >= 100 ? Math.round(v) : Number(v.toPrecision(3))) + units[i];
  };
  const time = (s) => {
    if (Math.abs(s) < 60) return s === 0 ? "0s" : Math.abs(s) < 1 ? number(s * 1e9, ["ns", "µs", "ms"], 1e3) : Number(s.toPrecision(3)) + "s";
    const whole = Math.round(Math.abs(s)), two = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    return (s < 0 ? "-" : "") + (two[0] ? two[0] + "h" : "") + two[1] + "m" + (two[0] ? "" : two[2] + "s");
  };
  const WORDS = {
    per_s: (v) => number(v, ["", "k", "M", "G"], 1e3) + "/s", bytes: (v) => number(v, ["B", "KB", "MB", "GB", "TB"], 1024),
    bytes_s: (v) => number(v, ["B", "KB", "MB", "GB", "TB"], 1024) + "/s", ns: (v) => time(v / 1e9), s: time,
    share: (v) => Number((v * 100).toPrecision(3)) + "%",
    percentile: (v) => v.toFixed(v < 90 ? 0 : Math.min(8, Math.ceil(-Math.log10(1 - Math.min(v, 99.9999999) / 100)) - 1)) + "%",
    names: () => "",
  };
  // axis reads a scale: its words and the value at a place from 0 to 1.
  const axis = (data) => {
    const [unit, form, least, most, near] = data.split(" ").map((s, i) => (i > 1 ? Number(s) : s));
    const back = { log: (p) => 10 ** p, tail: (p) => 100 * (1 - 10 ** -p), signed: (p) => Math.sinh(p) * near }[form] || ((p) => p);
    const words = WORDS[unit] || ((v) => number(v, ["", "k", "M", "G"], 1e3));
    return (at) => words(back(least + at * (most - least)));
  };
  // points of the words of a path; a step has two for each value.
  const points = (path) => {
    const out = [];
    for (const [, c, a, b] of path.matchAll(/([MLHV])(-?[\d.]+)(?: (-?[\d.]+))?/g)) {
      const last = out[out.length - 1];
      if (c === "V") last[1] = Number(a);
      else out.push(c === "H" ? [Number(a), last[1]] : [Number(a), Number(b)]);
    }
    return out;
  };
  const near = (all, x) => all.reduce((best, p) => (Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best), all[0]);
  // ends are the point of a line that is nearest to a place, or of a band the least and the greatest.
  // The path of a band goes there along its greatest values and back along its least.
  const ends = (path, x) => {
    const words = path.getAttribute("d"), all = points(words);
    if (!path.classList.contains("many")) return all.length ? [near(all, x)] : [];
    const pairs = words.split("Z").flatMap((part) => {
      const both = points(part);
      return both.slice(both.length / 2).map((least, i) => [least[0], least, both[both.length / 2 - 1 - i]]);
    });
    return pairs.length ? near(pairs, x).slice(1) : [];
  };
  const hide = (root) => root.querySelectorAll(".tip, .cursor").forEach((e) => e.remove());
  const show = (root, asked, y) => {
    hide(root);
    const svg = root.querySelector(".drawn"), reach = svg.dataset.x.startsWith("names") ? 1 : 1 / 12;
    let at = asked, gap = reach; // the place of the nearest value
    const inner = svg.querySelector(".lines"), height = svg.height.baseVal.value;
    const x = axis(svg.dataset.x), up = axis(svg.dataset.y), rows = [];
    const wide = inner ? inner.viewBox.baseVal.width : 1000;
    for (const path of svg.querySelectorAll(".line")) {
      const found = ends(path, asked * wide), p = found[0], off = p ? Math.abs(p[0] / wide - asked) : 1;
      if (off < reach) rows.push([path.dataset.n, [...new Set(found.map((q) => up(1 - q[1] / height)))].join(" to "), path]);
      if (off < gap) [at, gap] = [p[0] / wide, off];
    }
    if (svg.querySelector(".heat") && y != null) rows.push(["", up(1 - y), null]);
    const box = svg.getBoundingClientRect(), dots = [...svg.querySelectorAll(".dot")].map((d) => [d, d.getBoundingClientRect()]);
    const close = dots.filter(([, r]) => Math.abs(r.left + r.width / 2 - box.left - at * box.width) < 10).slice(0, 6);
    const tip = document.createElement("div"), head = document.createElement("b");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    head.textContent = x(at);
    tip.append(head);
    for (const [name, value, path] of rows) {
      const row = document.createElement("div"), label = document.createElement("i"), figure = document.createElement("span");
      if (path) label.style.color = getComputedStyle(path).stroke;
      label.textContent = name;
      figure.textContent = value;
      row.append(label, figure);
      tip.append(row);
    }
    for (const [d] of close) if (d.querySelector("title")) tip.append(Object.assign(document.createElement("p"), { textContent: d.querySelector("title").textContent }));
    const line = document.createElementNS(svg.namespaceURI, "line");
    for (const [k, v] of Object.entries({ class: "cursor", x1: at * 100 + "%", x2: at * 100 + "%", y1: 0, y2: height })) line.setAttribute(k, v);
    svg.append(line);
    const left = box.left - root.getBoundingClientRect().left + at * box.width;
    tip.style.top = svg.offsetTop || box.top - root.getBoundingClientRect().top + 14 + "px";
    if (left > root.clientWidth / 2) tip.style.right = root.clientWidth - left + 12 + "px";
    else tip.style.left = left + 12 + "px";
    root.append(tip);
    root.dataset.at = asked;
  };
  let last = null;
  document.addEventListener("pointermove", (e) => {
    const root = e.target.closest && e.target.closest(".drawing");
    if (last && last !== root) hide(last);
    last = root;
    if (!root) return;
    const box = root.querySelector(".drawn").getBoundingClientRect(), at = (e.clientX - box.left) / box.width;
    if (at < -0.02 || at > 1.02) return hide(root);
    show(root, Math.min(Math.max(at, 0), 1), (e.clientY - box.top) / box.height);
  });
  document.addEventListener("keydown", (e) => {
    const root = e.target.closest && e.target.closest(".drawing"), step = { ArrowLeft: -0.01, ArrowRight: 0.01 }[e.key];
    if (!root || !step) return;
    e.preventDefault();
    show(root, Math.min(Math.max(Number(root.dataset.at || 0) + step, 0), 1), null);
  });
  document.addEventListener("focusout", (e) => { if (e.target.matches && e.target.matches(".drawing")) hide(e.target); });
})();
