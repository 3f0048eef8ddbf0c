import { ApiError, newIdempotencyKey } from "campus-client";

/**
 * Send a request under a key that outlives the page: after a lost answer, the same request has the same key and one effect.
 * Another content gets another key. A final answer ends the key.
 */
export async function withKeptKey<T>(name: string, content: unknown, send: (key: string) => Promise<T>): Promise<T> {
  const text = JSON.stringify(content);
  const kept = JSON.parse(sessionStorage.getItem(name) ?? "null") as { text: string; key: string } | null;
  const key = kept?.text === text ? kept.key : newIdempotencyKey();
  sessionStorage.setItem(name, JSON.stringify({ text, key }));
  try {
    const result = await send(key);
    sessionStorage.removeItem(name);
    return result;
  } catch (error) {
    if (isFinal(error)) sessionStorage.removeItem(name);
    throw error;
  }
}

/** Whether the API rejected the request for good. Without an answer, after 5xx and while the key is in progress it may still take effect. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 409 && error.status !== 429;
}
