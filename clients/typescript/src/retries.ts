const BASE_MS = 300;
const BACKOFF_MS_MAX = 8_000;

/**
 * Whether a failed request is worth another attempt. `isRepeatable`: a second execution has no second effect. No status:
 * there was no response.
 */
export function isWorthAnotherAttempt(
  request: { isRepeatable: boolean; idempotencyKey: string | undefined },
  status: number | undefined,
  retryAfterSeconds: number | undefined,
): boolean {
  // A request over its quota was not executed.
  if (status === 429) return true;
  // The first attempt, whose response was lost, is still in progress under this key.
  if (status === 409) return request.idempotencyKey !== undefined && retryAfterSeconds !== undefined;
  return request.isRepeatable && (status === undefined || status === 502 || status === 503 || status === 504);
}

/**
 * The milliseconds before the next attempt; `failures` is 1 after the first. Never less than `retryAfterSeconds`. The
 * jitter keeps clients apart that failed at the same time.
 */
export function retryDelayMs(failures: number, retryAfterSeconds: number | undefined, random = Math.random()): number {
  const backoff = Math.min(BASE_MS * 2 ** (failures - 1), BACKOFF_MS_MAX);
  return retryAfterSeconds === undefined ? backoff * (0.5 + random / 2) : retryAfterSeconds * 1000 + backoff * random;
}

/** Waits. Rejects with the signal's reason when it is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
