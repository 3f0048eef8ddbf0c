// The package as it is published: both module systems, all operations, the size of a bundle.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import * as esm from "campus-client";

const root = new URL("../", import.meta.url);
interface Operation {
  operationId: string;
  "x-audience"?: string;
}

async function gzippedBytesOf(contents: string): Promise<{ size: number; text: string }> {
  const stdin = { contents, resolveDir: root.pathname };
  const built = await build({ stdin, bundle: true, minify: true, format: "esm", target: "es2022", write: false });
  const text = built.outputFiles[0]?.text ?? "";
  return { size: gzipSync(text, { level: 9 }).length, text };
}

test("every operation for clients is a method of Campus", () => {
  const address = new URL("../../services/api-gateway/src/api_gateway/pages/openapi.json", root);
  const { paths } = JSON.parse(readFileSync(address, "utf8")) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.values(paths).flatMap((one) => Object.values(one));
  const campus = new esm.Campus({ baseUrl: "" }) as unknown as Record<string, Record<string, unknown> | undefined>;
  const found = operations.filter(({ operationId }) => {
    const [resource = "", method = ""] = operationId.split(".");
    return typeof campus[resource]?.[method] === "function";
  });
  assert.ok(found.length > 180);
  assert.deepEqual(
    found,
    operations.filter((one) => one["x-audience"] === undefined),
  );
});

test("CommonJS and ESM export the same names", () => {
  const cjs = createRequire(import.meta.url)("campus-client") as Record<string, unknown>;
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort());
});

test("a class keeps its name in a minified bundle", async () => {
  const { text } = await gzippedBytesOf(
    'import { ConcurrencyConflictError } from "campus-client"; console.log(ConcurrencyConflictError);',
  );
  assert.match(text, /"ConcurrencyConflictError"/);
});

test("a bundle holds the named resources only", async (context) => {
  const { size, text } = await gzippedBytesOf(
    'import { connect, OrdersResource } from "campus-client";' +
      "console.log(connect({ baseUrl: '' }, { orders: OrdersResource }).orders.checkout({ items: [] }));",
  );
  context.diagnostic(`checkout only: ${String(size)} bytes minified and gzipped`);
  assert.ok(size < 4_500, String(size));
  for (const absent of ["/api/payouts", "text/event-stream", "createImageBitmap", "webhook-id"]) {
    assert.ok(!text.includes(absent), absent);
  }
});

test("the whole client is small", async (context) => {
  const { size } = await gzippedBytesOf('import { Campus } from "campus-client"; console.log(Campus);');
  context.diagnostic(`everything: ${String(size)} bytes minified and gzipped`);
  assert.ok(size < 10_000, String(size));
});

test("verifyWebhook needs nothing of the client", async (context) => {
  const { size, text } = await gzippedBytesOf(
    'import { verifyWebhook } from "campus-client/webhooks"; console.log(verifyWebhook);',
  );
  context.diagnostic(`webhooks: ${String(size)} bytes minified and gzipped`);
  assert.ok(size < 1_500 && !text.includes("fetch"), String(size));
});
