import type { Order } from "campus-client";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { STATUS } from "../order/statuses.ts";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { when } from "../times.ts";
import { useAction, useResource } from "../use-resource.ts";

export function Orders() {
  return (
    <Page title="My orders">
      <SignedIn>{() => <List />}</SignedIn>
    </Page>
  );
}

function List() {
  const first = useResource((signal) => campus.orders.list({ as: "buyer", limit: 20 }, { signal }), []);
  const [more, setMore] = useState<{ items: Order[]; next: typeof first.data }>({ items: [], next: undefined });
  const last = more.next ?? first.data;
  const loadMore = useAction(async () => {
    const next = await last?.next();
    if (next) setMore(({ items }) => ({ items: [...items, ...next.items], next }));
  });
  return (
    <Loaded from={first}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No orders yet">
            <p>What you buy appears here, with its delivery PIN.</p>
            <a class="button" href="/">
              Start shopping
            </a>
          </Empty>
        ) : (
          <>
            <ul class="orders">
              {[...items, ...more.items].map((order) => (
                <Row key={order.id} order={order} />
              ))}
            </ul>
            <Problem error={loadMore.error} />
            {last?.hasNext && (
              <button type="button" class="quiet more" disabled={loadMore.busy} onClick={() => loadMore.run()}>
                Show more
              </button>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Row({ order }: { order: Order }) {
  const { label, tone } = STATUS[order.status];
  return (
    <li class="panel">
      <a href={`/orders/${order.id}`}>{order.items.map((item) => `${item.quantity} × ${item.name}`).join(", ")}</a>
      <span class={`state ${tone}`}>{label}</span>
      <span class="soft">
        {order.vendorName ?? "A seller"} · {order.number} · {when(order.createdAt)}
      </span>
      <b>{naira(order.totalMinor)}</b>
    </li>
  );
}
