import type { ComponentChildren } from "preact";

import type { Resource } from "../use-resource.ts";
import { Problem } from "./problem.tsx";

/** The content of a resource; until it is here a line that says so, or the error with a button to try again. */
export function Loaded<T>({
  from,
  children,
}: {
  from: Resource<T>;
  children: (data: NonNullable<T>) => ComponentChildren;
}) {
  if (from.data === undefined || from.data === null) {
    return from.error === null ? (
      <p class="loading" role="status">
        Loading …
      </p>
    ) : (
      <Problem error={from.error} retry={from.reload} />
    );
  }
  return (
    <>
      <Problem error={from.error} retry={from.reload} />
      {children(from.data)}
    </>
  );
}

/** Where a list would be. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
