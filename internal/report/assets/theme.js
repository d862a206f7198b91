
const drawn = []; // functions that draw again, for a change of theme or size

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// Theme: the system's, unless the reader chose, or the address ends in #dark
// or #light.
function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  for (const again of drawn) again();
}
function remembered(name) {
  try {
    if (name) localStorage.setItem("plimsoll-theme", name);
    return localStorage.getItem("plimsoll-theme");
  } catch { return null; } // a page opened as a file may have no memory
}
const asked = { "#dark": "dark", "#light": "light" }[location.hash];
theme(asked || remembered());
document.querySelector(".theme").addEventListener("click", () => {
  const dark = css("color-scheme") === "dark" || getComputedStyle(document.documentElement).colorScheme === "dark";
  const name = dark ? "light" : "dark";
  remembered(name);
  theme(name);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(document.documentElement.dataset.theme));
