import type { Order } from "campus-client";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { itemsText } from "../order/items.tsx";
import { STATUS } from "../order/statuses.ts";
import { Items } from "../parts/items.tsx";
import { Empty } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { when } from "../times.ts";
import { useList } from "../use-list.ts";

export function Orders() {
  return (
    <Page title="My orders">
      <SignedIn>{() => <List />}</SignedIn>
    </Page>
  );
}

function List() {
  const orders = useList((signal) => campus.orders.list({ as: "buyer", limit: 20 }, { signal }), []);
  return (
    <Items
      of={orders}
      style="orders"
      empty={
        <Empty title="No orders yet">
          <p>What you buy appears here, with its delivery PIN.</p>
          <a class="button" href="/">
            Start shopping
          </a>
        </Empty>
      }
    >
      {(order) => <Row key={order.id} order={order} />}
    </Items>
  );
}

function Row({ order }: { order: Order }) {
  const { label, tone } = STATUS[order.status];
  return (
    <li class="panel">
      <a class="name" href={`/orders/${order.id}`}>
        {itemsText(order)}
      </a>
      <span class={`state ${tone}`}>{label}</span>
      <b>{naira(order.totalMinor)}</b>
      <span class="soft">
        <bdi>{order.vendorName ?? "A seller"}</bdi> · <span class="number">{order.number}</span> ·{" "}
        {when(order.createdAt)}
      </span>
    </li>
  );
}
