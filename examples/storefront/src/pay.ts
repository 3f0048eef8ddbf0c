import { campus } from "./api.ts";

/**
 * Open a payment of the order and leave for the payment page, which leads back to the order. The API returns an open payment
 * again, so a repetition never pays twice.
 */
export async function payFor(orderId: string): Promise<void> {
  const callbackUrl = new URL(`/orders/${orderId}`, location.origin).href;
  const intent = await campus.payments.createIntent({ orderId, callbackUrl });
  if (!intent.authorizationUrl) throw new Error("The payment has no page to pay on");
  // The browser's way back leads to the order too, not to a checkout that is done.
  history.replaceState(null, "", callbackUrl);
  location.assign(intent.authorizationUrl);
  // Until the browser has left, the buttons stay inactive. It may show this very page again on the way back.
  await new Promise((resolve) => addEventListener("pageshow", resolve, { once: true }));
  location.reload();
}
