
// Figures as people read them: three significant digits and a unit, the way
// the tables of the page print them.
function significant(v) {
  if (v === 0) return "0";
  if (Math.abs(v) >= 100) return String(Math.round(v));
  return String(Number(v.toPrecision(3)));
}

function duration(ns) {
  if (ns == null) return "–";
  if (ns >= 3600e9) return significant(ns / 3600e9) + "h";
  if (ns >= 60e9) return significant(ns / 60e9) + "m";
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (ns >= size) return significant(ns / size) + unit;
  }
  return significant(ns) + "ns";
}

function count(v) {
  if (v == null) return "–";
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (Math.abs(v) >= size) return significant(v / size) + unit;
  }
  return significant(v);
}

function perSecond(v) { return v == null ? "–" : count(v) + "/s"; }

const BYTES = [["TB", 1024 ** 4], ["GB", 1024 ** 3], ["MB", 1024 ** 2], ["KB", 1024]];

function bytes(v) {
  if (v == null) return "–";
  for (const [unit, size] of BYTES) if (Math.abs(v) >= size) return significant(v / size) + unit;
  return significant(v) + "B";
}

function bytesPerSecond(v) { return v == null ? "–" : bytes(v) + "/s"; }

function percent(v) { return v == null ? "–" : significant(v * 100) + "%"; }

function cores(v) { return v == null ? "–" : significant(v); }

// clock prints a time of the run: 12s, 3:05, 1:02:30.
function clock(s) {
  const sign = s < 0 ? "-" : "";
  s = Math.abs(s);
  if (s < 120) return sign + Number(s.toFixed(1)) + "s";
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const tail = two((s % 3600) / 60) + ":" + two(s % 60);
  return sign + (s >= 3600 ? Math.floor(s / 3600) + ":" + tail : tail.replace(/^0/, ""));
}

// percentile prints x = 1/(1-q) as the percentile q: 1 is 0%, 10 is 90%.
function percentile(x) {
  const digits = Math.max(0, Math.ceil(Math.log10(x) - 1e-9) - 2);
  return Number(((1 - 1 / x) * 100).toFixed(Math.min(digits + 1, 8))) + "%";
}
