import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ApiError,
  Campus,
  ConcurrencyConflictError,
  InternalError,
  RateLimitExceededError,
  TimeoutError,
  TransportError,
} from "campus-client";
import { retryDelayMs } from "../dist/esm/retries.js";
import { lost, ok, problem, silent, startWire } from "./wire.js";

const wire = await startWire();
const campus = new Campus({ baseUrl: `${wire.url}/` });
const items = [{ productId: "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47", quantity: 1 }];
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const keys = (): (string | string[] | undefined)[] => wire.received.map(({ headers }) => headers["idempotency-key"]);
const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("nothing was thrown"),
    (error: unknown) => error,
  );

test("a request over its quota is repeated under the same key", async () => {
  wire.answer(problem(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "0" }), ok({ id: "1" }));
  assert.equal((await campus.orders.checkout({ items })).id, "1");
  const [first, second] = keys();
  assert.match(String(first), UUID_V4);
  assert.equal(second, first);
  assert.deepEqual(JSON.parse(String(wire.received[1]?.body)), { items });
});

test("a request without a key is repeated after a 429", async () => {
  wire.answer(problem(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "0" }), ok({ sent: true }));
  await campus.auth.requestCode({ email: "a@unilag.edu.ng" });
  assert.deepEqual(keys(), [undefined, undefined]);
});

test("a long Retry-After is thrown and not waited for", async () => {
  wire.answer(problem(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "900" }));
  const error = await thrownBy(campus.orders.list());
  assert.ok(error instanceof RateLimitExceededError);
  assert.equal(error.retryAfterSeconds, 900);
  assert.equal(wire.received.length, 1);
});

