import type { Order } from "campus-client";
import { useRoute } from "preact-iso";

import { naira } from "../money.ts";
import { Cancel } from "../order/cancel.tsx";
import { Collect } from "../order/collect.tsx";
import { Dispute } from "../order/dispute.tsx";
import { ItemText } from "../order/items.tsx";
import { OrderPayment } from "../order/payment.tsx";
import { Pin } from "../order/pin.tsx";
import { Refunds } from "../order/refunds.tsx";
import { Returns } from "../order/returns.tsx";
import { Reviews } from "../order/reviews.tsx";
import { STATUS, STEPS } from "../order/statuses.ts";
import { useLiveOrder, type LiveOrder } from "../order/use-live-order.ts";
import { AskSeller } from "../parts/ask-seller.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Receipt } from "../parts/receipt.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { when } from "../times.ts";

/** Where the payment was recorded. */
const WITH_RECEIPT = new Set<Order["status"]>([
  "paid_escrow",
  "dispatched",
  "delivered",
  "paid",
  "disputed",
  "refunded",
]);

export function OrderPage() {
  const { id } = useRoute().params;
  return (
    <Page title="Your order" class="order">
      <SignedIn>{() => <Live id={id!} />}</SignedIn>
    </Page>
  );
}

function Live({ id }: { id: string }) {
  const live = useLiveOrder(id);
  return <Loaded from={live}>{(order) => <Contents order={order} live={live} />}</Loaded>;
}

function Contents({ order, live }: { order: Order; live: LiveOrder }) {
  const { label, meaning, tone, step } = STATUS[order.status];
  const isHeld = order.status === "paid_escrow" || order.status === "dispatched";
  const isDelivered = order.status === "delivered" || order.status === "paid";
  return (
    <div class="columns">
      <div>
        <section class={`panel status ${tone}`} aria-label="Status">
          <div role="status">
            <h2>{label}</h2>
            <p>{meaning}</p>
          </div>
          {step !== null && <Progress step={step} />}
          <p class={live.live ? "live" : "live off"}>{live.live ? "Live: this page updates by itself" : "Not live"}</p>
        </section>
        {order.status === "Processing" && <OrderPayment order={order} />}
        {isHeld && order.hubId && <Collect hubId={order.hubId} arrivedAt={order.arrivedAt} />}
        {isHeld && <Pin key={order.status} orderId={order.id} />}
        {(order.status === "refund_pending" || order.refundedMinor > 0) && <Refunds order={order} />}
        {isDelivered && <Reviews order={order} />}
        {isDelivered && <Returns order={order} />}
        {(isHeld || order.status === "disputed") && <Dispute order={order} opened={live.replace} />}
        {(order.status === "Processing" || order.status === "paid_escrow") && (
          <Cancel order={order} cancelled={live.replace} />
        )}
        <AskSeller about={{ orderId: order.id }} />
        <p>
          <a href={`/tickets?order=${order.id}`}>Ask our staff about this order</a>
        </p>
      </div>
      <Details order={order} />
    </div>
  );
}

function Progress({ step }: { step: number }) {
  return (
    <ol class="steps" aria-label="Progress">
      {STEPS.map((name, index) => (
        <li key={name} class={index <= step ? "reached" : ""} aria-current={index === step ? "step" : undefined}>
          <span class="dot">{index <= step && <Icon name="check" />}</span>
          {name}
        </li>
      ))}
    </ol>
  );
}

function Details({ order }: { order: Order }) {
  return (
    <section class="panel summary" aria-label="Details">
      <h2>{order.vendorName ?? "The seller"}</h2>
      <p class="soft">
        Order <span class="number">{order.number}</span> · {when(order.createdAt)}
      </p>
      {order.purchaseId && (
        <p>
          <a href={`/purchases/${order.purchaseId}`}>The purchase that it is part of</a>
        </p>
      )}
      {order.contact && (
        <p>
          Contact: {order.contact.name ?? "the seller"}
          {order.contact.phone && (
            <>
              , <a href={`tel:${order.contact.phone}`}>{order.contact.phone}</a>
            </>
          )}
        </p>
      )}
      <ul class="receipt">
        {order.items.map((item) => (
          <li key={item.id}>
            <ItemText item={item} />
            <span>{naira(item.lineTotalMinor)}</span>
          </li>
        ))}
        <li>
          <span>Delivery</span>
          <span>{order.deliveryFeeMinor === 0 ? "free" : naira(order.deliveryFeeMinor)}</span>
        </li>
      </ul>
      <div class="sum total">
        <span>Total</span>
        <b>{naira(order.totalMinor)}</b>
      </div>
      {order.refundedMinor > 0 && (
        <div class="sum">
          <span>Returned to you</span>
          <span>−{naira(order.refundedMinor)}</span>
        </div>
      )}
      {WITH_RECEIPT.has(order.status) && <Receipt of="orders" id={order.id} number={order.number} />}
      {order.deliveryNote && <p class="soft">Note: {order.deliveryNote}</p>}
    </section>
  );
}
