import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { ApiError, Campus, InternalError, memoryStore, TransportError, ValidationFailedError } from "campus-client";
import { EventParser, type RawEvent } from "../dist/esm/sse.js";
import { type Handler, latch, ok, problem, silent, startWire, tokens } from "./wire.js";

const wire = await startWire();
const campus = new Campus({ baseUrl: wire.url, tokens: memoryStore(tokens("1")) });

const event = (id: string): string => `event: notification\nid: ${id}\ndata: {"id":"${id}","title":"Zażółć ₦"}\n\n`;
const lastEventIds = (): unknown[] => wire.received.map(({ headers }) => headers["last-event-id"]);

/** A stream that sends a text, and then is ended by `finish`. */
function stream(text: string, finish: (response: ServerResponse) => void = () => {}): Handler {
  return (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(text, () => setImmediate(finish, response));
  };
}

const ended = (response: ServerResponse): void => void response.end();
const broken = (response: ServerResponse): void => void response.destroy();

/** The ids of the first events of a stream, which is left then. */
async function idsOf(
  count: number,
  options: Parameters<typeof campus.notifications.stream>[0] = {},
): Promise<string[]> {
  const ids = [];
  for await (const { id } of campus.notifications.stream(options)) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return ids;
}

test("an event has its name, id and parsed data", async () => {
  wire.answer(stream(`: ping\n\nretry: 0\n\n${event("1")}`));
  for await (const received of campus.notifications.stream()) {
    assert.deepEqual(received, { event: "notification", id: "1", data: { id: "1", title: "Zażółć ₦" } });
    break;
  }
  assert.equal(wire.received[0]?.headers.accept, "text/event-stream");
});

test("a stream that breaks off in the middle of an event continues after the last whole one", async () => {
  wire.answer(stream(`retry: 0\n\n${event("1")}${event("2").slice(0, -1)}`, broken), stream(event("2") + event("3")));
  assert.deepEqual(await idsOf(3), ["1", "2", "3"]);
  assert.deepEqual(lastEventIds(), [undefined, "1"]);
});

test("a stream that the server ends continues after the last event", async () => {
  wire.answer(stream(`retry: 0\n\n${event("1")}`, ended), stream("", ended), stream(event("2")));
  assert.deepEqual(await idsOf(2), ["1", "2"]);
  assert.deepEqual(lastEventIds(), [undefined, "1", "1"]);
});

test("a stream continues an earlier one", async () => {
  wire.answer(stream(event("8")));
  assert.deepEqual(await idsOf(1, { lastEventId: "7" }), ["8"]);
  assert.deepEqual(lastEventIds(), ["7"]);
});

test("an id without data is where the stream continues", async () => {
  wire.answer(stream("id: 5\nretry: 0\n\n", ended), stream(event("6")));
  assert.deepEqual(await idsOf(1), ["6"]);
  assert.deepEqual(lastEventIds(), [undefined, "5"]);
});

test("each connection and each interruption is reported", async () => {
  const reported: string[] = [];
  wire.answer(
    stream(`retry: 0\n\n${event("1")}`, ended),
    stream("", broken),
    problem(503, "INTERNAL_ERROR", { "Retry-After": "0" }),
    stream(event("2")),
  );
  await idsOf(2, {
    onOpen: () => reported.push("open"),
    onInterrupt: (error) => reported.push(error?.name ?? "end"),
  });
  assert.deepEqual(reported, ["open", "end", "open", "TransportError", "InternalError", "open"]);
});

test("more failures than the attempts of a request do not end a stream", async () => {
  const busy = problem(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "0" });
  wire.answer(busy, busy, busy, busy, stream(event("1")));
  assert.deepEqual(await idsOf(1), ["1"]);
});

test("an expired token is refreshed before the stream continues", async () => {
  const client = new Campus({ baseUrl: wire.url, tokens: memoryStore(tokens("1")) });
  wire.answer((request, response) => {
    if (request.url === "/api/auth/refresh") return ok(tokens("2"))(request, response);
    const isFresh = request.headers.authorization === "Bearer access-2";
    return (isFresh ? stream(event("1")) : problem(401, "AUTH_TOKEN_EXPIRED"))(request, response);
  });
  for await (const { id } of client.notifications.stream()) {
    assert.equal(id, "1");
    break;
  }
  assert.equal(wire.received.length, 3);
});

test("a rejected stream throws", async () => {
  wire.answer(problem(422, "VALIDATION_FAILED"));
  await assert.rejects(idsOf(1, { lastEventId: "unknown" }), ValidationFailedError);
  assert.equal(wire.received.length, 1);
});

