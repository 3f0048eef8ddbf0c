import type { Tokens } from "./generated/schemas.js";

/** The tokens of a session. A refresh token works once: its successor comes with the next pair. */
export type SessionTokens = Pick<Tokens, "accessToken" | "refreshToken">;

/**
 * Where the tokens are. It is read at each request, so that several clients, tabs or processes share a session.
 * `set(null)` is called when the session has ended.
 */
export interface TokenStore {
  get(): SessionTokens | null | Promise<SessionTokens | null>;
  set(tokens: SessionTokens | null): void | Promise<void>;
}

/** A store in memory: a reload of the page ends the session. */
export function memoryStore(tokens: SessionTokens | null = null): TokenStore {
  return {
    get: () => tokens,
    set: (next) => {
      tokens = next;
    },
  };
}
