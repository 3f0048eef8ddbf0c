import type { Order, Payment as PaymentOfOrder, PaymentIntent } from "campus-client";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Problem } from "../parts/problem.tsx";
import { openPayment, pageOf, payFor } from "../pay.ts";
import { clock, useSecondsUntil } from "../times.ts";
import { useAction, useResource } from "../use-resource.ts";
import { payText, useBalancePart, UseBalance } from "./balance-part.tsx";
import { BankTransfer } from "./bank-transfer.tsx";

/** The payment of one order; an order of a purchase is paid there, with the others. */
export function OrderPayment({ order }: { order: Order }) {
  if (order.purchaseId === null) return <Payment orders={[order]} />;
  return (
    <section class="panel" aria-label="Payment">
      <p>One payment pays this order with the others of your purchase.</p>
      <a class="button wide" href={pageOf(order)}>
        Go to the payment
      </a>
    </section>
  );
}

/** One payment of reserved orders, with the time that is left and the bank's reason after a failed attempt. */
export function Payment({ orders }: { orders: Order[] }) {
  const order = orders[0]!;
  const payments = useResource(
    (signal) => campus.payments.list({ orderId: order.id, limit: 20 }, { signal }),
    [order.id, order.revision],
  );
  const dueMinor = orders.reduce((sum, one) => sum + one.totalMinor, 0);
  const live = payments.data?.items.find(({ status }) => status === "opening" || status === "pending");
  const part = useBalancePart(dueMinor, live?.balanceMinor);
  const pay = useAction(() => payFor(order, part.balanceMinor));
  const [account, setAccount] = useState<PaymentIntent["bankTransfer"]>(null);
  const transfer = useAction(async () => {
    const intent = await openPayment(order, { channel: "bank_transfer", balanceMinor: part.balanceMinor });
    setAccount(intent.bankTransfer);
    // Without an account, the payment page takes the transfer.
    if (!intent.bankTransfer) await payFor(order, part.balanceMinor);
  });
  const isBusy = pay.busy || transfer.busy;
  const failed = payments.data?.items.find((payment) => payment.status === "failed");
  const received = payments.data?.items.find((payment) => payment.status === "quarantined");
  const secondsLeft = useSecondsUntil(order.paymentDueAt);
  return (
    <section class="panel" aria-label="Payment">
      {failed && (
        <p class="notice" role="alert">
          The last payment failed{failed.failureReason ? `: ${failed.failureReason}` : ""}. Nothing was charged.
        </p>
      )}
      {received && <Received payment={received} />}
      <p>
        Reserved for <b>{clock(secondsLeft)}</b> minutes. If you have just paid, this page shows it in a moment.
      </p>
      {orders.length > 1 && <p>One payment for {orders.length} orders.</p>}
      <Problem error={pay.error ?? transfer.error} />
      <UseBalance part={part} />
      {account?.amountMinor === part.restMinor && <BankTransfer account={account} renew={() => transfer.run()} />}
      <button type="button" class="main wide" disabled={isBusy} onClick={() => pay.run()}>
        {pay.busy ? "Opening the payment …" : payText(part)}
      </button>
      {account?.amountMinor !== part.restMinor && part.restMinor > 0 && (
        <button type="button" class="wide" disabled={isBusy} onClick={() => transfer.run()}>
          {transfer.busy ? "Opening an account …" : "Pay by bank transfer"}
        </button>
      )}
    </section>
  );
}

/** A payment that arrived and pays nothing: too low, or still being checked. */
function Received({ payment }: { payment: PaymentOfOrder }) {
  const { gatewayMinor, receivedMinor } = payment;
  return (
    <p class="notice" role="alert">
      {receivedMinor !== null && receivedMinor < gatewayMinor
        ? `${naira(receivedMinor)} arrived, and ${naira(gatewayMinor)} was to pay. It does not pay the order, and goes back to you. To keep the order, pay the whole amount.`
        : "We received a payment and are checking it. Your money is safe: please do not pay again."}
    </p>
  );
}
