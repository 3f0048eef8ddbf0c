import { signal } from "@preact/signals";
import type { TokenStore } from "campus-client";

const NAME = "quad.tokens";
const KEEP = "quad.keep";

/** Whether this browser has a session. It may have ended on the server. */
export const hasTokens = signal(stored() !== null);

function stored(): string | null {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
}

/** Keep the tokens of the next sign-in after the browser is closed, or only until this tab is. */
export function keepTokens(keep: boolean): void {
  if (keep) localStorage.setItem(KEEP, "1");
  else localStorage.removeItem(KEEP);
}

/**
 * The client's store of tokens. They have to outlive the page, since the buyer leaves it for the payment page. It is read at
 * each request, so that tabs share one session.
 */
export const tokens: TokenStore = {
  get: () => JSON.parse(stored() ?? "null"),
  set: (next) => {
    sessionStorage.removeItem(NAME);
    localStorage.removeItem(NAME);
    if (next) (localStorage.getItem(KEEP) ? localStorage : sessionStorage).setItem(NAME, JSON.stringify(next));
    else localStorage.removeItem(KEEP);
    hasTokens.value = next !== null;
  },
};

// Another tab signed in or out.
addEventListener("storage", (event) => {
  if (event.key === NAME || event.key === null) hasTokens.value = stored() !== null;
});
