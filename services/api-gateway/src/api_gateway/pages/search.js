// Searches guides, operations, events and error codes. The index is a file of this server, loaded at the first use.
"use strict";
(() => {
  const SHOWN_MAX = 12;
  const SNIPPET_CHARACTERS = 110;
  const box = document.querySelector("search");
  const input = box.querySelector("input");
  const status = box.querySelector("p");
  const list = box.querySelector("ul");
  let index = null;

  const load = async () => {
    const response = await fetch("/guides/search.json");
    if (!response.ok) throw new Error(String(response.status));
    return (await response.json()).map((entry) => ({ ...entry, title: entry.t.toLowerCase(), text: `${entry.p} ${entry.x}`.toLowerCase() }));
  };

  // Every word must occur. A word in a title counts more than one in the text, its start more than its middle.
  const score = (entry, words) => {
    let total = 0;
    for (const word of words) {
      const inTitle = entry.title.indexOf(word);
      const inText = entry.text.indexOf(word);
      if (inTitle < 0 && inText < 0) return 0;
      if (inTitle >= 0) total += inTitle === 0 || /\W/.test(entry.title[inTitle - 1]) ? 10 : 5;
      if (inText >= 0) total += inText === 0 || /\W/.test(entry.text[inText - 1]) ? 2 : 1;
    }
    // Guides first: they explain what the others list.
    return entry.u.startsWith("/guides") ? total + 1 : total;
  };

  const snippet = (entry, word) => {
    const at = Math.max(0, entry.x.toLowerCase().indexOf(word) - 30);
    return (at ? "…" : "") + entry.x.slice(at, at + SNIPPET_CHARACTERS) + (entry.x.length > at + SNIPPET_CHARACTERS ? "…" : "");
  };

  const row = (entry, word) => {
    const link = document.createElement("a");
    link.href = entry.u;
    link.textContent = entry.t;
    const line = document.createElement("span");
    line.textContent = entry.x ? `${entry.p}: ${snippet(entry, word)}` : entry.p;
    link.append(line);
    const item = document.createElement("li");
    item.append(link);
    return item;
  };

  const close = () => {
    list.hidden = status.hidden = true;
  };

  const show = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return close();
    try {
      index ??= load();
      const entries = await index;
      const found = entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points);
      found.sort((one, other) => other[0] - one[0]);
      list.replaceChildren(...found.slice(0, SHOWN_MAX).map(([, entry]) => row(entry, words[0])));
      list.hidden = !found.length;
      status.textContent = found.length ? `${found.length} results` : "Nothing found";
    } catch {
      index = null;
      list.hidden = true;
      status.textContent = "The search index could not be loaded. Try again.";
    }
    status.hidden = false;
  };

  input.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      close();
      input.focus();
    } else if (step && links.length) {
      event.preventDefault();
      const next = links.indexOf(document.activeElement) + step;
      (next < 0 ? input : links[Math.min(next, links.length - 1)]).focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    input.focus();
  });
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target)) close();
  });
  box.hidden = false;
})();
