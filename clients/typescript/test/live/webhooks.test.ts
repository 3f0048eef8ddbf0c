import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Campus, newIdempotencyKey } from "campus-client";
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from "campus-client/webhooks";
import { check, until } from "./story.js";
import { baseUrl, secrets, stepUp } from "./system.js";

test("a webhook of the marketplace is verified with the secret of its endpoint", async () => {
  const vendor = new Campus({ baseUrl });
  await vendor.signIn("vendor2@unilag.edu.ng", secrets["DEMO_PASSWORD"] ?? "");
  await stepUp(vendor, "VENDOR2");

  const received: { headers: Record<string, string | string[] | undefined>; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/campus`;
  const endpoint = await vendor.webhookEndpoints.create({ url, eventTypes: ["orders.order_placed.v1"] });
  try {
    const former = endpoint.secret;
    const orderId = await placeOrder(vendor);
    const { headers, body } = await until(() => Promise.resolve(received[0]));
    const event: WebhookEvent = await verifyWebhook({ body, headers, secrets: [former] });
    assert.deepEqual([event.type, event.data["orderId"]], ["orders.order_placed.v1", orderId]);
    const forged = Buffer.from(body.toString().replace(orderId, newIdempotencyKey()));
    await assert.rejects(verifyWebhook({ body: forged, headers, secrets: [former] }), WebhookVerificationError);

    // During a rotation both secrets sign.
    const { secret } = await vendor.webhookEndpoints.rotateSecret(endpoint.id);
    await vendor.webhookEndpoints.replay(endpoint.id, { eventId: event.id });
    const again = await until(() => Promise.resolve(received[1]));
    for (const one of [former, secret]) {
      assert.equal((await verifyWebhook({ ...again, secrets: [one] })).id, event.id);
    }
  } finally {
    await vendor.webhookEndpoints.delete(endpoint.id);
    server.close();
  }
});

/** An order of the vendor's, placed by the demo buyer. */
async function placeOrder(vendor: Campus): Promise<string> {
  const buyer = new Campus({ baseUrl });
  await buyer.signIn("buyer@unilag.edu.ng", secrets["DEMO_PASSWORD"] ?? "");
  const { vendorId } = await vendor.profiles.getCurrent();
  const [product] = (await buyer.products.list({ vendorId: vendorId ?? "", inStock: true, limit: 1 })).items;
  check(product !== undefined, "the vendor has a product in stock");
  const order = await buyer.orders.checkout({ items: [{ productId: product.id, quantity: 1 }] });
  await buyer.orders.cancel(order.id, { reason: "A test of webhooks" });
  return order.id;
}
