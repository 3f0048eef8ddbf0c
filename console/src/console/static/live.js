// Live numbers of a list or of the first page. Nothing that is read moves: a link at the edge says how much is new.
const place = document.querySelector("[data-live]");
const START_MS = 3000;
let source;
let isReady = false;

function show(numbers) {
  place.hidden = !numbers.new;
  place.querySelector("a").textContent = `${numbers.new} new: show`;
  for (const [kind, count] of Object.entries(numbers.counts ?? {})) {
    for (const badge of document.querySelectorAll(`[data-count="${CSS.escape(kind)}"]`)) badge.textContent = count;
  }
}

// A hidden page holds no connection: a browser opens six to one server.
function follow() {
  if (!place || !isReady || document.hidden || source) return;
  const address = new URL(location.href);
  address.searchParams.set("seen", place.dataset.live);
  source = new EventSource(address);
  source.onmessage = (event) => show(JSON.parse(event.data));
}
function pause() {
  source?.close();
  source = undefined;
}
document.addEventListener("visibilitychange", () => (document.hidden ? pause() : follow()));
window.addEventListener("pagehide", pause);
window.addEventListener("pageshow", follow);
window.addEventListener("load", () =>
  setTimeout(() => {
    isReady = true;
    follow();
  }, START_MS),
);
