// Follows the files of an experiment: when they have changed, it fetches the page again and takes
// over what differs within <main>. So scroll positions, the focus and opened details stay.
(() => {
  const bar = document.getElementById("live");
  const status = bar.querySelector("[role=status]");
  const SILENT = 40_000; // ms without a sign of life: the machine slept, or the server hangs
  const AGAIN = 5_000; // ms until a refused stream is asked for again
  let version = bar.dataset.version;
  let stream, silence, retry, over = false;
  let loading = Promise.resolve();

  const say = (state, words) => {
    bar.dataset.state = state;
    if (status.textContent !== words) status.textContent = words;
  };

  // key is equal for nodes that show the same thing at different times.
  const key = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeType;
    const summary = node.nodeName === "DETAILS" ? node.querySelector("summary")?.textContent : "";
    return [node.nodeName, node.id, node.getAttribute("class"),
      summary?.replace(/[0-9]+/g, "0")].join(" ");
  };

  // take makes a node like another one and keeps what is alike.
  const take = (now, next) => {
    if (now.nodeType !== Node.ELEMENT_NODE) {
      if (now.nodeValue !== next.nodeValue) now.nodeValue = next.nodeValue;
      return;
    }
    const readers = (name) => name === "open" && now.nodeName === "DETAILS"; // the reader's choice
    for (const { name } of [...now.attributes]) {
      if (!next.hasAttribute(name) && !readers(name)) now.removeAttribute(name);
    }
    for (const { name, value } of next.attributes) {
      if (now.getAttribute(name) !== value && !readers(name)) now.setAttribute(name, value);
    }
    const children = [...next.childNodes];
    const later = new Map(); // how many of the next children have a key
    for (const child of children) later.set(key(child), (later.get(key(child)) || 0) + 1);
    let at = now.firstChild;
    const drop = () => {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    };
    // A node may be dropped if none of the next children is like it, and the space after it too.
    const needless = (node) => node.nodeType === Node.TEXT_NODE || !later.get(key(node));
    for (const child of children) {
      const wanted = key(child);
      later.set(wanted, later.get(wanted) - 1);
      let same = at;
      while (same && key(same) !== wanted && needless(same)) same = same.nextSibling;
      if (!same || key(same) !== wanted) {
        now.insertBefore(child, at);
        continue;
      }
      while (at !== same) drop();
      at = at.nextSibling;
      if (!same.isEqualNode(child)) take(same, child);
    }
    while (at) drop();
  };

  const load = (wanted) => {
    loading = loading.then(async () => {
      if (wanted === version) return;
      if ("whole" in bar.dataset) return location.reload(); // there was no page yet
      const answer = await fetch(location.href, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.status);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      take(document.querySelector("main"), page.querySelector("main"));
      document.title = page.title;
      version = answer.headers.get("ETag").replaceAll('"', "");
    }).catch(() => say("lost", "The page could not be fetched: it shows an earlier state."));
    return loading;
  };

  const stop = () => {
    clearTimeout(silence);
    clearTimeout(retry);
    stream?.close();
  };
  const alive = () => {
    clearTimeout(silence);
    silence = setTimeout(listen, SILENT);
  };
  function listen() {
    stop();
    if (over) return;
    // A hidden page learns of the end alone, and shows the last figures when it is seen again.
    stream = new EventSource(bar.dataset.events + (document.hidden ? "&hidden=" : ""));
    stream.onopen = () => say("live", "Live: the page follows the measurement.");
    stream.addEventListener("beat", alive);
    stream.addEventListener("changed", (e) => { alive(); load(e.data); });
    stream.addEventListener("over", async (e) => {
      over = true;
      await load(e.data);
      stop();
      if (version === e.data) say("over", "The measurement has ended: the page is complete.");
      else {
        over = false;
        listen();
      }
    });
    stream.onerror = () => {
      if (over) return stop();
      say("lost", "plimsoll has ended or cannot be reached: the page shows an earlier state. A " +
        "measurement that has ended has its report in the run directory.");
      if (stream.readyState === EventSource.CLOSED) retry = setTimeout(listen, AGAIN);
    };
    alive();
  }
  document.addEventListener("visibilitychange", listen);
  listen();
})();
