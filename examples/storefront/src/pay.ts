import { campus } from "./api.ts";

/**
 * Open a payment of the order and leave for the payment page, which leads back to the order. The API returns an open payment
 * again, so a repetition never pays twice.
 */
export async function payFor(orderId: string): Promise<void> {
  const callbackUrl = new URL(`/orders/${orderId}`, location.origin).href;
  const intent = await campus.payments.createIntent({ orderId, callbackUrl });
  if (!intent.authorizationUrl) throw new Error("The payment has no page to pay on");
  location.assign(intent.authorizationUrl);
  // The buttons stay inactive until the browser has left.
  await new Promise((resolve) => addEventListener("pagehide", resolve, { once: true }));
}
