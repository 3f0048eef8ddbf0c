// Serves the build on a free port and checks it: the page, its policy, each file that it needs offline, and the API.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { loadEnv, preview } from "vite";

const api = loadEnv("production", process.cwd(), "VITE_")["VITE_API_URL"] ?? "http://localhost:8080";
const server = await preview({ logLevel: "error", preview: { host: "127.0.0.1", port: 0, strictPort: false } });
const origin = `http://127.0.0.1:${server.httpServer.address().port}`;
after(() => server.close());

const read = async (path) => {
  const response = await fetch(`${origin}${path}`);
  assert.equal(response.status, 200, path);
  return [await response.text(), response.headers.get("content-type") ?? ""];
};

test("the page allows no other host than the API", async () => {
  const [page] = await read("/");
  const [, allowed] = /connect-src \S+ ([^;]+);/.exec(page) ?? [];
  assert.equal(allowed, new URL(api).origin, "run `npm run build` with the VITE_API_URL of today");
  const [deep] = await read("/orders/any");
  assert.equal(deep, page, "every path without a file is the page");
});

test("each file of the offline application exists", async () => {
  const [worker] = await read("/service-worker.js");
  const paths = JSON.parse(/\[("\/"[^\]]*)\]/.exec(worker)?.[0] ?? "[]");
  assert.ok(paths.length > 3, "the service worker lists no files");
  for (const path of paths) {
    const [, type] = await read(path);
    assert.equal(type.startsWith("text/html"), path === "/", `${path} is missing`);
  }
});

test("the API lists products", async () => {
  const response = await fetch(`${api}/api/products?limit=1`).catch((error) => {
    throw new Error(`${api} does not respond: start it, or set VITE_API_URL in .env`, { cause: error });
  });
  assert.equal(response.status, 200);
  assert.equal((await response.json()).success, true);
});
