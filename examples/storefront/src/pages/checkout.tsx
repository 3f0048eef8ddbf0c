import type { CartItem, CheckoutRequest, PurchaseRequest } from "campus-client";
import { useLocation, useRoute } from "preact-iso";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { payText, useBalancePart, UseBalance } from "../order/balance-part.tsx";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Hubs, Places, usePlaces, type HubsByVendor } from "../parts/places.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { pageOf, payFor, type Payable } from "../pay.ts";
import { cart } from "../session.ts";
import { useKey } from "../use-key.ts";
import { useAction } from "../use-resource.ts";
import { linesByVendor, subtotalOf, useCart } from "./cart.tsx";

/** The order of one vendor's lines of the cart, or the purchase of all of them. */
export function Checkout() {
  const vendorId = useRoute().params["vendorId"];
  return (
    <Page title="Checkout">
      <SignedIn>{() => <Contents vendorId={vendorId} />}</SignedIn>
    </Page>
  );
}

function Contents({ vendorId }: { vendorId: string | undefined }) {
  const loaded = useCart();
  return (
    <Loaded from={loaded}>
      {({ id, items }) => {
        const lines = items.filter((item) => vendorId === undefined || item.vendorId === vendorId);
        if (lines.some((item) => !item.inStock)) return <NotAvailable />;
        return lines.length === 0 ? (
          <Empty title="Nothing to check out">
            <p>The cart has nothing of this seller. An order that you placed is in your orders.</p>
            <a class="button" href="/orders">
              My orders
            </a>
          </Empty>
        ) : (
          <Hubs vendorIds={linesByVendor(lines).map(([id]) => id)}>
            {(hubs) => <Form cartId={id} vendorId={vendorId} lines={lines} hubs={hubs} />}
          </Hubs>
        );
      }}
    </Loaded>
  );
}

function NotAvailable() {
  return (
    <Empty title="Something is not available any more">
      <p>Your cart shows what. Remove it there, or take fewer.</p>
      <a class="button" href="/cart">
        Go to the cart
      </a>
    </Empty>
  );
}

function Form(form: { cartId: string; vendorId: string | undefined; lines: CartItem[]; hubs: HubsByVendor }) {
  const { cartId, vendorId, lines, hubs } = form;
  const vendors = linesByVendor(lines);
  const { route } = useLocation();
  const keyOf = useKey();
  const places = usePlaces(vendors.map(([id]) => id));
  const { feeMinor } = places;
  const totalMinor = subtotalOf(lines) + feeMinor;
  const part = useBalancePart(totalMinor);

  const place = useAction(async () => {
    const payable = await placed();
    try {
      await payFor(payable, part.balanceMinor);
    } catch {
      // The order exists: its page offers the payment again.
      cart.value = await campus.carts.get();
      route(pageOf(payable));
    }
  });
  /** Place the order, or the purchase. */
  const placed = async (): Promise<Payable> => {
    const expected = { cartId, expectedTotalMinor: totalMinor };
    if (vendorId !== undefined) {
      const checkout: CheckoutRequest = { ...expected, vendorId, ...places.of(vendorId) };
      return campus.orders.checkout(checkout, { idempotencyKey: keyOf(checkout) });
    }
    const request: PurchaseRequest = {
      ...expected,
      deliveries: places.deliveries,
    };
    const purchase = await campus.purchases.create(request, { idempotencyKey: keyOf(request) });
    return { id: purchase.orders[0]!.id, purchaseId: purchase.id };
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    place.run();
  };
  return (
    <form onSubmit={submit} class="columns">
      <div>
        <Places
          vendors={vendors.map(([id, own]) => [id, own[0]?.vendorName ?? "A seller"])}
          hubs={hubs}
          places={places}
        />
      </div>
      <section class="panel summary" aria-label="Summary">
        <h2>{vendors.map(([, own]) => own[0]?.vendorName).join(", ")}</h2>
        <ul class="receipt">
          {lines.map((item) => (
            <li key={item.variantId ?? item.productId}>
              <span>
                {item.quantity} × <bdi>{item.name}</bdi>
              </span>
              <span>{naira(item.lineTotalMinor)}</span>
            </li>
          ))}
          <li>
            <span>Delivery</span>
            <span>{feeMinor === 0 ? "free" : naira(feeMinor)}</span>
          </li>
        </ul>
        <div class="sum total">
          <span>Total</span>
          <b>{naira(totalMinor)}</b>
        </div>
        <UseBalance part={part} />
        <Problem error={place.error} />
        <button class="main wide" disabled={place.busy}>
          {place.busy ? "Opening the payment …" : payText(part)}
        </button>
        <p class="soft">
          The money is held in escrow. You have 15 minutes to pay; the seller is paid after you give your delivery PIN.
        </p>
      </section>
    </form>
  );
}
