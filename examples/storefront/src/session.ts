import { computed, effect, signal } from "@preact/signals";
import { ApiError, type Cart, type Profile } from "campus-client";

import { campus } from "./api.ts";
import { hasTokens, keepTokens } from "./tokens.ts";

/** The buyer: null when signed out, undefined until the API has answered. */
export const profile = signal<Profile | null | undefined>(hasTokens.value ? undefined : null);
/** Why the API did not say who is signed in; null while it is asked. */
export const sessionError = signal<unknown>(null);
export const cart = signal<Cart | null>(null);

/** Lines chosen in this tab before the sign-in. */
interface Line {
  productId: string;
  variantId: string | null;
  quantity: number;
}
const LINES = "quad.lines";
const linesBefore = signal<Line[]>(JSON.parse(sessionStorage.getItem(LINES) ?? "[]"));
/** How many of them could not be put into the cart: sold out or removed meanwhile. */
export const linesRefused = signal(0);

/** Items that can be bought: those that are sold out or removed do not count. Before the sign-in, the chosen ones. */
export const itemCount = computed(() =>
  (cart.value ? cart.value.items.filter((item) => item.available > 0) : linesBefore.value).reduce(
    (sum, { quantity }) => sum + quantity,
    0,
  ),
);

/** Keep a line for the cart of the buyer who signs in next in this tab. */
export function keepLine(line: Line): void {
  linesBefore.value = [...linesBefore.value, line];
  sessionStorage.setItem(LINES, JSON.stringify(linesBefore.value));
}

/** The quantity of a product or variant in the cart. */
export function quantityOf(productId: string, variantId: string | null): number {
  return cart.value?.items.find((item) => item.productId === productId && item.variantId === variantId)?.quantity ?? 0;
}

async function addKeptLines(): Promise<void> {
  const lines = linesBefore.value;
  linesBefore.value = [];
  sessionStorage.removeItem(LINES);
  for (const { productId, variantId, quantity } of lines) {
    try {
      const sum = Math.min(quantityOf(productId, variantId) + quantity, 99);
      cart.value = await campus.carts.setItem(productId, { quantity: sum, variantId });
    } catch (error) {
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) linesRefused.value += 1;
      else keepLine({ productId, variantId, quantity });
    }
  }
}

/** Load who is signed in, and their cart. Raises no error: pages that need the buyer show why there is none. */
export async function loadSession(): Promise<void> {
  if (!hasTokens.value) return;
  sessionError.value = null;
  try {
    [profile.value, cart.value] = await Promise.all([campus.profiles.getCurrent(), campus.carts.get()]);
    await addKeptLines();
  } catch (error) {
    // Signed out in the meantime, or no connection: then it is tried again at the next one.
    sessionError.value = error;
    addEventListener("online", () => void loadSession(), { once: true });
  }
}

/** Sign in. `keep`: stay signed in after the browser is closed. */
export async function signIn(email: string, password: string, keep: boolean): Promise<void> {
  keepTokens(keep);
  await campus.signIn(email, password);
  await loadSession();
}

/** Confirm a new account by the code of its mail, and sign in. */
export async function confirmAddress(email: string, code: string, password: string, keep: boolean): Promise<void> {
  keepTokens(keep);
  await campus.signInWithCode({ email, code, password });
  await loadSession();
}

export async function signOut(): Promise<void> {
  await campus.signOut();
}

// The session can also end on the server, or in another tab.
effect(() => {
  if (!hasTokens.value) {
    profile.value = null;
    cart.value = null;
  }
});
