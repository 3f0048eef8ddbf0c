// Improves pages that work without it: a form is sent once, and a filter applies when it is chosen.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", "true");
});
// The back button may show the page as it was: its forms can be sent again, under the same key.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[aria-disabled]")) button.removeAttribute("aria-disabled");
});
document.addEventListener("change", (event) => {
  if (event.target.matches(".filters select")) event.target.form.requestSubmit();
});
// The id of a page, or a shortened reference, is copied by one click.
const COPIED_MS = 2000;
for (const place of document.querySelectorAll(".copy[hidden]")) place.hidden = false;
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.dataset.label ??= button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = button.dataset.label), COPIED_MS);
});
window.addEventListener("beforeprint", () => {
  const shown = { timeZone: "Africa/Lagos", dateStyle: "medium", timeStyle: "short" };
  for (const place of document.querySelectorAll("[data-now]")) place.textContent = new Date().toLocaleString("en-GB", shown);
});
// A refused form that was too long to be sent back to its page is shown under the address of the page.
for (const place of document.querySelectorAll("[data-address]")) history.replaceState(null, "", place.dataset.address);
// Light or dark: the choice is a cookie, which the server writes into the next page. The device's own choice needs none.
const theme = document.getElementById("theme");
if (theme) theme.hidden = false;
theme?.addEventListener("click", () => {
  const device = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const chosen = (document.documentElement.dataset.theme || device) === "dark" ? "light" : "dark";
  if (chosen === device) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `console-theme=${chosen}; Path=/; Max-Age=${chosen === device ? 0 : 31536000}; SameSite=Lax${secure}`;
});
// On a phone a row of a table is a card: each cell takes its label from the head, where the template wrote none.
function labelCells() {
  for (const table of document.querySelectorAll(".scroll:not(.phone) table")) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent.trim());
    if (!heads.length || table.querySelector("[colspan], [rowspan]")) continue;
    for (const row of table.tBodies[0]?.rows ?? []) for (const cell of row.cells) cell.dataset.label ??= heads[cell.cellIndex];
    table.closest(".scroll").classList.add("phone");
  }
}
labelCells();
document.addEventListener("htmx:afterSettle", labelCells);
