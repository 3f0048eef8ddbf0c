/**
 * Caches the application shell: the page, its scripts, styles and icons. Answers of the API are of another origin and never
 * cached. A new version is installed beside the running one and serves once no page of the earlier version is open, so that a
 * page never meets files of two versions.
 */
declare const self: ServiceWorkerGlobalScope;
/** The build writes both: the paths of the shell, and a digest of their contents. */
declare const __SHELL__: readonly string[];
declare const __VERSION__: string;

const CACHE = `shell-${__VERSION__}`;

self.addEventListener("install", (event) => {
  // A name with a hash never changes its content. The browser's own cache may hold the others in an earlier version.
  const files = __SHELL__.map((path) => new Request(path, path.startsWith("/assets/") ? {} : { cache: "no-cache" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(files)));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  // Every address of the application is the same page. A host may send `Vary: Origin`, but its files are the same for all.
  const wanted = request.mode === "navigate" ? "/" : request;
  event.respondWith(caches.match(wanted, { cacheName: CACHE, ignoreVary: true }).then((cached) => cached ?? fetch(request)));
});

export {};
