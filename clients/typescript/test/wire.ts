// A server that speaks the wire of the gateway, and records what it receives.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

export interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export type Handler = (request: Received, response: ServerResponse) => unknown;

export interface Wire {
  url: string;
  received: Received[];
  /** Handlers of the next requests, in order; the last one stays. */
  answer(...handlers: Handler[]): void;
}

/** A server for the tests of one file. */
export async function startWire(): Promise<Wire> {
  let handlers: Handler[] = [];
  const wire: Wire = {
    url: "",
    received: [],
    answer: (...next) => {
      handlers = next;
      wire.received.length = 0;
    },
  };
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then(async (body) => {
      const received = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
      wire.received.push(received);
      const handler = handlers.length > 1 ? handlers.shift() : handlers[0];
      if (handler === undefined) throw new Error(`no handler for ${received.url}`);
      await handler(received, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  wire.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return wire;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function ok(data: unknown, meta: object = {}): Handler {
  return (_, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ success: true, data, meta: { version: "v1", requestId: "req_1", ...meta } }));
  };
}

export function problem(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  more: object = {},
): Handler {
  return (request, response) => {
    const document = { title: code, status, code, detail: `It is ${code}.`, instance: request.url, invalid_params: [] };
    response.writeHead(status, { "Content-Type": "application/problem+json", ...headers });
    response.end(JSON.stringify({ ...document, requestId: "req_2", ...more }));
  };
}

/** The request arrives and may have its effect; its response never does. */
export const lost: Handler = (_, response) => {
  response.destroy();
};

/** No response at all, until the client gives up. */
export const silent: Handler = () => {};

export function tokens(name: string): { accessToken: string; refreshToken: string } {
  return { accessToken: `access-${name}`, refreshToken: `refresh-${name}` };
}

/** A promise, and the function that resolves it. */
export function latch(): { reached: Promise<void>; reach: () => void } {
  let reach = (): void => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, reach };
}
