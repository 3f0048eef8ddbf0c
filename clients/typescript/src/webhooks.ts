import { WebhookVerificationError } from "./errors.js";
import type { CreateWebhookEndpointRequest } from "./generated/schemas.js";

export { WebhookVerificationError } from "./errors.js";

/** The types of events that an endpoint can subscribe to. */
export type WebhookEventType = CreateWebhookEndpointRequest["eventTypes"][number];

/** A verified event. The same `id` may arrive more than once. */
export interface WebhookEvent {
  id: string;
  type: WebhookEventType;
  /** The time of the event, ISO 8601. */
  timestamp: string;
  data: Readonly<Record<string, unknown>>;
}

/** A received webhook and what it is verified with. */
export interface WebhookRequest {
  /** The raw body: a parsed and serialized one has another signature. */
  body: string | ArrayBuffer | Uint8Array;
  /** The headers, of `fetch` or of Node. */
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  /** The endpoint's secrets, `whsec_...`: the present one, and during a rotation the former one. */
  secrets: readonly string[];
  /** The seconds by which the time of sending may differ from `now`; 300 by default. */
  toleranceSeconds?: number | undefined;
  /** The present time; the clock's by default. */
  now?: Date | undefined;
}

const TOLERANCE_SECONDS = 300;
// Two secrets sign during a rotation. Each signature costs a hash of the body.
const SIGNATURES_MAX = 8;
const PREFIX = "whsec_";

/**
 * The event of a webhook, after its signature and time have been checked (Standard Webhooks).
 *
 * Throws WebhookVerificationError. Respond with 400 then, and process nothing.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const { headers, secrets, toleranceSeconds = TOLERANCE_SECONDS, now = new Date() } = request;
  if (secrets.length === 0) throw new TypeError("verifyWebhook needs a secret.");
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  if (!/^\d{1,15}$/.test(timestamp)) throw new WebhookVerificationError("webhook-timestamp is no Unix time.");
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError("webhook-timestamp is too far from the present time.");
  }
  const body = typeof request.body === "string" ? new TextEncoder().encode(request.body) : new Uint8Array(request.body);
  if (!(await isSigned(id, timestamp, body, signatures, secrets))) {
    throw new WebhookVerificationError("No signature of the webhook is by one of the secrets.");
  }
  return { id, ...eventOf(body) };
}

async function isSigned(
  id: string,
  timestamp: string,
  body: Uint8Array,
  signatures: string,
  secrets: readonly string[],
): Promise<boolean> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  const offered = signatures
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .slice(0, SIGNATURES_MAX);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey("raw", keyOf(secret), hmac, false, ["verify"]);
    for (const signature of offered) {
      const bytes = bytesOf(signature.slice("v1,".length));
      // WebCrypto compares in constant time.
      if (bytes !== undefined && (await crypto.subtle.verify("HMAC", key, bytes, signed))) return true;
    }
  }
  return false;
}

function eventOf(body: Uint8Array): Omit<WebhookEvent, "id"> {
  try {
    const { type, timestamp, data } = JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
    if (typeof type === "string" && typeof timestamp === "string" && typeof data === "object") {
      return { type, timestamp, data };
    }
  } catch (cause) {
    throw new WebhookVerificationError("The body is not JSON.", { cause });
  }
  throw new WebhookVerificationError("The body is no event: it needs type, timestamp and data.");
}

function headerOf(headers: WebhookRequest["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : valueOf(headers, name);
  if (typeof value !== "string" || value === "") throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

function valueOf(headers: Readonly<Record<string, string | string[] | undefined>>, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : undefined;
  if (key === undefined || key.length === 0) throw new TypeError("A webhook secret is whsec_ and base64.");
  return key;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
