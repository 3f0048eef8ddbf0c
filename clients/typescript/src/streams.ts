import type { Connection, RequestOptions } from "./connection.js";
import { ApiError, TransportError } from "./errors.js";
import { apiErrorOf } from "./problems.js";
import { isWorthAnotherAttempt, retryDelayMs, sleep } from "./retries.js";
import { EventParser, type RawEvent } from "./sse.js";

/** An event of a stream with its parsed data. */
export interface StreamEvent<Name extends string, Data> {
  event: Name;
  data: Data;
  /** The id that `lastEventId` continues after; empty without one. */
  id: string;
}

/** The options of a stream that is continued after an interruption. */
export interface StreamOptions extends RequestOptions {
  /** The stream starts after this event; without it, with the next new one. */
  lastEventId?: string | undefined;
  /** Called at each connection: what was read before may have changed meanwhile. */
  onOpen?: (() => void) | undefined;
  /** Called when a connection has ended, before the next one is tried; with the error, unless the server ended it. */
  onInterrupt?: ((error: ApiError | TransportError | undefined) => void) | undefined;
  /** A connection without a byte for this time is replaced; 60,000 milliseconds by default. */
  idleTimeoutMs?: number | undefined;
}

const IDLE_TIMEOUT_MS = 60_000;
// The delays grow with the failures, up to 8 s.
const FAILURES_COUNTED_MAX = 6;

/** Yields the events of a stream, and reconnects with the id of the last event until the caller ends it. */
export async function* follow<Event extends StreamEvent<string, unknown>>(
  connection: Connection,
  path: string,
  options: StreamOptions = {},
): AsyncGenerator<Event, void, undefined> {
  let lastEventId = options.lastEventId ?? "";
  let reconnectMs = 0;
  for (let failures = 0; ; ) {
    try {
      const headers = { ...options.headers, ...(lastEventId !== "" && { "Last-Event-ID": lastEventId }) };
      for await (const event of eventsOf(connection, "GET", path, undefined, { ...options, headers })) {
        failures = 0;
        lastEventId = event.id || lastEventId;
        reconnectMs = event.retryMs ?? reconnectMs;
        if (event.data !== "") yield parsed<Event>(event);
      }
      options.onInterrupt?.(undefined);
      // The server has ended the stream, as it does when a token expires or a process stops. All its clients reconnect.
      await sleep(reconnectMs * Math.random(), options.signal);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof ApiError || error instanceof TransportError)) throw error;
      const { status, retryAfterSeconds } = error instanceof ApiError ? error : {};
      if (!isWorthAnotherAttempt({ isRepeatable: true, idempotencyKey: undefined }, status, retryAfterSeconds))
        throw error;
      options.onInterrupt?.(error);
      failures = Math.min(failures + 1, FAILURES_COUNTED_MAX);
      await sleep(retryDelayMs(failures, retryAfterSeconds), options.signal);
    }
  }
}

/** Yields the events of one response to a POST, which is never repeated. An event `error` is thrown as ApiError. */
export async function* readOnce<Event extends StreamEvent<string, unknown>>(
  connection: Connection,
  path: string,
  body: unknown,
  options: RequestOptions = {},
): AsyncGenerator<Event, void, undefined> {
  for await (const event of eventsOf(connection, "POST", path, body, options)) {
    if (event.event === "error") throw apiErrorOf(statusOf(event.data), new Headers(), event.data);
    if (event.data !== "") yield parsed<Event>(event);
  }
}

async function* eventsOf(
  connection: Connection,
  method: string,
  path: string,
  body: unknown,
  options: StreamOptions,
): AsyncGenerator<RawEvent, void, undefined> {
  const { signal, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const closing = new AbortController();
  const abort = (): void => {
    closing.abort(signal?.reason);
  };
  signal?.throwIfAborted();
  signal?.addEventListener("abort", abort, { once: true });
  let idle: ReturnType<typeof setTimeout> | undefined;
  try {
    const headers = { Accept: "text/event-stream", ...options.headers };
    const response = await connection.open(
      method,
      path,
      { body },
      { ...options, headers, signal: closing.signal, retries: 0 },
    );
    if (response.body === null) throw new TransportError(`${method} ${path}: the stream has no body.`);
    options.onOpen?.();
    const reader = response.body.getReader();
    const parser = new EventParser();
    for (;;) {
      idle = setTimeout(() => {
        closing.abort(new TransportError(`${method} ${path}: no byte within ${String(idleTimeoutMs)} ms.`));
      }, idleTimeoutMs);
      const chunk = await reader.read();
      clearTimeout(idle);
      if (chunk.done) return;
      yield* parser.push(chunk.value);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ApiError || error instanceof TransportError) throw error;
    if (closing.signal.reason instanceof TransportError) throw closing.signal.reason;
    throw new TransportError(`${method} ${path}: the stream broke off.`, { cause: error });
  } finally {
    clearTimeout(idle);
    signal?.removeEventListener("abort", abort);
    closing.abort();
  }
}

function parsed<Event extends StreamEvent<string, unknown>>({ event, data, id }: RawEvent): Event {
  return { event, data: JSON.parse(data) as unknown, id } as Event;
}

function statusOf(data: string): number {
  const { status } = JSON.parse(data) as { status?: number };
  return status ?? 500;
}
