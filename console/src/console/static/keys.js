// Keys: / search, g and another key, j and k, Enter, ?. None acts while a field is in use.
const help = document.getElementById("keys");
const LETTER_MS = 1500;
let pressedAt = -Infinity;

const rows = () =>
  [...document.querySelectorAll("main tbody tr, main .work-cards li li, main .results li, main .cards > li")].filter(
    (row) => row.querySelector("a[href]") && row.offsetParent,
  );

function move(step) {
  const all = rows();
  if (!all.length) return;
  const place = all.findIndex((row) => row.contains(document.activeElement));
  const row = all[place < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(place + step, 0), all.length - 1)];
  row.tabIndex = -1;
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

function open() {
  const row = rows().find((one) => one === document.activeElement);
  row?.querySelector("a[href]").click();
  return Boolean(row);
}

const actions = {
  "/": () => document.getElementById("search").focus(),
  j: () => move(1),
  k: () => move(-1),
  "?": () => help.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!(event.target instanceof Element) || event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
  const isLetter = event.timeStamp - pressedAt < LETTER_MS;
  pressedAt = -Infinity;
  if (isLetter) {
    const link = document.querySelector(`.menu a[data-key="${CSS.escape(event.key)}"]`);
    if (!link) return;
    event.preventDefault();
    location.assign(link.href);
  } else if (event.key === "g") {
    pressedAt = event.timeStamp;
  } else if (event.key === "Enter") {
    if (open()) event.preventDefault();
  } else if (Object.hasOwn(actions, event.key)) {
    event.preventDefault();
    actions[event.key]();
  }
});
for (const button of document.querySelectorAll(".keys-open")) {
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
}
for (const sign of document.querySelectorAll(".search kbd")) sign.hidden = false;
