import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AuthUnauthorizedError,
  Campus,
  InternalError,
  memoryStore,
  type SessionTokens,
  type TokenStore,
} from "campus-client";
import { type Handler, latch, lost, ok, problem, startWire, tokens } from "./wire.js";

const wire = await startWire();

/** A gateway that accepts one access token and one refresh token. */
function session(accepted: string, refresh: Handler = ok(tokens("2"))): Handler {
  return (request, response) => {
    if (request.url === "/api/auth/refresh") return refresh(request, response);
    const isAccepted = request.headers.authorization === `Bearer access-${accepted}`;
    return (isAccepted ? ok({ id: "1" }) : problem(401, "AUTH_TOKEN_EXPIRED"))(request, response);
  };
}

const refreshes = (): unknown[] =>
  wire.received.filter(({ url }) => url === "/api/auth/refresh").map(({ body }) => JSON.parse(String(body)) as unknown);

function clientOf(store: TokenStore = memoryStore(tokens("1"))): { campus: Campus; store: TokenStore } {
  return { campus: new Campus({ baseUrl: wire.url, tokens: store }), store };
}

test("of fifty calls with an expired token one refreshes and all succeed", async () => {
  const { campus, store } = clientOf();
  wire.answer(session("2"));
  const orders = await Promise.all(Array.from({ length: 50 }, (_, index) => campus.orders.get(String(index))));
  assert.equal(orders.length, 50);
  assert.deepEqual(refreshes(), [{ refreshToken: "refresh-1" }]);
  assert.deepEqual(await store.get(), tokens("2"));
});

test("a call that failed with the former token after the refresh does not refresh again", async () => {
  const { campus } = clientOf();
  const refreshed = latch();
  wire.answer(async (request, response) => {
    if (request.url === "/api/orders/slow" && request.headers.authorization === "Bearer access-1")
      await refreshed.reached;
    await session("2")(request, response);
  });
  const slow = campus.orders.get("slow");
  await campus.orders.get("quick");
  refreshed.reach();
  await slow;
  assert.equal(refreshes().length, 1);
});

test("tokens that another tab has refreshed are used", async () => {
  const { campus, store } = clientOf();
  wire.answer(async (request, response) => {
    if (request.headers.authorization === "Bearer access-1") await store.set(tokens("2"));
    await session("2")(request, response);
  });
  assert.equal((await campus.orders.get("o")).id, "1");
  assert.deepEqual(refreshes(), []);
});

test("of two tabs that refresh exclusively one refreshes and both succeed", async () => {
  const store = memoryStore(tokens("1"));
  let turn: Promise<unknown> = Promise.resolve();
  const exclusively = <T>(refresh: () => Promise<T>): Promise<T> => {
    const result = turn.then(refresh);
    turn = result;
    return result;
  };
  const bothRefused = latch();
  let refused = 0;
  wire.answer(async (request, response) => {
    if (request.headers.authorization === "Bearer access-1") {
      if (++refused === 2) bothRefused.reach();
      await bothRefused.reached;
    }
    await session("2")(request, response);
  });
  const tabs = [1, 2].map(() => new Campus({ baseUrl: wire.url, tokens: store, exclusively }));
  assert.equal((await Promise.all(tabs.map((campus) => campus.orders.get("o")))).length, 2);
  assert.deepEqual(refreshes(), [{ refreshToken: "refresh-1" }]);
  assert.deepEqual(await store.get(), tokens("2"));
});

test("the end of the session in another tab is the end of this one", async () => {
  const { campus, store } = clientOf();
  wire.answer(async (request, response) => {
    await store.set(null);
    await session("2")(request, response);
  });
  await assert.rejects(campus.orders.get("o"), { status: 401 });
  assert.deepEqual(refreshes(), []);
});

test("a refused refresh ends the session for every waiting call", async () => {
  const { campus, store } = clientOf();
  wire.answer(session("2", problem(401, "AUTH_UNAUTHORIZED")));
  const results = await Promise.allSettled([campus.orders.get("a"), campus.orders.get("b")]);
  for (const result of results)
    assert.ok(result.status === "rejected" && result.reason instanceof AuthUnauthorizedError);
  assert.equal(refreshes().length, 1);
  assert.equal(await store.get(), null);
});

test("a refused refresh does not remove the tokens of a sign-in that happened meanwhile", async () => {
  const { campus, store } = clientOf();
  wire.answer(
    session("2", async (request, response) => {
      await store.set(tokens("3"));
      await problem(401, "AUTH_UNAUTHORIZED")(request, response);
    }),
  );
  await assert.rejects(campus.orders.get("o"));
  assert.deepEqual(await store.get(), tokens("3"));
});

test("a refresh does not replace the tokens of a sign-in that happened meanwhile", async () => {
  const { campus, store } = clientOf();
  wire.answer(
    session("2", async (request, response) => {
      await store.set(tokens("3"));
      await ok(tokens("2"))(request, response);
    }),
  );
  await campus.orders.get("o");
  assert.deepEqual(await store.get(), tokens("3"));
});

