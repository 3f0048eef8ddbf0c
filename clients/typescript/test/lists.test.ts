import assert from "node:assert/strict";
import { test } from "node:test";
import { Campus } from "campus-client";
import { type Handler, ok, problem, startWire } from "./wire.js";

const wire = await startWire();
const campus = new Campus({ baseUrl: wire.url });
const urls = (): string[] => wire.received.map(({ url }) => url);

const byCursor: Handler[] = [
  ok([{ id: "1" }, { id: "2" }], { next_cursor: "a+b", has_more: true, limit: 2 }),
  ok([{ id: "3" }], { next_cursor: null, has_more: false, limit: 2 }),
];
const byNumber: Handler[] = [
  ok([{ id: "1" }], { page: 1, limit: 1, total: 2, total_pages: 2 }),
  ok([{ id: "2" }], { page: 2, limit: 1, total: 2, total_pages: 2 }),
];

async function idsOf(list: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

test("an iteration follows the cursors with the same filters", async () => {
  wire.answer(...byCursor);
  assert.deepEqual(await idsOf(campus.products.list({ q: "rice & beans", inStock: true, limit: 2 })), ["1", "2", "3"]);
  assert.deepEqual(urls(), [
    "/api/products?q=rice+%26+beans&inStock=true&limit=2",
    "/api/products?q=rice+%26+beans&inStock=true&limit=2&cursor=a%2Bb",
  ]);
});

test("an iteration follows the page numbers", async () => {
  wire.answer(...byNumber);
  assert.deepEqual(await idsOf(campus.payouts.list({ limit: 1 })), ["1", "2"]);
  assert.deepEqual(urls(), ["/api/payouts?limit=1", "/api/payouts?limit=1&page=2"]);
});

test("an iteration that ends early requests no further page", async () => {
  wire.answer(...byCursor);
  for await (const product of campus.products.list()) {
    assert.equal(product.id, "1");
    break;
  }
  assert.equal(wire.received.length, 1);
});

test("pages are read one by one", async () => {
  wire.answer(...byCursor);
  const first = await campus.products.list();
  assert.deepEqual([first.items.length, first.hasNext, first.meta.limit], [2, true, 2]);
  const second = await first.next();
  assert.deepEqual([second?.items.length, second?.hasNext, await second?.next()], [1, false, null]);
});

test("an empty list has no page after it", async () => {
  wire.answer(ok([], { page: 1, limit: 20, total: 0, total_pages: 0 }));
  assert.deepEqual(await idsOf(campus.payouts.list()), []);
  assert.equal(wire.received.length, 1);
});

test("an error of a later page is thrown", async () => {
  wire.answer(byCursor[0]!, problem(422, "VALIDATION_FAILED"));
  await assert.rejects(idsOf(campus.products.list()), { code: "VALIDATION_FAILED" });
});

test("a result has its envelope and headers", async () => {
  wire.answer((request, response) => {
    response.setHeader("X-Cache-Lookup", "HIT");
    return ok({ id: "1" })(request, response);
  });
  const { data, meta, status, headers } = await campus.orders.get("o").withResponse();
  assert.deepEqual([data.id, meta.requestId, status, headers.get("X-Cache-Lookup")], ["1", "req_1", 200, "HIT"]);
});

test("a part of a path cannot lead to another path", async () => {
  wire.answer(ok({ id: "1" }));
  await campus.orders.get("../payouts?x=1#y");
  assert.deepEqual(urls(), ["/api/orders/..%2Fpayouts%3Fx%3D1%23y"]);
  for (const id of ["", ".", ".."]) assert.throws(() => campus.orders.get(id), TypeError);
});

test("a text and a file are returned as they are", async () => {
  wire.answer(
    (_, response) => response.end("month,netMinor\n"),
    (_, response) => response.writeHead(200, { "Content-Type": "image/webp" }).end(Buffer.from([1, 2, 3])),
  );
  assert.equal(await campus.wallets.exportMonthlyStatement("2026-11"), "month,netMinor\n");
  const image = await campus.media.getImage("i");
  assert.deepEqual([image.size, image.type], [3, "image/webp"]);
});

test("a response without content is undefined", async () => {
  wire.answer((_, response) => response.writeHead(204).end());
  assert.equal(await campus.devices.delete("d"), undefined);
});

test("any path can be requested", async () => {
  wire.answer((request, response) => {
    assert.equal(request.headers.accept, "text/csv");
    response.end("a,b");
  });
  const response = await campus.request("GET", "/api/sales", {
    query: { groupBy: "day" },
    headers: { Accept: "text/csv" },
  });
  assert.equal(await response.text(), "a,b");
  assert.deepEqual(urls(), ["/api/sales?groupBy=day"]);
});
