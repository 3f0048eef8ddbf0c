import type { PaymentIntent } from "campus-client";

import { campus } from "./api.ts";

/** What one payment pays: an order, or the unpaid orders of its purchase. */
export type Payable = { id: string; purchaseId: string | null };

interface PaymentChoice {
  channel?: "bank_transfer";
  /** The part from the buyer's balance, in kobo; without it an open payment keeps its own. */
  balanceMinor?: number | null;
}

/** Open a payment of the order, with the others of its purchase. The API returns an open payment again. */
export async function openPayment(payable: Payable, choice: PaymentChoice = {}): Promise<PaymentIntent> {
  const { id, purchaseId } = payable;
  const callbackUrl = new URL(pageOf(payable), location.origin).href;
  return campus.payments.createIntent({ ...(purchaseId ? { purchaseId } : { orderId: id }), callbackUrl, ...choice });
}

/**
 * Open a payment and leave for the payment page, which leads back to the order or the purchase; stay where the balance
 * pays all of it. A repetition never pays twice.
 */
export async function payFor(payable: Payable, balanceMinor: number | null = null): Promise<void> {
  const intent = await openPayment(payable, { balanceMinor });
  const next = intent.gatewayMinor === 0 ? pageOf(payable) : intent.authorizationUrl;
  if (!next) throw new Error("The payment has no page to pay on");
  // The browser's way back leads to the order too, not to a checkout that is done.
  history.replaceState(null, "", pageOf(payable));
  location.assign(next);
  // Until the browser has left, the buttons stay inactive. It may show this very page again on the way back.
  await new Promise((resolve) => addEventListener("pageshow", resolve, { once: true }));
  location.reload();
}

/** The page of the order, or of the purchase that it is part of. */
export function pageOf({ id, purchaseId }: Payable): string {
  return purchaseId ? `/purchases/${purchaseId}` : `/orders/${id}`;
}
