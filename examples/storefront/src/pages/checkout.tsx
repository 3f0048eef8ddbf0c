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

type HubsByVendor = ReadonlyMap<string, Hub[]>;

/** The hubs of each vendor's campus, by the vendor's id. */
function Hubs(own: { vendorIds: string[]; children: (hubs: HubsByVendor) => ComponentChildren }) {
  const { vendorIds, children } = own;
  const hubs = useResource(
    async (signal): Promise<HubsByVendor> => {
      const vendors = await Promise.all(vendorIds.map((id) => campus.vendors.get(id, { signal })));
      const campusIds = [...new Set(vendors.flatMap((vendor) => vendor.campusId ?? []))];
      const ofCampus = new Map(
        await Promise.all(
          campusIds.map(
            async (id): Promise<[string, Hub[]]> => [
              id,
              (await campus.hubs.list(id, { limit: 100 }, { signal })).items,
            ],
          ),
        ),
      );
      return new Map(vendors.map((vendor) => [vendor.id, ofCampus.get(vendor.campusId ?? "") ?? []]));
    },
    [vendorIds.join()],
  );
  return <Loaded from={hubs}>{children}</Loaded>;
}

function Form(form: { cartId: string; vendorId: string | undefined; lines: CartItem[]; hubs: HubsByVendor }) {
  const { cartId, vendorId, lines, hubs } = form;
  const vendors = linesByVendor(lines);
  const { route } = useLocation();
  const keyOf = useKey();
  const [deliveries, setDeliveries] = useState<ReadonlyMap<string, Delivery>>(new Map());
  const deliveryOf = (id: string) => deliveries.get(id) ?? MEET_THE_SELLER;
  const feeMinor = vendors.reduce((sum, [id]) => sum + (deliveryOf(id).hub?.deliveryFeeMinor ?? 0), 0);
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
      const checkout: CheckoutRequest = { ...expected, vendorId, ...placeOf(deliveryOf(vendorId)) };
      return campus.orders.checkout(checkout, { idempotencyKey: keyOf(checkout) });
    }
    const request: PurchaseRequest = {
      ...expected,
      deliveries: vendors.map(([id]) => ({ vendorId: id, ...placeOf(deliveryOf(id)) })),
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
        {vendors.map(([id, own]) => (
          <DeliveryOf
            key={id}
            vendorId={id}
            of={vendors.length > 1 ? (own[0]?.vendorName ?? "A seller") : ""}
            hubs={hubs.get(id) ?? []}
            delivery={deliveryOf(id)}
            choose={(delivery) => setDeliveries((before) => new Map(before).set(id, delivery))}
          />
        ))}
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

interface Delivery {
  hub: Hub | null;
  note: string;
}

const MEET_THE_SELLER: Delivery = { hub: null, note: "" };

function placeOf({ hub, note }: Delivery) {
  return { ...(hub && { hubId: hub.id }), ...(note.trim() && { deliveryNote: note.trim() }) };
}

/** The hub and the note of one vendor's order; `of` is the vendor's name where the purchase has several. */
function DeliveryOf(own: {
  vendorId: string;
  of: string;
  hubs: Hub[];
  delivery: Delivery;
  choose: (delivery: Delivery) => void;
}) {
  const { vendorId, of, hubs, delivery, choose } = own;
  const { hub, note } = delivery;
  const name = `hub-${vendorId}`;
  return (
    <fieldset class="panel">
      <legend>{of ? `${of}: where do you collect it?` : "Where do you collect it?"}</legend>
      <Choice
        name={name}
        label="Meet the seller"
        detail="Agree on a place after the payment"
        feeMinor={0}
        checked={hub === null}
        choose={() => choose({ ...delivery, hub: null })}
      />
      {hubs.map((one) => (
        <Choice
          key={one.id}
          name={name}
          label={one.name}
          detail={one.address}
          feeMinor={one.deliveryFeeMinor}
          checked={hub?.id === one.id}
          choose={() => choose({ ...delivery, hub: one })}
        />
      ))}
      <div class="field">
        <label for={`note-${vendorId}`}>{of ? `Note for ${of} (optional)` : "Note for the seller (optional)"}</label>
        <textarea
          id={`note-${vendorId}`}
          rows={2}
          maxLength={NOTE_CHARACTERS_MAX}
          value={note}
          onInput={(event) => choose({ ...delivery, note: event.currentTarget.value })}
        />
      </div>
    </fieldset>
  );
}

function Choice(choice: {
  name: string;
  label: string;
  detail: string;
  feeMinor: number;
  checked: boolean;
  choose: () => void;
}) {
  return (
    <label class="choice">
      <input type="radio" name={choice.name} checked={choice.checked} onChange={choice.choose} />
      <span>
        <b>{choice.label}</b>
        <span class="soft">{choice.detail}</span>
      </span>
      <span>{choice.feeMinor === 0 ? "free" : naira(choice.feeMinor)}</span>
    </label>
  );
}
