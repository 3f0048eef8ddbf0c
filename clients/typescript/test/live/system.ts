// The running system of `make run`: its addresses, the demo accounts and the sandbox.
import { readFileSync } from "node:fs";
import { createHmac } from "node:crypto";
import { type Campus, ValidationFailedError } from "campus-client";
import { until } from "./story.js";

const stateDir = process.env["STATE_DIR"] ?? "../../.state";
const portBase = Number(process.env["PORT_BASE"] ?? 8080);
export const baseUrl = process.env["BASE_URL"] ?? `http://127.0.0.1:${String(portBase)}`;
const sandboxUrl = process.env["SANDBOX_URL"] ?? `http://127.0.0.1:${String(portBase + 90)}`;

export const secrets = Object.fromEntries(
  readFileSync(`${stateDir}/secrets.env`, "utf8")
    .split("\n")
    .filter((line) => line.includes("="))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1).replace(/^["']|["']$/g, "")]),
);

interface Message {
  text: string;
}

/** The code of the last mail to an address. */
export function codeFor(email: string): Promise<string> {
  return until(async () => {
    const response = await fetch(
      `${sandboxUrl}/control/messages?${new URLSearchParams({ to: email, channel: "email" }).toString()}`,
    );
    const received = (await response.json()) as Message[] | { data: Message[] };
    const messages = Array.isArray(received) ? received : received.data;
    return messages.map(({ text }) => /(?<!\d)\d{6}(?!\d)/.exec(text)?.[0]).find((code) => code !== undefined);
  });
}

/** Pays on the page of the payment gateway. */
export async function pay(accessCode: string): Promise<void> {
  const response = await fetch(`${sandboxUrl}/pay/${accessCode}`, {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams({ action: "pay" }),
  });
  if (!response.ok) throw new Error(`The sandbox refused the payment: ${String(response.status)}`);
}

/** The codes of an authenticator (RFC 6238) that are valid now: a used one is refused, its neighbours are not. */
function oneTimeCodes(secret: string): string[] {
  const bits = [...secret].map((character) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(character).toString(2).padStart(5, "0"),
  );
  const key = Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  return [0, 1, -1].map((drift) => {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + drift));
    const digest = createHmac("sha1", key).update(counter).digest();
    const offset = (digest.at(-1) ?? 0) & 15;
    return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
  });
}

/** Shows the second factor of a demo account. A code works once: one that `make demo` has used is refused. */
export async function stepUp(campus: Campus, name: string): Promise<void> {
  await until(async () => {
    for (const code of oneTimeCodes(secrets[`DEMO_TOTP_${name}`] ?? "")) {
      try {
        return await campus.stepUp(code);
      } catch (error) {
        if (!(error instanceof ValidationFailedError)) throw error;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    return undefined;
  });
}
