import { newIdempotencyKey } from "campus-client";
import { useRef } from "preact/hooks";

/**
 * The Idempotency-Key of a form: the same one for the same content, so that a second press after a lost answer has no second
 * effect. Another content gets another key.
 */
export function useKey(): (content: object) => string {
  const last = useRef({ text: "", key: "" });
  return (content) => {
    const text = JSON.stringify(content);
    if (text !== last.current.text) last.current = { text, key: newIdempotencyKey() };
    return last.current.key;
  };
}
