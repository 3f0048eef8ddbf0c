import { TransportError } from "./errors.js";

/** An event as it was sent. Its data is empty for a block that only sets the id or the delay. */
export interface RawEvent {
  event: string;
  data: string;
  /** The last id of the stream. */
  id: string;
  /** The milliseconds before a reconnection, where the block names them. */
  retryMs: number | undefined;
}

// An event of the API has some kilobytes; what is longer is no event stream.
const EVENT_CHARACTERS_MAX = 1_048_576;

/** Parses `text/event-stream` from chunks of any size. An event that broke off in the middle is never returned. */
export class EventParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id = "";
  #isIdSet = false;
  #retryMs: number | undefined;
  #characters = 0;

  /** The events that the chunk completes. Throws TransportError for an event of more than 1 MiB. */
  push(chunk: Uint8Array): RawEvent[] {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    // A final CR may be the first half of a CRLF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    const events = lines.map((line) => this.#line(line)).filter((event) => event !== undefined);
    if (this.#characters + this.#rest.length > EVENT_CHARACTERS_MAX) throw new TransportError("The event is too long.");
    return events;
  }

  #line(line: string): RawEvent | undefined {
    if (line === "") return this.#dispatch();
    this.#characters += line.length;
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) {
      this.#id = value;
      this.#isIdSet = true;
    } else if (name === "retry" && /^\d+$/.test(value)) this.#retryMs = Number(value);
    return undefined;
  }

  #dispatch(): RawEvent | undefined {
    const hasContent = this.#data.length > 0 || this.#isIdSet || this.#retryMs !== undefined;
    const event = {
      event: this.#event || "message",
      data: this.#data.join("\n"),
      id: this.#id,
      retryMs: this.#retryMs,
    };
    this.#event = "";
    this.#data = [];
    this.#isIdSet = false;
    this.#retryMs = undefined;
    this.#characters = 0;
    return hasContent ? event : undefined;
  }
}
