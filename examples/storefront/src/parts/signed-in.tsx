import type { Profile } from "campus-client";
import type { ComponentChildren } from "preact";
import { useLocation } from "preact-iso";

import { loadSession, profile, sessionError } from "../session.ts";
import { Empty } from "./loading.tsx";
import { Problem } from "./problem.tsx";

/** Content for a signed-in buyer; the others are asked to sign in and return to this page. */
export function SignedIn({ children }: { children: (buyer: Profile) => ComponentChildren }) {
  const { url } = useLocation();
  const buyer = profile.value;
  if (buyer) return <>{children(buyer)}</>;
  if (buyer === undefined && sessionError.value !== null) {
    return <Problem error={sessionError.value} retry={() => void loadSession()} />;
  }
  if (buyer === undefined) {
    return (
      <p class="loading" role="status">
        {navigator.onLine ? "Loading …" : "You are offline. This page loads as soon as you are connected."}
      </p>
    );
  }
  return (
    <Empty title="Sign in to continue">
      <p>Your cart, orders and delivery PINs are in your account.</p>
      <a class="button" href={`/sign-in?next=${encodeURIComponent(url)}`}>
        Sign in
      </a>
      <a href={`/sign-up?next=${encodeURIComponent(url)}`}>Create an account</a>
    </Empty>
  );
}

/** The page to open after the sign-in: a path of this application only, never another site. */
export function nextPath(query: Record<string, string>): string {
  const next = query["next"] ?? "/";
  return new URL(next, location.origin).origin === location.origin && next.startsWith("/") ? next : "/";
}
