import type { Order, Purchase } from "campus-client";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { useNotifications } from "../use-notifications.ts";
import { useResource, type Resource } from "../use-resource.ts";

interface Live {
  /** Whether changes arrive by themselves. */
  live: boolean;
}

export interface LiveOrder extends Resource<Order>, Live {
  /** Replace the order by the answer of an action. */
  replace: (order: Order) => void;
}

/** An order that follows its changes. Nothing is polled. */
export function useLiveOrder(id: string): LiveOrder {
  const loaded = useResource((signal) => campus.orders.get(id, { signal }), [id]);
  const [newest, setNewest] = useState<Order | null>(null);
  const live = useNotifications([id], loaded.reload);
  const order = [newest, loaded.data].filter((one) => one?.id === id).sort((a, b) => b!.revision - a!.revision)[0];
  return { ...loaded, data: order ?? undefined, live, replace: setNewest };
}

/** A purchase that follows the changes of its orders. */
export function useLivePurchase(id: string): Resource<Purchase> & Live {
  const loaded = useResource((signal) => campus.purchases.get(id, { signal }), [id]);
  const live = useNotifications([id, ...(loaded.data?.orders.map((order) => order.id) ?? [])], loaded.reload);
  return { ...loaded, live };
}
