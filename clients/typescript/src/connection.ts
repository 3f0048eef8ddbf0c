import { ApiError, TimeoutError, TransportError } from "./errors.js";
import type { Tokens, VerifyCodeRequest } from "./generated/schemas.js";
import { newIdempotencyKey } from "./idempotency.js";
import { apiErrorOf } from "./problems.js";
import { isWorthAnotherAttempt, retryDelayMs, sleep } from "./retries.js";
import { memoryStore, type SessionTokens, type TokenStore } from "./tokens.js";

/** How a client reaches the API. */
export interface ClientOptions {
  /** The public address of the gateway, such as `https://api.campus.example`. */
  baseUrl: string;
  /** The API key of a program, in place of a session: it is sent with each request, and `tokens` is not read. */
  apiKey?: string | undefined;
  /** Where the tokens are; in memory by default. */
  tokens?: TokenStore | undefined;
  /**
   * Runs a refresh while no other tab or process with the same session refreshes, for instance under a Web Lock. The store
   * is read inside of it: after another one's refresh, none is sent. Without it, clients of one page take turns only.
   */
  exclusively?: (<T>(refresh: () => Promise<T>) => Promise<T>) | undefined;
  /** The time limit of each attempt in milliseconds; 30,000 by default. */
  timeoutMs?: number | undefined;
  /** The number of further attempts; 2 by default. */
  retries?: number | undefined;
  /** A longer `Retry-After` is not waited for; 20 seconds by default. */
  retryAfterMaxSeconds?: number | undefined;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The `fetch` to use, for instance one with a proxy. */
  fetch?: typeof fetch | undefined;
}

/** The options of every method. */
export interface RequestOptions {
  /** Aborts the request; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** The time limit of each attempt in milliseconds. */
  timeoutMs?: number | undefined;
  /** The number of further attempts. */
  retries?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** The options of a method with an `Idempotency-Key`. */
export interface KeyedOptions extends RequestOptions {
  /** A UUID v4; the same one again gets the same response. A new one for each call by default. */
  idempotencyKey?: string | undefined;
}

/** The options of a method that changes a resource with a revision. */
export interface RevisionOptions extends RequestOptions {
  /** The revision that was read; another present one is `ConcurrencyConflictError`. */
  ifMatch?: number | undefined;
}

/** The options that a method may have. */
type AllOptions = KeyedOptions & RevisionOptions;

/** A request before its options. */
export interface RequestContent {
  query?: object | undefined;
  /** Sent as JSON. */
  body?: unknown;
  form?: FormData | undefined;
  /** Whether the operation accepts an `Idempotency-Key`. */
  isKeyed?: boolean | undefined;
  /** Whether it is sent without tokens. */
  isAnonymous?: boolean | undefined;
  /** Whether visitors may call the operation too: it is sent without tokens when the session has ended. */
  isPublic?: boolean | undefined;
}

/** A response with its whole body. */
export interface Reply {
  status: number;
  headers: Headers;
  body: ArrayBuffer;
}

interface Outgoing {
  method: string;
  url: string;
  headers: Record<string, string>;
  content: string | FormData | null;
  idempotencyKey: string | undefined;
  isRepeatable: boolean;
  retries: number;
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** The body stays open; `signal` ends it. */
  isStream: boolean;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const RETRY_AFTER_SECONDS_MAX = 20;

/** Sends requests: tokens and their refresh, time limits, retries, errors. */
export class Connection {
  readonly #options: ClientOptions;
  readonly #store: TokenStore;
  #renewal: Promise<SessionTokens | null> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#store = options.tokens ?? memoryStore();
  }

  /**
   * Signs in by password and stores the tokens. `mfaRequired`: the account has a second factor; call `stepUp`. With `code`
   * it is shown at once, as the permissions of staff need it.
   */
  async signIn(email: string, password: string, options: RequestOptions & { code?: string } = {}): Promise<Tokens> {
    const { code, ...request } = options;
    const tokens = await this.#startSession("/api/auth/login", { email, password }, true, request);
    return code === undefined ? tokens : this.stepUp(code, undefined, request);
  }

  /** Proves a mail address or a phone number by the code that was sent to it, and stores the tokens. */
  signInWithCode(body: VerifyCodeRequest, options?: RequestOptions): Promise<Tokens> {
    return this.#startSession("/api/auth/otp/verify", body, true, options);
  }

  /** Shows the second factor, or a recovery code, and stores the new tokens. */
  stepUp(code: string, factorId?: string, options?: RequestOptions): Promise<Tokens> {
    return this.#startSession("/api/auth/mfa/verify", { code, factorId }, false, options);
  }

