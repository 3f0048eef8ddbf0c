// Loads the list again every two seconds; waits while a mail is open or a link has the focus.
"use strict";
const live = () => document.querySelector("[data-live]");
if (live()) {
  setInterval(async () => {
    if (document.hidden || document.querySelector("details[open]") || live().contains(document.activeElement)) return;
    const response = await fetch(location.href).catch(() => null);
    if (!response || !response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-live]");
    if (fresh && fresh.innerHTML !== live().innerHTML) live().replaceWith(fresh);
  }, 2000);
}