test("a silent connection is replaced", async () => {
  wire.answer(stream(event("1")), stream(event("2")));
  assert.deepEqual(await idsOf(2, { idleTimeoutMs: 40 }), ["1", "2"]);
  assert.deepEqual(lastEventIds(), [undefined, "1"]);
});

test("leaving the loop closes the connection", async () => {
  const { reached: closed, reach } = latch();
  wire.answer((request, response) => {
    response.once("close", reach);
    return stream(event("1"))(request, response);
  });
  await idsOf(1);
  await closed;
});

test("an abort closes the connection and throws its reason", async () => {
  const controller = new AbortController();
  const reason = new Error("the page was left");
  const { reached: closed, reach } = latch();
  wire.answer((request, response) => {
    response.once("close", reach);
    return stream(event("1"))(request, response);
  });
  const reading = (async () => {
    for await (const { id } of campus.notifications.stream({ signal: controller.signal })) {
      assert.equal(id, "1");
      setImmediate(() => controller.abort(reason));
    }
  })();
  await assert.rejects(reading, reason);
  await closed;
});

test("an abort before the response throws its reason", async () => {
  const controller = new AbortController();
  wire.answer((...received) => {
    controller.abort(new Error("the page was left"));
    return silent(...received);
  });
  await assert.rejects(idsOf(1, { signal: controller.signal }), /the page was left/);
});

test("a reply of the assistant arrives in pieces", async () => {
  wire.answer(
    stream(
      'event: token\ndata: {"text":"On "}\n\n: ping\n\nevent: token\ndata: {"text":"its way."}\n\nevent: done\ndata: {"conversationId":"c","provider":"built-in"}\n\n',
      ended,
    ),
  );
  let text = "";
  for await (const received of campus.assistant.stream({ message: "Where is my order?" })) {
    if (received.event === "token") text += received.data.text;
    else assert.equal(received.data.conversationId, "c");
  }
  assert.equal(text, "On its way.");
  assert.deepEqual(JSON.parse(String(wire.received[0]?.body)), { message: "Where is my order?" });
});

test("an error within a reply is thrown", async () => {
  wire.answer(
    stream(
      'event: error\ndata: {"status":503,"code":"INTERNAL_ERROR","title":"t","detail":"The model is unavailable."}\n\n',
      ended,
    ),
  );
  const reading = (async () => {
    for await (const received of campus.assistant.stream({ message: "?" })) assert.fail(received.event);
  })();
  await assert.rejects(reading, (error) => error instanceof InternalError && error.status === 503);
});

test("a reply that breaks off is never asked for again", async () => {
  wire.answer(stream('event: token\ndata: {"text":"On "}\n\n', broken));
  const reading = (async () => {
    for await (const received of campus.assistant.stream({ message: "?" })) assert.equal(received.event, "token");
  })();
  await assert.rejects(reading, (error) => error instanceof TransportError && !(error instanceof ApiError));
  assert.equal(wire.received.length, 1);
});

test("a parser returns the same events wherever a chunk ends", () => {
  const text =
    ':c\r\nevent: a\r\nid: 1\r\ndata: ₦ one\r\ndata:  two\r\n\r\ndata\n\nevent: b\rdata: {"x": "é"}\r\rid: bad\0\nretry: 7x\n\nretry: 250\nfoo: bar\n\n';
  const expected: RawEvent[] = [
    { event: "a", data: "₦ one\n two", id: "1", retryMs: undefined },
    { event: "message", data: "", id: "1", retryMs: undefined },
    { event: "b", data: '{"x": "é"}', id: "1", retryMs: undefined },
    { event: "message", data: "", id: "1", retryMs: 250 },
  ];
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at <= bytes.length; at++) {
    const parser = new EventParser();
    assert.deepEqual(
      [...parser.push(bytes.slice(0, at)), ...parser.push(bytes.slice(at))],
      expected,
      `split at ${String(at)}`,
    );
  }
  const parser = new EventParser();
  assert.deepEqual(
    [...bytes].flatMap((byte) => parser.push(Uint8Array.of(byte))),
    expected,
  );
});

test("an endless event is refused", () => {
  const parser = new EventParser();
  const chunk = new TextEncoder().encode("data: " + "x".repeat(300_000) + "\n");
  assert.throws(() => {
    for (let index = 0; index < 5; index++) parser.push(chunk);
  }, TransportError);
});
