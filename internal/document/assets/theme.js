
// The theme is the system's, unless the reader chose, or the address ends in #dark or #light.
function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
}
function remembered(name) {
  try {
    if (name) localStorage.setItem("plimsoll-theme", name);
    return localStorage.getItem("plimsoll-theme");
  } catch { return null; } // a page opened as a file may have no memory
}
theme({ "#dark": "dark", "#light": "light" }[location.hash] || remembered());
document.querySelector(".theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  theme(remembered(dark ? "light" : "dark") || (dark ? "light" : "dark"));
});
