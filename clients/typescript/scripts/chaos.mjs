// A buyer at the TypeScript client, in a process of its own, as load of `make client-chaos`. Build the client before.
//
// A user presses a button until there is a response, sometimes in two tabs at once, always with the key of the form. The
// history has each of these calls with the form's key, above the client's own retries; `lab.histories` reads it.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, Campus, newIdempotencyKey } from "../dist/esm/index.js";

const PRESSES_MAX = 60;
const PAUSE_MS = 500;
const [TABS_RATE, CANCEL_RATE] = [0.3, 0.25];
const RECORDED = /^\/api\/(orders|payouts|wallets)/;
const FIELDS = ["id", "status", "event", "amountMinor"];

const settings = JSON.parse(process.argv[2]);
const { API_URL: baseUrl, SANDBOX_URL: sandboxUrl } = process.env;

const sent = new Set();
/** The planted fault: a repeated request gets a new key. */
function fetchWithNewKeys(url, init) {
  const headers = new Headers(init.headers);
  const key = headers.get("Idempotency-Key");
  if (key && sent.has(key)) headers.set("Idempotency-Key", newIdempotencyKey());
  else if (key) sent.add(key);
  return fetch(url, { ...init, headers });
}

// The tabs of a browser share the session.
let tokens = null;
const store = { get: () => tokens, set: (next) => void (tokens = next) };
const tabs = [1, 2].map(
  () => new Campus({ baseUrl, tokens: store, fetch: settings.plant ? fetchWithNewKeys : undefined }),
);

const userOf = () => JSON.parse(Buffer.from(tokens.accessToken.split(".")[1], "base64url").toString()).sub;
const picked = (data) =>
  Array.isArray(data)
    ? data.map(picked)
    : Object.fromEntries(FIELDS.filter((name) => name in data).map((name) => [name, data[name]]));

let calls = 0;
function write(type, index, fields) {
  const line = { type, process: settings.name, time: Date.now() / 1000, index, ...fields };
  appendFileSync(settings.history, `${JSON.stringify(line)}\n`);
}

/** Calls the API once by the client of a tab. `isDecided`: there was a response, and another attempt is in vain. */
async function call(tab, method, path, { body, key, query = {} } = {}) {
  const index = RECORDED.test(path) ? calls++ : null;
  const record = (type, fields) => index !== null && write(type, index, fields);
  record("invoke", { method, path, query: Object.keys(query).sort(), key: key ?? null, user: userOf() });
  try {
    const response = await tab.request(method, path, { body, query, idempotencyKey: key });
    const { data } = await response.json();
    record("ok", { status: response.status, value: picked(data) });
    return { isDecided: true, data };
  } catch (error) {
    const status = error instanceof ApiError ? error.status : undefined;
    const mayRun = status === undefined || status >= 500 || status === 408;
    const isUnknown = mayRun || (status === 409 && error.headers.has("Retry-After"));
    record(isUnknown ? "info" : "fail", { status, value: isUnknown ? error.name : null });
    return { isDecided: !mayRun && !error.headers.has("Retry-After") };
  }
}

/** Posts a form until there is a response; returns its data, undefined for a rejection. */
async function press(path, body) {
  const key = newIdempotencyKey();
  for (let presses = 0; presses < PRESSES_MAX; presses++) {
    const pressed = Math.random() < TABS_RATE ? tabs : tabs.slice(0, 1);
    const results = await Promise.all(pressed.map((tab) => call(tab, "POST", path, { body, key })));
    const decided = results.find(({ data }) => data) ?? results.find(({ isDecided }) => isDecided);
    if (decided) return decided.data;
    await sleep(PAUSE_MS);
  }
  return undefined;
}

const read = (path, query) => call(tabs[0], "GET", path, { query });

async function pay(orderId) {
  for (let presses = 0; presses < PRESSES_MAX; presses++) {
    // 404 until payments has received the order.
    const intent = await press("/api/payments/intent", { orderId });
    if (intent) {
      const body = new URLSearchParams({ action: "pay" });
      await fetch(`${sandboxUrl}/pay/${intent.accessCode}`, {
        method: "POST",
        headers: { Accept: "application/json" },
        body,
      });
      return;
    }
    await sleep(PAUSE_MS);
  }
}

/** Checks out and pays, or cancels, and looks at the order. */
async function buy() {
  const order = await press("/api/orders/checkout", { items: [{ productId: settings.productId, quantity: 1 }] });
  if (!order) return;
  const path = `/api/orders/${order.id}`;
  await read(path);
  if (Math.random() < CANCEL_RATE) await press(`${path}/cancel`, { reason: "Ordered twice." });
  else await pay(order.id);
  await read(`${path}/timeline`);
  await read("/api/orders", { as: "buyer", limit: 20 });
}

while (tokens === null) {
  await tabs[0].signIn(settings.email, settings.password).catch(() => sleep(PAUSE_MS));
}
for (let round = 0; round < settings.rounds; round++) await buy();
