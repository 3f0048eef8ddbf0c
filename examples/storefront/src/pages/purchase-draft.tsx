import { ApiError, type PurchaseDraft, type PurchaseDraftItem } from "campus-client";
import { useLocation, useRoute } from "preact-iso";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { payText, useBalancePart, UseBalance } from "../order/balance-part.tsx";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Hubs, Places, usePlaces, type HubsByVendor } from "../parts/places.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { pageOf, payFor } from "../pay.ts";
import { useKey } from "../use-key.ts";
import { useAction, useResource } from "../use-resource.ts";

const OBSTACLE: Record<NonNullable<PurchaseDraftItem["obstacle"]>, string> = {
  unavailable: "Not sold any more",
  variant_required: "Choose a size or color in the shop",
  vendor_away: "The seller is away",
  out_of_stock: "Fewer are left",
};

/** A cart that the buyer sent in the messaging app: nothing of it is ordered before this page's button. */
export function PurchaseDraftPage() {
  const { id } = useRoute().params;
  return (
    <Page title="Your cart from the messaging app">
      <SignedIn>{() => <Contents id={id!} />}</SignedIn>
    </Page>
  );
}

function Contents({ id }: { id: string }) {
  const draft = useResource((signal) => arrived(id, signal), [id]);
  return (
    <Loaded from={draft}>
      {(found) => (
        <Hubs vendorIds={vendorsOf(found).map(([vendorId]) => vendorId)}>
          {(hubs) => <Review draft={found} hubs={hubs} reload={draft.reload} />}
        </Hubs>
      )}
    </Loaded>
  );
}

/** The vendors of the items that can be ordered, with their names. */
function vendorsOf(draft: PurchaseDraft): [string, string][] {
  const names = new Map<string, string>();
  for (const { obstacle, vendorId, vendorName } of draft.items) {
    if (obstacle === null && vendorId) names.set(vendorId, vendorName ?? "A seller");
  }
  return [...names];
}

/** The draft: its link may be on the phone some moments before it. */
async function arrived(id: string, signal: AbortSignal): Promise<PurchaseDraft> {
  for (let tries = 1; ; tries++) {
    try {
      return await campus.purchaseDrafts.get(id, { signal });
    } catch (error) {
      if (tries === 4 || !(error instanceof ApiError && error.status === 404)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * tries));
    }
  }
}

function Review({ draft, hubs, reload }: { draft: PurchaseDraft; hubs: HubsByVendor; reload: () => void }) {
  const { route } = useLocation();
  const keyOf = useKey();
  const vendors = vendorsOf(draft);
  const places = usePlaces(vendors.map(([id]) => id));
  const totalMinor = draft.subtotalMinor + places.feeMinor;
  const part = useBalancePart(totalMinor);
  const orderable = draft.items.filter((item) => item.obstacle === null);
  const place = useAction(async () => {
    const request = {
      expectedTotalMinor: totalMinor,
      skipUnavailable: orderable.length < draft.items.length,
      deliveries: places.deliveries,
    };
    const purchase = await campus.purchaseDrafts.checkout(draft.id, request, { idempotencyKey: keyOf(request) });
    const payable = { id: purchase.orders[0]!.id, purchaseId: purchase.id };
    try {
      await payFor(payable, part.balanceMinor);
    } catch {
      // The orders exist: their page offers the payment again.
      route(pageOf(payable));
    }
  });
  if (draft.status !== "open") {
    return draft.purchaseId ? (
      <Empty title="You ordered this cart">
        <a class="button" href={`/purchases/${draft.purchaseId}`}>
          Open the purchase
        </a>
      </Empty>
    ) : (
      <Empty title="This cart has expired">
        <p>Send it again in the messaging app, or order in the shop.</p>
        <a class="button" href="/">
          Look around
        </a>
      </Empty>
    );
  }
  return (
    <section class="panel summary" aria-label="Summary">
      <p>Nothing is ordered yet. These are today's prices.</p>
      <ul class="receipt">
        {draft.items.map((item) => (
          <li key={item.retailerId}>
            <span>
              {item.quantity} × {item.name ?? "A product that is not sold here"}{" "}
              {item.obstacle && <span class="state bad">{OBSTACLE[item.obstacle]}</span>}
            </span>
            <span>{item.obstacle === null && item.lineTotalMinor !== null && naira(item.lineTotalMinor)}</span>
          </li>
        ))}
      </ul>
      {orderable.length === 0 ? (
        <p>Nothing of it can be ordered now.</p>
      ) : (
        <>
          <Places vendors={vendors} hubs={hubs} places={places} />
          <div class="sum">
            <span>Delivery</span>
            <span>{places.feeMinor === 0 ? "free" : naira(places.feeMinor)}</span>
          </div>
          <div class="sum total">
            <span>Total</span>
            <b>{naira(totalMinor)}</b>
          </div>
          <UseBalance part={part} />
          <Problem error={place.error} retry={reload} />
          <button type="button" class="main wide" disabled={place.busy} onClick={() => place.run()}>
            {place.busy ? "Opening the payment …" : payText(part)}
          </button>
          <p class="soft">
            {orderable.length < draft.items.length && "The other items are left out. "}
            The money is held in escrow. The seller is paid after you give your delivery PIN.
          </p>
        </>
      )}
    </section>
  );
}