test("a Retry-After that is a date is read", async () => {
  wire.answer(problem(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": new Date(Date.now() + 3_600_000).toUTCString() }));
  const error = await thrownBy(campus.orders.list());
  assert.ok(error instanceof RateLimitExceededError && (error.retryAfterSeconds ?? 0) > 3_000);
});

for (const status of [502, 503, 504]) {
  test(`a ${String(status)} is repeated for a GET`, async () => {
    wire.answer(problem(status, "INTERNAL_ERROR", { "Retry-After": "0" }), ok([], { next_cursor: null }));
    assert.deepEqual((await campus.products.list()).items, []);
    assert.equal(wire.received.length, 2);
  });
}

test("a 503 is repeated under the same key until the attempts are used", async () => {
  wire.answer(problem(503, "INTERNAL_ERROR", { "Retry-After": "0" }));
  const error = await thrownBy(campus.orders.checkout({ items }));
  assert.ok(error instanceof InternalError);
  assert.equal(wire.received.length, 3);
  assert.deepEqual(new Set(keys()), new Set([error.idempotencyKey]));
});

test("a 500 is not repeated", async () => {
  wire.answer(problem(500, "INTERNAL_ERROR"));
  await thrownBy(campus.orders.checkout({ items }));
  assert.equal(wire.received.length, 1);
});

test("a POST without a key is not repeated after a 503", async () => {
  wire.answer(problem(503, "INTERNAL_ERROR", { "Retry-After": "0" }));
  await thrownBy(campus.auth.requestCode({ email: "a@unilag.edu.ng" }));
  assert.equal(wire.received.length, 1);
});

test("a lost response is repeated under the same key", async () => {
  wire.answer(lost, ok({ id: "1" }));
  await campus.orders.checkout({ items });
  assert.equal(new Set(keys()).size, 1);
  assert.equal(wire.received.length, 2);
});

test("a first attempt in progress is waited for", async () => {
  wire.answer(lost, problem(409, "CONCURRENCY_CONFLICT", { "Retry-After": "0" }), ok({ id: "1" }));
  assert.equal((await campus.orders.checkout({ items })).id, "1");
  assert.equal(new Set(keys()).size, 1);
});

test("a conflict with the present state is thrown at once", async () => {
  wire.answer(problem(409, "CONCURRENCY_CONFLICT", {}, { totalMinor: 450_000 }));
  const error = await thrownBy(campus.orders.checkout({ items }));
  assert.ok(error instanceof ConcurrencyConflictError);
  assert.equal(error.problem.totalMinor, 450_000);
  assert.equal(wire.received.length, 1);
});

test("a lost response of a POST without a key is a TransportError", async () => {
  wire.answer(lost);
  const error = await thrownBy(campus.orders.reissueDeliveryPin("o"));
  assert.ok(error instanceof TransportError && !(error instanceof TimeoutError));
  assert.equal(wire.received.length, 1);
});

test("a body that breaks off is repeated", async () => {
  wire.answer(
    (_, response) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
      response.write('{"success": true, "da');
      setImmediate(() => response.destroy());
    },
    ok({ id: "1" }),
  );
  assert.equal((await campus.orders.get("o")).id, "1");
});

test("each call has a key of its own", async () => {
  wire.answer(ok({ id: "1" }));
  await campus.orders.checkout({ items });
  await campus.orders.checkout({ items });
  assert.equal(new Set(keys()).size, 2);
});

test("a given key is sent", async () => {
  wire.answer(ok({ id: "1" }));
  const idempotencyKey = "7d3c2b1a-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
  await campus.orders.checkout({ items }, { idempotencyKey });
  assert.deepEqual(keys(), [idempotencyKey]);
});

test("the error of a lost response has the key for a repetition", async () => {
  wire.answer(lost);
  const error = await thrownBy(campus.orders.checkout({ items }, { retries: 0 }));
  assert.ok(error instanceof TransportError);
  assert.deepEqual(keys(), [error.idempotencyKey]);
});

test("a change of a revision is not repeated, since its second attempt would be a conflict", async () => {
  wire.answer(lost);
  await thrownBy(campus.profiles.updateCurrent({ fullName: "Tobi" }, { ifMatch: 3 }));
  await thrownBy(campus.products.delete("p", { ifMatch: 3 }));
  assert.deepEqual(
    wire.received.map(({ method, headers }) => [method, headers["if-match"]]),
    [
      ["PATCH", '"3"'],
      ["DELETE", '"3"'],
    ],
  );
});

test("a PUT without a revision is repeated", async () => {
  wire.answer(lost, ok({ items: [] }));
  await campus.carts.setItem("p", { quantity: 2 });
  assert.equal(wire.received.length, 2);
});

test("a response that does not arrive in time is a TimeoutError", async () => {
  wire.answer(silent);
  const error = await thrownBy(campus.orders.get("o", { timeoutMs: 30, retries: 0 }));
  assert.ok(error instanceof TimeoutError && error instanceof TransportError);
});

test("a body that does not arrive in time is a TimeoutError", async () => {
  wire.answer((_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.write("{");
  });
  assert.ok((await thrownBy(campus.orders.get("o", { timeoutMs: 50, retries: 0 }))) instanceof TimeoutError);
});

test("an aborted request throws the signal's reason", async () => {
  const controller = new AbortController();
  const reason = new Error("the page was left");
  wire.answer(() => {
    controller.abort(reason);
  });
  assert.equal(await thrownBy(campus.orders.get("o", { signal: controller.signal })), reason);
  assert.equal(await thrownBy(campus.orders.get("o", { signal: controller.signal })), reason);
  assert.equal(wire.received.length, 1);
});

test("an abort ends the wait before the next attempt", async () => {
  const controller = new AbortController();
  const reason = new Error("the page was left");
  wire.answer((request, response) => {
    void problem(503, "INTERNAL_ERROR", { "Retry-After": "15" })(request, response);
    response.once("close", () => setImmediate(() => controller.abort(reason)));
  });
  assert.equal(await thrownBy(campus.orders.get("o", { signal: controller.signal })), reason);
});

test("a response that is no problem document is an ApiError", async () => {
  wire.answer((_, response) => {
    response.writeHead(400, { "Content-Type": "text/html" });
    response.end("<h1>Bad gateway</h1>");
  });
  const error = await thrownBy(campus.orders.get("o"));
  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.code, error.detail], [400, "", "<h1>Bad gateway</h1>"]);
});

test("a success that is not JSON is a TransportError", async () => {
  wire.answer((_, response) => response.end("<h1>Welcome to the hotel</h1>"));
  assert.ok((await thrownBy(campus.orders.get("o"))) instanceof TransportError);
});

test("a rejected result is reported once, however it is read", async () => {
  wire.answer(problem(404, "RESOURCE_NOT_FOUND"));
  const result = campus.orders.get("o");
  await assert.rejects(result.withResponse(), ApiError);
  await assert.rejects(Promise.all([result]), ApiError);
});

test("the delay is never less than Retry-After, and differs between clients", () => {
  for (const random of [0, 0.5, 0.999]) assert.ok(retryDelayMs(1, 5, random) >= 5_000);
  assert.notEqual(retryDelayMs(1, 5, 0.1), retryDelayMs(1, 5, 0.9));
  assert.deepEqual(
    [retryDelayMs(1, undefined, 0), retryDelayMs(2, undefined, 0), retryDelayMs(9, undefined, 1)],
    [150, 300, 8_000],
  );
});
