import { computed, effect, signal } from "@preact/signals";
import type { Cart, Profile } from "campus-client";

import { campus } from "./api.ts";
import { hasTokens, keepTokens } from "./tokens.ts";

/** The buyer: null when signed out, undefined until the API has answered. */
export const profile = signal<Profile | null | undefined>(hasTokens.value ? undefined : null);
export const cart = signal<Cart | null>(null);
export const itemCount = computed(() => cart.value?.items.reduce((sum, item) => sum + item.quantity, 0) ?? 0);

/** Load who is signed in, and their cart. Raises no error: pages that need the buyer show why there is none. */
export async function loadSession(): Promise<void> {
  if (!hasTokens.value) return;
  try {
    [profile.value, cart.value] = await Promise.all([campus.profiles.getCurrent(), campus.carts.get()]);
  } catch {
    // Signed out in the meantime, or no connection: then it is tried again at the next one.
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
