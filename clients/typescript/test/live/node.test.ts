import assert from "node:assert/strict";
import { test } from "node:test";
import { AuthAal2RequiredError, Campus } from "campus-client";
import { playStory, until } from "./story.js";
import { baseUrl, codeFor, pay, secrets, stepUp } from "./system.js";

const password = secrets["DEMO_PASSWORD"] ?? "";
// The smallest PNG with one pixel.
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

test("a purchase in Node, from the sign-up to the vendor's payout", async () => {
  const photo = (): Promise<Blob> => Promise.resolve(new Blob([pixel], { type: "image/png" }));
  const { vendor, delivered } = await playStory({ baseUrl, password, codeFor, pay, photo });

  await until(async () => ((await vendor.orders.get(delivered.id)).status === "paid" ? true : undefined));
  const wallet = await until(async () => {
    const found = await vendor.wallets.getCurrent();
    return found.availableMinor > 0 ? found : undefined;
  });
  const payout = await vendor.payouts.create({ amountMinor: wallet.availableMinor });

  const maker = new Campus({ baseUrl });
  await maker.signIn("maker@campus.example", password);
  await assert.rejects(maker.payouts.dispatch({ payoutIds: [payout.id] }), AuthAal2RequiredError);
  await stepUp(maker, "MAKER");
  assert.equal((await maker.payouts.dispatch({ payoutIds: [payout.id] })).submitted, 1);
  await until(async () => ((await vendor.payouts.get(payout.id)).status === "processed" ? true : undefined));

  const listed = new Set<string>();
  for await (const one of vendor.payouts.list({ limit: 1 })) {
    listed.add(one.id);
    if (listed.size === 3) break;
  }
  assert.ok(listed.has(payout.id));

  await vendor.signOut();
  await assert.rejects(vendor.wallets.getCurrent(), { status: 401 });
});
