import type { CartItem, CheckoutRequest, Hub, PurchaseRequest } from "campus-client";
import { useLocation, useRoute } from "preact-iso";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { payText, useBalancePart, UseBalance } from "../order/balance-part.tsx";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { pageOf, payFor, type Payable } from "../pay.ts";
import { cart } from "../session.ts";
import { useKey } from "../use-key.ts";
import { useAction, useResource } from "../use-resource.ts";
import { linesByVendor, subtotalOf, useCart } from "./cart.tsx";

const NOTE_CHARACTERS_MAX = 500;

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

/** The hubs of the campus of all these vendors; none when they are on several. */
function Hubs({ vendorIds, children }: { vendorIds: string[]; children: (hubs: Hub[]) => ComponentChildren }) {
  const hubs = useResource(
    async (signal) => {
      const vendors = await Promise.all(vendorIds.map((id) => campus.vendors.get(id, { signal })));
      const [campusId, ...others] = new Set(vendors.map((vendor) => vendor.campusId));
      if (!campusId || others.length > 0) return [];
      return (await campus.hubs.list(campusId, { limit: 100 }, { signal })).items;
    },
    [vendorIds.join()],
  );
  return <Loaded from={hubs}>{children}</Loaded>;
}

function Form(form: { cartId: string; vendorId: string | undefined; lines: CartItem[]; hubs: Hub[] }) {
  const { cartId, vendorId, lines, hubs } = form;
  const vendors = linesByVendor(lines);
  const { route } = useLocation();
  const keyOf = useKey();
  const [hub, setHub] = useState<Hub | null>(null);
  const [note, setNote] = useState("");
  const feeMinor = (hub?.deliveryFeeMinor ?? 0) * vendors.length;
  const totalMinor = subtotalOf(lines) + feeMinor;
  const part = useBalancePart(totalMinor);

  const place = useAction(async () => {
    const payable = await placed({
      cartId,
      expectedTotalMinor: totalMinor,
      ...(hub && { hubId: hub.id }),
      ...(note.trim() && { deliveryNote: note.trim() }),
    });
    try {
      await payFor(payable, part.balanceMinor);
    } catch {
      // The order exists: its page offers the payment again.
      cart.value = await campus.carts.get();
      route(pageOf(payable));
    }
  });
  /** Place the order, or the purchase. */
  const placed = async (request: PurchaseRequest): Promise<Payable> => {
    if (vendorId !== undefined) {
      const checkout: CheckoutRequest = { ...request, vendorId };
      return campus.orders.checkout(checkout, { idempotencyKey: keyOf(checkout) });
    }
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
        <h2>{vendors.map(([, own]) => own[0]?.vendorName).join(", ")}</h2>
        <ul class="receipt">
          {lines.map((item) => (
            <li key={item.variantId ?? item.productId}>
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
