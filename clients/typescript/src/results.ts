import { type Connection, jsonOf, type KeyedOptions, type Reply, type RequestContent } from "./connection.js";
import type { Meta } from "./generated/schemas.js";

/** A response with its envelope and headers. */
export interface FullResponse<Data, MetaOf = Meta> {
  data: Data;
  meta: MetaOf;
  status: number;
  headers: Headers;
}

/** The result of a method: a promise of the envelope's `data`. The request is sent at once. */
export class Result<Data, MetaOf = Meta> extends Promise<Data> {
  readonly #full: Promise<FullResponse<Data, MetaOf>>;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(full: Promise<FullResponse<Data, MetaOf>>) {
    // The promise itself stays unsettled: `then` leads to the response, so that a rejection is handled once.
    super(() => {});
    this.#full = full;
  }

  /** The response with `meta`, status and headers. */
  withResponse(): Promise<FullResponse<Data, MetaOf>> {
    return this.#full;
  }

  override then<A = Data, B = never>(
    onfulfilled?: ((data: Data) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#full.then(({ data }) => data).then(onfulfilled, onrejected);
  }
}

/** One page of a list. */
export class Page<Item, MetaOf> {
  readonly items: Item[];
  readonly meta: MetaOf;
  readonly #next: (() => List<Item, MetaOf>) | undefined;

  constructor(items: Item[], meta: MetaOf, next: (() => List<Item, MetaOf>) | undefined) {
    this.items = items;
    this.meta = meta;
    this.#next = next;
  }

  get hasNext(): boolean {
    return this.#next !== undefined;
  }

  /** The next page; null after the last. */
  async next(): Promise<Page<Item, MetaOf> | null> {
    return this.#next === undefined ? null : await this.#next();
  }
}

/** The result of a list: a promise of its first page, and an iterable over the items of all pages. */
export class List<Item, MetaOf> extends Result<Page<Item, MetaOf>, MetaOf> implements AsyncIterable<Item> {
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let page: Page<Item, MetaOf> | null = await this; page !== null; page = await page.next()) yield* page.items;
  }
}

/** The `data` of an envelope. */
export function data<Data, MetaOf = Meta>(
  connection: Connection,
  method: string,
  path: string,
  content: RequestContent = {},
  options?: KeyedOptions,
): Result<Data, MetaOf> {
  return dataOf(connection.send(method, path, content, options));
}

/** The `data` of a reply's envelope. */
export function dataOf<Data, MetaOf = Meta>(reply: Promise<Reply>): Result<Data, MetaOf> {
  return resultOf(reply, (received) => jsonOf(received) as Envelope<Data, MetaOf>);
}

/** The page of a list with cursors or page numbers. */
export function list<Item, MetaOf extends CursorPosition | OffsetPosition>(
  connection: Connection,
  path: string,
  content: RequestContent,
  options: KeyedOptions | undefined,
): List<Item, MetaOf> {
  const pageOf = (reply: Reply): Envelope<Page<Item, MetaOf>, MetaOf> => {
    const { data: items, meta } = jsonOf(reply) as Envelope<Item[], MetaOf>;
    const following = followingOf(meta);
    const next =
      following &&
      (() => list<Item, MetaOf>(connection, path, { ...content, query: { ...content.query, ...following } }, options));
    return { data: new Page(items, meta, next), meta };
  };
  return new List(fullOf(connection.send("GET", path, content, options), pageOf));
}

/** A text, such as CSV. */
export function text(
  connection: Connection,
  path: string,
  content: RequestContent,
  options: KeyedOptions | undefined,
): Result<string, undefined> {
  return resultOf(connection.send("GET", path, content, options), ({ body }) => ({
    data: new TextDecoder().decode(body),
    meta: undefined,
  }));
}

/** A file with its media type. */
export function file(
  connection: Connection,
  path: string,
  content: RequestContent,
  options: KeyedOptions | undefined,
): Result<Blob, undefined> {
  return resultOf(connection.send("GET", path, content, options), ({ body, headers }) => ({
    data: new Blob([body], { type: headers.get("Content-Type") ?? "" }),
    meta: undefined,
  }));
}

/** JSON without an envelope. */
export function json<Data>(
  connection: Connection,
  path: string,
  content: RequestContent,
  options: KeyedOptions | undefined,
): Result<Data, undefined> {
  return resultOf(connection.send("GET", path, content, options), (reply) => ({
    data: jsonOf(reply) as Data,
    meta: undefined,
  }));
}

/** A response without content. */
export function nothing(
  connection: Connection,
  method: string,
  path: string,
  content: RequestContent = {},
  options?: KeyedOptions,
): Result<void, undefined> {
  return resultOf(connection.send(method, path, content, options), () => ({ data: undefined, meta: undefined }));
}

interface Envelope<Data, MetaOf> {
  data: Data;
  meta: MetaOf;
}

interface CursorPosition {
  next_cursor: string | null;
}

interface OffsetPosition {
  page: number;
  total_pages: number;
}

function followingOf(meta: CursorPosition | OffsetPosition): { cursor: string } | { page: number } | undefined {
  if ("page" in meta) return meta.page < meta.total_pages ? { page: meta.page + 1 } : undefined;
  return meta.next_cursor === null ? undefined : { cursor: meta.next_cursor };
}

function resultOf<Data, MetaOf>(
  reply: Promise<Reply>,
  envelopeOf: (reply: Reply) => Envelope<Data, MetaOf>,
): Result<Data, MetaOf> {
  return new Result(fullOf(reply, envelopeOf));
}

async function fullOf<Data, MetaOf>(
  reply: Promise<Reply>,
  envelopeOf: (reply: Reply) => Envelope<Data, MetaOf>,
): Promise<FullResponse<Data, MetaOf>> {
  const received = await reply;
  const { data, meta } = envelopeOf(received);
  return { data, meta, status: received.status, headers: received.headers };
}
