import type { ComponentChildren } from "preact";

import type { List } from "../use-list.ts";
import { Loaded } from "./loading.tsx";
import { More } from "./more.tsx";

/** The loaded items of a list and the button for more of them; `empty` where there is none. */
export function Items<T>({
  of,
  style,
  empty,
  children,
}: {
  of: List<T>;
  style: string;
  empty: ComponentChildren;
  children: (item: T) => ComponentChildren;
}) {
  return (
    <Loaded from={of}>
      {(items) =>
        items.length === 0 ? (
          <>{empty}</>
        ) : (
          <>
            <ul class={style}>{items.map(children)}</ul>
            <More of={of} />
          </>
        )
      }
    </Loaded>
  );
}
