import type { Inputs } from "preact/hooks";
import { useState } from "preact/hooks";

import { useAction, useResource, type Action, type Resource } from "./use-resource.ts";

interface CursorPage<T> {
  items: T[];
  hasNext: boolean;
  next: () => PromiseLike<CursorPage<T> | null>;
}

export interface List<T> extends Resource<T[]> {
  /** Whether there are more items than those loaded. */
  hasNext: boolean;
  loadMore: Action<[]>;
}

/** The items of a list by cursor: those of the first page, and of each one that was asked for. */
export function useList<T>(load: (signal: AbortSignal) => PromiseLike<CursorPage<T>>, inputs: Inputs): List<T> {
  const first = useResource(async (signal) => load(signal), inputs);
  const [more, setMore] = useState<{ after?: CursorPage<T>; items: T[]; last?: CursorPage<T> }>({ items: [] });
  // Pages after an earlier first page are of another list.
  const { items, last = first.data } = more.after === first.data ? more : { items: [] };
  const loadMore = useAction(async () => {
    const next = await last?.next();
    if (next && first.data) setMore({ after: first.data, items: [...items, ...next.items], last: next });
  });
  return {
    ...first,
    data: first.data && [...first.data.items, ...items],
    hasNext: last?.hasNext ?? false,
    loadMore,
  };
}