test("a request of one user is never repeated for another who has signed in meanwhile", async () => {
  const pairOf = (sub: string): SessionTokens => ({
    accessToken: `h.${Buffer.from(JSON.stringify({ sub })).toString("base64url")}.s`,
    refreshToken: sub,
  });
  const { campus, store } = clientOf(memoryStore(pairOf("tobi")));
  wire.answer(async (request, response) => {
    await store.set(pairOf("ada"));
    await problem(401, "AUTH_TOKEN_EXPIRED")(request, response);
  });
  await assert.rejects(campus.orders.checkout({ items: [] }), { status: 401 });
  assert.equal(wire.received.length, 1);
});

test("a visitor whose session has ended still reads the catalog", async () => {
  const { campus, store } = clientOf();
  wire.answer((request, response) => {
    const isVisitor = request.headers.authorization === undefined && request.method === "GET";
    return (isVisitor ? ok([], { next_cursor: null }) : problem(401, "AUTH_UNAUTHORIZED"))(request, response);
  });
  assert.deepEqual((await campus.products.list()).items, []);
  assert.equal(await store.get(), null);
});

test("a refresh whose response was lost is repeated", async () => {
  const { campus } = clientOf();
  let attempts = 0;
  wire.answer(session("2", (request, response) => (attempts++ === 0 ? lost : ok(tokens("2")))(request, response)));
  assert.equal((await campus.orders.get("o")).id, "1");
  assert.deepEqual(refreshes(), [{ refreshToken: "refresh-1" }, { refreshToken: "refresh-1" }]);
});

test("an unavailable server does not end the session", async () => {
  const { campus, store } = clientOf();
  wire.answer(session("2", problem(503, "INTERNAL_ERROR", { "Retry-After": "60" })));
  await assert.rejects(campus.orders.get("o"), InternalError);
  assert.deepEqual(await store.get(), tokens("1"));
  wire.answer(session("2"));
  assert.equal((await campus.orders.get("o")).id, "1");
});

test("a token that is refused after its refresh is not refreshed again", async () => {
  const { campus } = clientOf();
  wire.answer(session("never"));
  await assert.rejects(campus.orders.get("o"), { status: 401 });
  assert.equal(refreshes().length, 1);
});

test("an asynchronous store is awaited", async () => {
  let kept: SessionTokens | null = tokens("1");
  const { campus } = clientOf({
    get: () => new Promise((resolve) => setImmediate(() => resolve(kept))),
    set: (next) =>
      new Promise((resolve) =>
        setImmediate(() => {
          kept = next;
          resolve();
        }),
      ),
  });
  wire.answer(session("2"));
  await Promise.all([campus.orders.get("a"), campus.orders.get("b"), campus.orders.get("c")]);
  assert.equal(refreshes().length, 1);
  assert.deepEqual(kept, tokens("2"));
});

test("a sign-in stores both tokens and nothing else", async () => {
  const { campus, store } = clientOf(memoryStore());
  wire.answer(ok({ ...tokens("1"), tokenType: "Bearer", expiresIn: 900, aal: "aal1", mfaRequired: true }));
  assert.equal((await campus.signIn("a@unilag.edu.ng", "secret")).mfaRequired, true);
  assert.deepEqual(await store.get(), tokens("1"));
  assert.equal(wire.received[0]?.headers.authorization, undefined);
});

test("a step-up replaces the tokens", async () => {
  const { campus, store } = clientOf();
  wire.answer(ok({ ...tokens("2"), aal: "aal2" }));
  assert.equal((await campus.stepUp("123456")).aal, "aal2");
  assert.deepEqual(JSON.parse(String(wire.received[0]?.body)), { code: "123456" });
  assert.deepEqual(await store.get(), tokens("2"));
});

test("a wrong password is no reason to refresh", async () => {
  const { campus, store } = clientOf();
  wire.answer(problem(401, "AUTH_UNAUTHORIZED"));
  await assert.rejects(campus.signIn("a@unilag.edu.ng", "wrong"), AuthUnauthorizedError);
  assert.equal(wire.received.length, 1);
  assert.deepEqual(await store.get(), tokens("1"));
});

test("a sign-out removes the tokens when the server is not reached", async () => {
  const { campus, store } = clientOf();
  wire.answer(lost);
  await assert.rejects(campus.signOut());
  assert.equal(await store.get(), null);
});

test("a sign-out of a session that has ended succeeds", async () => {
  const { campus, store } = clientOf();
  wire.answer(problem(401, "AUTH_UNAUTHORIZED"));
  await campus.signOut();
  assert.equal(await store.get(), null);
});

test("an API key is sent with each request and is never refreshed", async () => {
  const store = memoryStore(tokens("1"));
  const campus = new Campus({ baseUrl: wire.url, tokens: store, apiKey: "cm_live_key" });
  wire.answer((request, response) => {
    const isAccepted = request.url === "/api/orders/1" && request.headers.authorization === "Bearer cm_live_key";
    return (isAccepted ? ok({ id: "1" }) : problem(401, "AUTH_UNAUTHORIZED"))(request, response);
  });
  assert.equal((await campus.orders.get("1")).id, "1");
  await assert.rejects(campus.orders.get("2"), AuthUnauthorizedError);
  assert.deepEqual(refreshes(), []);
  assert.deepEqual(await store.get(), tokens("1"));
});