  /** Ends the session on the server and removes the tokens; removes them also when the server is not reached. */
  async signOut(options?: RequestOptions): Promise<void> {
    try {
      if ((await this.getTokens()) !== null) await this.send("POST", "/api/auth/logout", {}, options);
    } catch (error) {
      // The session has ended before.
      if (!isUnauthorized(error)) throw error;
    } finally {
      await this.setTokens(null);
    }
  }

  /** The tokens of the session; null without one. */
  async getTokens(): Promise<SessionTokens | null> {
    return this.#store.get();
  }

  /** Continues a session from elsewhere, such as a passkey's; null forgets the present one. */
  async setTokens(tokens: SessionTokens | null): Promise<void> {
    await this.#store.set(tokens && { accessToken: tokens.accessToken, refreshToken: tokens.refreshToken });
  }

  /**
   * Sends a request to any path and returns its response, whose body has been received. Tokens, time limits and retries
   * are those of every method.
   */
  async request(
    method: string,
    path: string,
    options: KeyedOptions & Pick<RequestContent, "query" | "body"> = {},
  ): Promise<Response> {
    const { query, body } = options;
    const reply = await this.send(
      method,
      path,
      { query, body, isKeyed: options.idempotencyKey !== undefined },
      options,
    );
    const { status, headers } = reply;
    return new Response(reply.body.byteLength === 0 ? null : reply.body, { status, headers });
  }

  /**
   * Sends a request and returns the reply of a success.
   * @internal
   */
  send(method: string, path: string, content: RequestContent, options: AllOptions = {}): Promise<Reply> {
    const receive = async (response: Response): Promise<Reply> => {
      const { status, headers } = response;
      return { status, headers, body: await response.arrayBuffer() };
    };
    return this.#authorized(this.#outgoing(method, path, content, options, false), content, receive);
  }

  /**
   * Sends a request and returns the response of a success before its body. `signal` ends the body.
   * @internal
   */
  open(method: string, path: string, content: RequestContent, options: AllOptions): Promise<Response> {
    const outgoing = this.#outgoing(method, path, content, options, true);
    return this.#authorized(outgoing, content, (response) => Promise.resolve(response));
  }

  async #startSession(
    path: string,
    body: object,
    isAnonymous: boolean,
    options: RequestOptions | undefined,
  ): Promise<Tokens> {
    const reply = await this.send("POST", path, { body, isAnonymous }, options);
    const { data } = jsonOf(reply) as { data: Tokens };
    await this.setTokens(data);
    return data;
  }

