import type { Cart as CartOfBuyer, CartItem } from "campus-client";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Quantity } from "../parts/quantity.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { cart, itemCount, linesRefused, profile } from "../session.ts";
import { useAction, useResource } from "../use-resource.ts";

export function Cart() {
  return (
    <Page title="Cart">
      {linesRefused.value > 0 && (
        <p class="notice" role="status">
          {linesRefused.value} of what you chose before the sign-in can no longer be bought.
        </p>
      )}
      {profile.value === null && itemCount.value > 0 && (
        <p class="notice" role="status">
          {itemCount.value === 1 ? "The product that you chose is" : `The ${itemCount.value} products that you chose are`} in
          your cart as soon as you sign in.
        </p>
      )}
      <SignedIn>{() => <Contents />}</SignedIn>
    </Page>
  );
}

/** Load the cart with the prices of now. */
export function useCart() {
  const loaded = useResource(async (signal) => (cart.value = await campus.carts.get({ signal })), []);
  // Changes of this page are in the signal.
  return { ...loaded, data: loaded.data && (cart.value ?? loaded.data) };
}

/** The lines of each vendor: an order has one vendor. */
export function linesByVendor(items: readonly CartItem[]): [string, CartItem[]][] {
  const vendors = new Map<string, CartItem[]>();
  for (const item of items) vendors.set(item.vendorId, [...(vendors.get(item.vendorId) ?? []), item]);
  return [...vendors];
}

/** The sum of what can be bought, in kobo. */
export function subtotalOf(items: readonly CartItem[]): number {
  return items.reduce((sum, item) => sum + (item.inStock ? item.lineTotalMinor : 0), 0);
}

/** The vendor's name; without one, no line of the vendor is sold any more. */
function vendorOf(lines: readonly CartItem[]): string {
  return lines.find((item) => item.vendorName)?.vendorName ?? "No longer sold";
}

function Contents() {
  const loaded = useCart();
  const change = useAction(async (request: () => Promise<CartOfBuyer>) => {
    cart.value = await request();
  });
  return (
    <Loaded from={loaded}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Your cart is empty">
            <p>Lunch, a charger, a notebook: it is all on campus.</p>
            <a class="button" href="/">
              Start shopping
            </a>
          </Empty>
        ) : (
          <>
            <Problem error={change.error} />
            {linesByVendor(items).map(([vendorId, lines]) => (
              <section class="panel" key={vendorId} aria-label={`From ${vendorOf(lines)}`}>
                <h2>{vendorOf(lines)}</h2>
                <ul class="lines">
                  {lines.map((item) => (
                    <Line key={item.variantId ?? item.productId} item={item} busy={change.busy} change={change.run} />
                  ))}
                </ul>
                <div class="sum">
                  <span>Subtotal</span>
                  <b>{naira(subtotalOf(lines))}</b>
                </div>
                {lines.every((item) => item.inStock) ? (
                  <a class="button wide" href={`/checkout/${vendorId}`}>
                    Check out {vendorOf(lines)}
                  </a>
                ) : (
                  <p class="notice">To check out, remove what is not available, or take fewer.</p>
                )}
              </section>
            ))}
            {linesByVendor(items).length > 1 && (
              <section class="panel" aria-label="Everything">
                <div class="sum total">
                  <span>Everything</span>
                  <b>{naira(subtotalOf(items))}</b>
                </div>
                {items.every((item) => item.inStock) && (
                  <a class="button main wide" href="/checkout">
                    Check out everything
                  </a>
                )}
                <p class="soft">You pay once. Each seller is an order of its own, with its own PIN.</p>
              </section>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Line({
  item,
  busy,
  change,
}: {
  item: CartItem;
  busy: boolean;
  change: (request: () => Promise<CartOfBuyer>) => void;
}) {
  const { productId, variantId } = item;
  const set = (quantity: number) => change(() => campus.carts.setItem(productId, { quantity, variantId }));
  const remove = () => campus.carts.removeItem(productId, variantId ? { variantId } : {});
  return (
    <li>
      <div class="line-text">
        {item.vendorName === null ? (
          <span class="name">{item.name}</span>
        ) : (
          <a class="name" href={`/products/${productId}${variantId ? `?variant=${variantId}` : ""}`}>{item.name}</a>
        )}
        {item.available > 0 && <span class="soft">{naira(item.unitPriceMinor)} each</span>}
        {!item.inStock && <span class="warning">{shortageOf(item)}</span>}
        {item.available > 0 && item.priceChanged && (
          <span class="warning">
            The price has changed.{" "}
            <button type="button" class="link" onClick={() => set(item.quantity)}>
              Accept
            </button>
          </span>
        )}
      </div>
      <b class="line-total">{item.inStock && naira(item.lineTotalMinor)}</b>
      {item.available > 0 ? (
        <Quantity
          label={`Quantity of ${item.name}`}
          value={item.quantity}
          max={item.available}
          busy={busy}
          onChange={set}
        />
      ) : (
        <span />
      )}
      <button
        type="button"
        class="link remove"
        disabled={busy}
        aria-label={`Remove ${item.name}`}
        onClick={() => change(remove)}
      >
        Remove
      </button>
    </li>
  );
}

function shortageOf({ vendorName, available }: CartItem): string {
  if (vendorName === null) return "No longer sold";
  return available === 0 ? "Sold out" : `Only ${available} left`;
}
