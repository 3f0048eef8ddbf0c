import { ApiError } from "./errors.js";
import { CLASSES_BY_CODE } from "./generated/codes.js";
import type { Problem } from "./generated/schemas.js";

/** The error of a response: the class of its code, or `ApiError` for a response that is no problem document. */
export function apiErrorOf(status: number, headers: Headers, text: string): ApiError {
  let problem: Partial<Problem>;
  try {
    const parsed: unknown = JSON.parse(text);
    problem = typeof parsed === "object" && parsed !== null ? parsed : { detail: text.slice(0, 300) };
  } catch {
    problem = { detail: text.slice(0, 300) };
  }
  const classes: Partial<Record<string, typeof ApiError>> = CLASSES_BY_CODE;
  const Class = classes[problem.code ?? ""] ?? ApiError;
  return new Class(status, headers, problem);
}
