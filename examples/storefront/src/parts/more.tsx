import type { List } from "../use-list.ts";
import { Problem } from "./problem.tsx";

/** The button for the next page of a list. */
export function More<T>({ of }: { of: List<T> }) {
  return (
    <>
      <Problem error={of.loadMore.error} />
      {of.hasNext && (
        <button type="button" class="quiet more" disabled={of.loadMore.busy} onClick={() => of.loadMore.run()}>
          Show more
        </button>
      )}
    </>
  );
}
