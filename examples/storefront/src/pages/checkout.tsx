import type { CartItem, CheckoutRequest, Hub } from "campus-client";
import { useLocation, useRoute } from "preact-iso";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { payFor } from "../pay.ts";
import { cart } from "../session.ts";
import { useKey } from "../use-key.ts";
import { useAction, useResource } from "../use-resource.ts";
import { subtotalOf, useCart } from "./cart.tsx";

const NOTE_CHARACTERS_MAX = 500;

/** The order of one vendor's lines of the cart. */
export function Checkout() {
  const vendorId = useRoute().params["vendorId"]!;
  return (
    <Page title="Checkout">
      <SignedIn>{() => <Contents vendorId={vendorId} />}</SignedIn>
    </Page>
  );
}

function Contents({ vendorId }: { vendorId: string }) {
  const loaded = useCart();
  const hubs = useResource(
    async (signal) => {
      const { campusId } = await campus.vendors.get(vendorId, { signal });
      return (await campus.hubs.list(campusId, { limit: 100 }, { signal })).items;
    },
    [vendorId],
  );
  return (
    <Loaded from={loaded}>
      {({ id, items }) => {
        const lines = items.filter((item) => item.vendorId === vendorId);
        return lines.length === 0 ? (
          <Empty title="Nothing to check out">
            <p>The cart has nothing of this seller. An order that you placed is in your orders.</p>
            <a class="button" href="/orders">
              My orders
            </a>
          </Empty>
        ) : (
          <Loaded from={hubs}>{(found) => <Form cartId={id} vendorId={vendorId} lines={lines} hubs={found} />}</Loaded>
        );
      }}
    </Loaded>
  );
}

function Form({ cartId, vendorId, lines, hubs }: { cartId: string; vendorId: string; lines: CartItem[]; hubs: Hub[] }) {
  const { route } = useLocation();
  const keyOf = useKey();
  const [hub, setHub] = useState<Hub | null>(null);
  const [note, setNote] = useState("");
  const feeMinor = hub?.deliveryFeeMinor ?? 0;
  const totalMinor = subtotalOf(lines) + feeMinor;

  const place = useAction(async () => {
    const request: CheckoutRequest = {
      cartId,
      vendorId,
      expectedTotalMinor: totalMinor,
      ...(hub && { hubId: hub.id }),
      ...(note.trim() && { deliveryNote: note.trim() }),
    };
    const order = await campus.orders.checkout(request, { idempotencyKey: keyOf(request) });
    try {
      await payFor(order.id);
    } catch {
      // The order exists: its page offers the payment again.
      cart.value = await campus.carts.get();
      route(`/orders/${order.id}`);
    }
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    place.run();
  };
  return (
    <form onSubmit={submit} class="columns">
      <div>
        <fieldset class="panel">
          <legend>Where do you collect it?</legend>
          <Choice
            label="Meet the seller"
            detail="Agree on a place after the payment"
            feeMinor={0}
            checked={hub === null}
            choose={() => setHub(null)}
          />
          {hubs.map((one) => (
            <Choice
              key={one.id}
              label={one.name}
              detail={one.address}
              feeMinor={one.deliveryFeeMinor}
              checked={hub?.id === one.id}
              choose={() => setHub(one)}
            />
          ))}
        </fieldset>
        <div class="field">
          <label for="note">Note for the seller (optional)</label>
          <textarea
            id="note"
            rows={2}
            maxLength={NOTE_CHARACTERS_MAX}
            value={note}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
        </div>
      </div>
      <section class="panel summary" aria-label="Summary">
        <h2>{lines[0]?.vendorName}</h2>
        <ul class="receipt">
          {lines.map((item) => (
            <li key={item.productId}>
              <span>
                {item.quantity} × {item.name}
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
        <Problem error={place.error} />
        <button class="main wide" disabled={place.busy}>
          {place.busy ? "Opening the payment …" : `Pay ${naira(totalMinor)}`}
        </button>
        <p class="soft">
          The money is held in escrow. You have 15 minutes to pay; the seller is paid after you give your delivery PIN.
        </p>
      </section>
    </form>
  );
}

function Choice(choice: { label: string; detail: string; feeMinor: number; checked: boolean; choose: () => void }) {
  return (
    <label class="choice">
      <input type="radio" name="hub" checked={choice.checked} onChange={choice.choose} />
      <span>
        <b>{choice.label}</b>
        <span class="soft">{choice.detail}</span>
      </span>
      <span>{choice.feeMinor === 0 ? "free" : naira(choice.feeMinor)}</span>
    </label>
  );
}
