export { connect, Resource } from "./connect.js";
export {
  type ClientOptions,
  Connection,
  type KeyedOptions,
  type RequestOptions,
  type RevisionOptions,
} from "./connection.js";
export * from "./errors.js";
export { Campus } from "./generated/campus.js";
export * from "./generated/codes.js";
export * from "./generated/index.js";
export type * as schemas from "./generated/schemas.js";
export type * from "./generated/schemas.js";
export { newIdempotencyKey } from "./idempotency.js";
export type { FullResponse, List, Page, Result } from "./results.js";
export type { StreamEvent, StreamOptions } from "./streams.js";
export { memoryStore, type SessionTokens, type TokenStore } from "./tokens.js";
export { IMAGE_BYTES_MAX, type ImageSource, imageOf, shrinkImage } from "./uploads.js";
export * from "./webhooks.js";
