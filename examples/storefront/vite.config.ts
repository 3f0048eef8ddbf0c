import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { defineConfig, loadEnv, type Plugin } from "vite";

const WORKER = "service-worker.js";
/** Files of the public folder that the shell needs without a connection. */
const PUBLIC = ["/manifest.webmanifest", "/icon.svg", "/theme.js"];

/** The policy of the built page. It allows no inline script and no other host than the API. */
function contentSecurityPolicy(apiUrl: string): Plugin {
  const api = new URL(apiUrl).origin;
  const content = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' blob: ${api}`,
    `connect-src 'self' ${api}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return {
    name: "content-security-policy",
    apply: "build",
    transformIndexHtml: () => [
      { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content }, injectTo: "head-prepend" },
    ],
  };
}

/**
 * Load the page's script and style as the service worker requests them, without the header Origin. Behind a host that sends
 * `Vary: Origin` the browser would otherwise download both twice. A module always has that header, so the script is none.
 */
function oneDownload(): Plugin {
  return {
    name: "one-download",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html) => html.replace('type="module" crossorigin', "defer").replaceAll(" crossorigin", ""),
    },
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk" || chunk.fileName === WORKER) continue;
        if (chunk.imports.length || chunk.dynamicImports.length) throw new Error("The page's script must be one file");
        chunk.code = `(()=>{"use strict";${chunk.code}\n})();`;
      }
    },
  };
}

/** Write the files of the application shell, and a digest of them, into the service worker. */
function applicationShell(): Plugin {
  return {
    name: "application-shell",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      const { [WORKER]: worker, ...shell } = bundle;
      if (worker?.type !== "chunk" || !("index.html" in shell)) throw new Error("The page or the worker was not built");
      const digest = createHash("sha256");
      for (const file of Object.values(shell)) digest.update(file.type === "chunk" ? file.code : file.source);
      for (const name of PUBLIC) digest.update(readFileSync(`public${name}`));
      const built = Object.keys(shell).filter((name) => name !== "index.html");
      const paths = ["/", ...built.map((name) => `/${name}`), ...PUBLIC];
      worker.code = worker.code
        .replaceAll("__SHELL__", () => JSON.stringify(paths))
        .replaceAll("__VERSION__", () => JSON.stringify(digest.digest("hex").slice(0, 16)));
    },
  };
}

export default defineConfig(({ mode }) => ({
  plugins: [
    contentSecurityPolicy(loadEnv(mode, process.cwd(), "VITE_")["VITE_API_URL"] ?? "http://localhost:8080"),
    oneDownload(),
    applicationShell(),
  ],
  resolve: { tsconfigPaths: true },
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: "index.html", worker: "src/service-worker.ts" },
      output: { entryFileNames: (chunk) => (chunk.name === "worker" ? WORKER : "assets/[name]-[hash].js") },
    },
  },
}));