  #outgoing(
    method: string,
    path: string,
    { query, body, form, isKeyed = false }: RequestContent,
    options: AllOptions,
    isStream: boolean,
  ): Outgoing {
    const { baseUrl, headers, timeoutMs = TIMEOUT_MS, retries = RETRIES } = this.#options;
    const { ifMatch } = options;
    const idempotencyKey = isKeyed ? (options.idempotencyKey ?? newIdempotencyKey()) : undefined;
    const hasBody = body !== undefined;
    return {
      method,
      url: baseUrl.replace(/\/+$/, "") + path + searchOf(query),
      headers: {
        ...headers,
        ...(hasBody && { "Content-Type": "application/json" }),
        ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
        ...(ifMatch !== undefined && { "If-Match": `"${String(ifMatch)}"` }),
        ...options.headers,
      },
      content: hasBody ? JSON.stringify(body) : (form ?? null),
      idempotencyKey,
      isRepeatable: method === "GET" || isKeyed || ((method === "PUT" || method === "DELETE") && ifMatch === undefined),
      retries: options.retries ?? retries,
      timeoutMs: options.timeoutMs ?? timeoutMs,
      signal: options.signal,
      isStream,
    };
  }

  /** Sends with the session's tokens. After a 401 they are refreshed and the request is repeated, once. */
  async #authorized<T>(
    outgoing: Outgoing,
    { isAnonymous = false, isPublic = false }: RequestContent,
    receive: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { apiKey } = this.#options;
    if (apiKey !== undefined) {
      return this.#attempts(outgoing, isAnonymous ? null : { accessToken: apiKey, refreshToken: "" }, receive);
    }
    const used = isAnonymous ? null : await this.getTokens();
    try {
      return await this.#attempts(outgoing, used, receive);
    } catch (error) {
      if (used === null || !isUnauthorized(error)) throw error;
      const renewed = await this.#renewed(used).catch((refusal: unknown) => {
        if (isPublic && isUnauthorized(refusal)) return null;
        throw refusal;
      });
      // Another user has signed in meanwhile: the request was not theirs.
      const isOther = renewed !== null && subjectOf(renewed) !== subjectOf(used);
      if (isOther || (renewed === null && !isPublic)) throw error;
      return await this.#attempts(outgoing, renewed, receive);
    }
  }

  /** Other tokens than the refused ones; null when the session has ended. Of many calls at once, one refreshes. */
  async #renewed(used: SessionTokens): Promise<SessionTokens | null> {
    const tokens = await this.#renewal;
    if (tokens && tokens.accessToken !== used.accessToken) return tokens;
    const { exclusively = (refresh) => refresh() } = this.#options;
    this.#renewal ??= exclusively(() => this.#renew(used)).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renew(used: SessionTokens): Promise<SessionTokens | null> {
    const stored = await this.getTokens();
    // Another call, tab or process was first.
    if (stored?.accessToken !== used.accessToken) return stored;
    try {
      const body = { refreshToken: stored.refreshToken };
      const outgoing = this.#outgoing("POST", "/api/auth/refresh", { body, isAnonymous: true }, {}, false);
      // The token before the present one is accepted for some seconds: a lost response does not end the session.
      outgoing.isRepeatable = true;
      const { data } = await this.#attempts(
        outgoing,
        null,
        async (response) => (await response.json()) as { data: Tokens },
      );
      await this.#replaceTokens(used, data);
      return data;
    } catch (error) {
      if (isUnauthorized(error)) await this.#replaceTokens(used, null);
      throw error;
    }
  }

  /** Stores the successor of a pair, unless the session was replaced or ended during the refresh. */
  async #replaceTokens(used: SessionTokens, next: SessionTokens | null): Promise<void> {
    if ((await this.getTokens())?.refreshToken === used.refreshToken) await this.setTokens(next);
  }

  async #attempts<T>(
    outgoing: Outgoing,
    tokens: SessionTokens | null,
    receive: (response: Response) => Promise<T>,
  ): Promise<T> {
    const retryAfterMaxSeconds = this.#options.retryAfterMaxSeconds ?? RETRY_AFTER_SECONDS_MAX;
    for (let failures = 1; ; failures++) {
      try {
        return await this.#attempt(outgoing, tokens, receive);
      } catch (error) {
        if (!(error instanceof ApiError || error instanceof TransportError)) throw error;
        error.idempotencyKey = outgoing.idempotencyKey;
        const { status, retryAfterSeconds } = error instanceof ApiError ? error : {};
        const isOver = failures > outgoing.retries || (retryAfterSeconds ?? 0) > retryAfterMaxSeconds;
        if (isOver || !isWorthAnotherAttempt(outgoing, status, retryAfterSeconds)) throw error;
        await sleep(retryDelayMs(failures, retryAfterSeconds), outgoing.signal);
      }
    }
  }

  async #attempt<T>(
    { method, url, headers, content, signal, timeoutMs, isStream }: Outgoing,
    tokens: SessionTokens | null,
    receive: (response: Response) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const send = this.#options.fetch ?? fetch;
    const controller = new AbortController();
    const abort = (): void => {
      controller.abort(signal?.reason);
    };
    const timer = setTimeout(() => {
      controller.abort(new TimeoutError(`${method} ${url}: no response within ${String(timeoutMs)} ms.`));
    }, timeoutMs);
    signal?.addEventListener("abort", abort, { once: true });
    let isOpen = false;
    try {
      const response = await send(url, {
        method,
        headers: tokens === null ? headers : { ...headers, Authorization: `Bearer ${tokens.accessToken}` },
        body: content,
        signal: controller.signal,
        // Tokens travel in a header; cookies of the page are not the API's.
        credentials: "omit",
      });
      if (!response.ok) throw apiErrorOf(response.status, response.headers, await response.text());
      const received = await receive(response);
      isOpen = isStream;
      return received;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      signal?.throwIfAborted();
      if (controller.signal.reason instanceof TimeoutError) throw controller.signal.reason;
      throw new TransportError(`${method} ${url}: ${messageOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
      if (!isOpen) signal?.removeEventListener("abort", abort);
    }
  }
}

/**
 * The JSON of a reply. Throws TransportError for a body that is none, such as a proxy's page.
 * @internal
 */
export function jsonOf(reply: Reply): unknown {
  const text = new TextDecoder().decode(reply.body);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TransportError(`The response is not JSON: ${text.slice(0, 100)}`, { cause });
  }
}

/**
 * A part of a path. Throws TypeError for a text that would lead to another path.
 * @internal
 */
export function segment(value: string): string {
  if (value === "" || value === "." || value === "..") throw new TypeError(`"${value}" is not an id.`);
  return encodeURIComponent(value);
}

function searchOf(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) search.append(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

/** The user of an access token, a JWT; undefined for another token. */
function subjectOf({ accessToken }: SessionTokens): unknown {
  try {
    const payload = accessToken.split(".")[1] ?? "";
    return (JSON.parse(atob(payload.replace(/-/g, "+").replace(/_/g, "/"))) as { sub?: unknown }).sub;
  } catch {
    return undefined;
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

function messageOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  return cause instanceof Error && cause.message !== "" ? `${message} (${cause.message})` : message;
}
