import type { Order, Purchase } from "campus-client";
import { useRoute } from "preact-iso";

import { naira } from "../money.ts";
import { itemsText } from "../order/items.tsx";
import { Payment } from "../order/payment.tsx";
import { Pin } from "../order/pin.tsx";
import { STATUS } from "../order/statuses.ts";
import { useLivePurchase } from "../order/use-live-order.ts";
import { Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Receipt } from "../parts/receipt.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { when } from "../times.ts";

const STATE: Record<Purchase["status"], { label: string; meaning: string }> = {
  unpaid: { label: "Waiting for payment", meaning: "Your items are reserved. Pay once for everything." },
  paid: { label: "Paid", meaning: "Each seller gets a PIN of its own from you." },
  closed: { label: "Closed", meaning: "No order of it was paid." },
};

/** Everything that one payment pays: an order for each seller. */
export function PurchasePage() {
  const { id } = useRoute().params;
  return (
    <Page title="Your purchase" class="order">
      <SignedIn>{() => <Live id={id!} />}</SignedIn>
    </Page>
  );
}

function Live({ id }: { id: string }) {
  const live = useLivePurchase(id);
  return <Loaded from={live}>{(purchase) => <Contents purchase={purchase} live={live.live} />}</Loaded>;
}

function Contents({ purchase, live }: { purchase: Purchase; live: boolean }) {
  const unpaid = purchase.orders.filter((order) => order.status === "Processing");
  return (
    <div class="columns">
      <div>
        {unpaid.length > 0 && <Payment key={unpaid.length} orders={unpaid} />}
        {purchase.orders.map((order) => (
          <Part key={order.id} order={order} />
        ))}
      </div>
      <section class="panel summary" aria-label="Details">
        <div role="status">
          <h2>{STATE[purchase.status].label}</h2>
          <p>{STATE[purchase.status].meaning}</p>
        </div>
        <p class="soft">
          Purchase <span class="number">{purchase.number}</span> · {when(purchase.createdAt)}
        </p>
        <ul class="receipt">
          {purchase.orders.map((order) => (
            <li key={order.id}>
              <span>{order.vendorName ?? "A seller"}</span>
              <span>{naira(order.totalMinor)}</span>
            </li>
          ))}
        </ul>
        <div class="sum total">
          <span>Total</span>
          <b>{naira(purchase.totalMinor)}</b>
        </div>
        {purchase.status === "paid" && <Receipt of="purchases" id={purchase.id} number={purchase.number} />}
        <p class={live ? "live" : "live off"}>{live ? "Live: this page updates by itself" : "Not live"}</p>
      </section>
    </div>
  );
}

function Part({ order }: { order: Order }) {
  const { label, tone } = STATUS[order.status];
  const seller = order.vendorName ?? "A seller";
  return (
    <section class="panel" aria-label={`From ${seller}`}>
      <h2>
        {seller} <span class={`state ${tone}`}>{label}</span>
      </h2>
      <p>{itemsText(order)}</p>
      {(order.status === "paid_escrow" || order.status === "dispatched") && (
        <Pin key={order.status} orderId={order.id} seller={seller} />
      )}
      <a href={`/orders/${order.id}`}>Open order <span class="number">{order.number}</span></a>
    </section>
  );
}
