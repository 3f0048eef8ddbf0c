import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { verifyWebhook, WebhookVerificationError, type WebhookRequest } from "campus-client/webhooks";

const secret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
const other = `whsec_${Buffer.from("another secret of 32 characters.").toString("base64")}`;
const id = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47";
const body =
  '{"type":"orders.order_delivered.v1","timestamp":"2026-01-31T12:00:00.000Z","data":{"orderId":"o","note":"₦"}}';
const now = new Date("2026-01-31T12:00:05.000Z");
const sentAt = 1_769_860_805;

function signatureOf(key: string, signed = body, at = sentAt, of = id): string {
  const bytes = Buffer.from(key.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", bytes)
    .update(`${of}.${String(at)}.${signed}`)
    .digest("base64")}`;
}

function request(changed: Partial<WebhookRequest> = {}, headers: Record<string, string> = {}): WebhookRequest {
  const usual = { "webhook-id": id, "webhook-timestamp": String(sentAt), "webhook-signature": signatureOf(secret) };
  return { body, headers: { ...usual, ...headers }, secrets: [secret], now, ...changed };
}

const refused = (one: WebhookRequest): Promise<void> => assert.rejects(verifyWebhook(one), WebhookVerificationError);

test("a signed webhook is an event", async () => {
  assert.deepEqual(await verifyWebhook(request()), { id, ...(JSON.parse(body) as object) });
});

test("the example of Standard Webhooks is accepted", async () => {
  // From the reference implementations of the specification; its body is no event of ours.
  const example = {
    body: '{"test": 2432232314}',
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    now: new Date(1_614_265_330_000),
  };
  await assert.rejects(verifyWebhook(example), /needs type, timestamp and data/);
  await assert.rejects(verifyWebhook({ ...example, body: '{"test": 2432232315}' }), /No signature/);
});

test("the raw body may be bytes", async () => {
  const bytes = new TextEncoder().encode(body);
  assert.equal((await verifyWebhook(request({ body: bytes }))).id, id);
  assert.equal((await verifyWebhook(request({ body: bytes.buffer }))).id, id);
  assert.equal((await verifyWebhook(request({ body: Buffer.from(body) }))).id, id);
});

test("the headers of fetch are read", async () => {
  const headers = new Headers(request().headers as Record<string, string>);
  assert.equal((await verifyWebhook(request({ headers }))).id, id);
});

test("a changed body, id or time is refused", async () => {
  await refused(request({ body: body.replace('"o"', '"p"') }));
  await refused(request({}, { "webhook-id": "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f48" }));
  await refused(request({}, { "webhook-timestamp": String(sentAt + 1) }));
});

test("a webhook by another secret is refused", async () => {
  await refused(request({ secrets: [other] }));
});

test("either secret of a rotation is accepted, on either side", async () => {
  const both = `${signatureOf(other)} ${signatureOf(secret)}`;
  assert.equal((await verifyWebhook(request({ secrets: [other, secret] }))).id, id);
  assert.equal((await verifyWebhook(request({}, { "webhook-signature": both }))).id, id);
});

test("an old webhook is refused, however it is signed", async () => {
  for (const at of [sentAt - 306, sentAt + 306]) {
    await refused(request({}, { "webhook-timestamp": String(at), "webhook-signature": signatureOf(secret, body, at) }));
  }
  const at = sentAt - 306;
  const old = request(
    { toleranceSeconds: 600 },
    { "webhook-timestamp": String(at), "webhook-signature": signatureOf(secret, body, at) },
  );
  assert.equal((await verifyWebhook(old)).id, id);
});

test("a signature of another version or form is refused", async () => {
  const valid = signatureOf(secret).slice("v1,".length);
  for (const signature of [`v1a,${valid}`, `v2,${valid}`, valid, "v1,", "v1,*", `v1,${valid.slice(4)}`, "v1"]) {
    await refused(request({}, { "webhook-signature": signature }));
  }
});

test("a missing header is named", async () => {
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    await assert.rejects(verifyWebhook(request({}, { [name]: "" })), new RegExp(`header ${name} is missing`));
  }
});

test("a time that is no number is refused", async () => {
  for (const at of ["NaN", "1e9", "-1", "", `${String(sentAt)} `])
    await refused(request({}, { "webhook-timestamp": at }));
});

test("a signed text that is no event is refused", async () => {
  for (const text of ["", "null", "[]", '{"type": 1}', "{"]) {
    await refused(request({ body: text }, { "webhook-signature": signatureOf(secret, text) }));
  }
});

test("no secret is an error of the caller, not of the webhook", async () => {
  await assert.rejects(verifyWebhook(request({ secrets: [] })), TypeError);
  await assert.rejects(verifyWebhook(request({ secrets: ["secret"] })), TypeError);
});
