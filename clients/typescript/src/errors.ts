import type { Problem, ProblemCode } from "./generated/schemas.js";

/** The base class of every error of this package. */
export class CampusError extends Error {
  // Written out: a minifier renames the class.
  override readonly name: string = "CampusError";
}

/** No usable response: network, DNS, CORS, or a body that broke off. The request may have had its effect. */
export class TransportError extends CampusError {
  override readonly name: string = "TransportError";
  /** The key of the request, where it had one: pass it to repeat the same operation. */
  idempotencyKey: string | undefined;
}

/** No complete response within `timeoutMs`. */
export class TimeoutError extends TransportError {
  override readonly name: string = "TimeoutError";
}

/** The signature, the time or the form of a webhook is wrong. */
export class WebhookVerificationError extends CampusError {
  override readonly name: string = "WebhookVerificationError";
}

/** The file is not an image that the API accepts; nothing was sent. */
export class UploadError extends CampusError {
  override readonly name: string = "UploadError";
}

/** The API rejected the request. There is a subclass for each code. */
export class ApiError extends CampusError {
  override readonly name: string = "ApiError";
  readonly status: number;
  /** The code of the contract; empty for a response that is no problem document, such as a proxy's. */
  readonly code: ProblemCode | "";
  readonly title: string;
  readonly detail: string;
  /** The invalid fields and parameters of a `VALIDATION_FAILED`. */
  readonly invalidParams: readonly { name: string; reason: string }[];
  /** The id that the operators find the request by. */
  readonly requestId: string;
  /** The seconds of `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** The whole problem document, with the members of its code. */
  readonly problem: Partial<Problem>;
  readonly headers: Headers;
  /** The key of the request, where it had one: pass it to repeat the same operation. */
  idempotencyKey: string | undefined;

  constructor(status: number, headers: Headers, problem: Partial<Problem>) {
    super([status, problem.code, problem.detail ?? problem.title].filter(Boolean).join(" "));
    this.status = status;
    this.headers = headers;
    this.problem = problem;
    this.code = problem.code ?? "";
    this.title = problem.title ?? "";
    this.detail = problem.detail ?? "";
    this.invalidParams = problem.invalid_params ?? [];
    this.requestId = problem.requestId ?? headers.get("X-Request-Id") ?? "";
    this.retryAfterSeconds = retryAfterSecondsOf(headers);
  }
}

/** The seconds of `Retry-After`, which is a number or a date. */
function retryAfterSecondsOf(headers: Headers): number | undefined {
  const value = headers.get("Retry-After");
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
