import { signal } from "@preact/signals";
import type { SessionTokens, TokenStore } from "campus-client";

const NAME = "quad.tokens";
const KEEP = "quad.keep";
const GENERATION = "quad.generation";
/** Another tab answers in a few milliseconds, unless there is none. */
const ANSWER_MS_MAX = 250;

/** A tab asks for the latest tokens of a session, or sends its own: null after the sign-out. */
interface Message {
  sessionId: string;
  generation: number;
  tokens?: SessionTokens | null;
}

const tabs = "BroadcastChannel" in globalThis ? new BroadcastChannel(NAME) : null;

/** Whether this browser has a session. It may have ended on the server. */
export const hasTokens = signal(stored() !== null);

function stored(): string | null {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
}

function get(): SessionTokens | null {
  return JSON.parse(stored() ?? "null");
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
  get,
  set: (next) => {
    const message: Message = { sessionId: sessionOf(next ?? get()), generation: generation() + 1, tokens: next };
    store(next, message.generation);
    tabs?.postMessage(message);
  },
};

/**
 * Runs a refresh in one tab at a time. A duplicated tab has a copy of the tokens, and a refresh token works once: the tab
 * first asks the others for a later pair. Without Web Locks, as on a page without https, two tabs may refresh at once; the
 * API returns the same pair to both within 30 seconds.
 */
export async function exclusively<T>(refresh: () => Promise<T>): Promise<T> {
  const run = async (): Promise<T> => {
    // Tokens in localStorage are the same for all tabs.
    if (sessionStorage.getItem(NAME) !== null) await adoptLaterTokens();
    return refresh();
  };
  return "locks" in navigator ? navigator.locks.request("quad.refresh", run) : run();
}

/** How often the tokens of this tab were replaced. Of two pairs of a session, that of the later generation is valid. */
function generation(): number {
  return Number(sessionStorage.getItem(GENERATION));
}

function store(next: SessionTokens | null, nextGeneration: number): void {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
  if (next) {
    sessionStorage.setItem(GENERATION, String(nextGeneration));
    (localStorage.getItem(KEEP) ? localStorage : sessionStorage).setItem(NAME, JSON.stringify(next));
  } else {
    sessionStorage.removeItem(GENERATION);
    localStorage.removeItem(KEEP);
  }
  hasTokens.value = next !== null;
}

/** The session of an access token, a JWT; empty without one. */
function sessionOf(pair: SessionTokens | null): string {
  const payload = pair?.accessToken.split(".")[1];
  return payload ? JSON.parse(atob(payload.replace(/-/g, "+").replace(/_/g, "/"))).session_id : "";
}

async function adoptLaterTokens(): Promise<void> {
  if (!tabs) return;
  const [own, waiting] = [generation(), new AbortController()];
  await new Promise<void>((resolve) => {
    const resolveIfLater = (): void => {
      if (generation() > own) resolve();
    };
    tabs.addEventListener("message", resolveIfLater, { signal: waiting.signal });
    tabs.postMessage({ sessionId: sessionOf(get()), generation: own } satisfies Message);
    setTimeout(resolve, ANSWER_MS_MAX);
  });
  waiting.abort();
}

tabs?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  const own: Message = { sessionId: sessionOf(get()), generation: generation(), tokens: get() };
  if (!own.sessionId || data.sessionId !== own.sessionId) return;
  if (data.tokens !== undefined && data.generation > own.generation) store(data.tokens, data.generation);
  if (data.tokens === undefined && data.generation < own.generation) tabs.postMessage(own);
});

// Another tab signed in or out.
addEventListener("storage", (event) => {
  if (event.key === NAME || event.key === null) hasTokens.value = stored() !== null;
});
