import type { Notification, Order } from "campus-client";
import { useEffect, useState } from "preact/hooks";

import { campus } from "../api.ts";
import { useResource, type Resource } from "../use-resource.ts";

export interface LiveOrder extends Resource<Order> {
  /** Whether changes arrive by themselves. */
  live: boolean;
  /** Replace the order by the answer of an action. */
  replace: (order: Order) => void;
}

/**
 * An order that follows its changes: each notification about it loads it again, as does each new connection of the stream.
 * Nothing is polled.
 */
export function useLiveOrder(id: string): LiveOrder {
  const loaded = useResource((signal) => campus.orders.get(id, { signal }), [id]);
  const [newest, setNewest] = useState<Order | null>(null);
  const [live, setLive] = useState(false);

  useEffect(() => {
    const controller = new AbortController();
    const follow = async () => {
      const stream = campus.notifications.stream({
        signal: controller.signal,
        onOpen: () => {
          setLive(true);
          loaded.reload();
        },
      });
      for await (const event of stream) if (isAbout(event.data, id)) loaded.reload();
    };
    // The stream reconnects by itself. What ends it is the end of the session or too many open pages.
    follow().catch(() => setLive(false));
    return () => controller.abort();
  }, [id, loaded.reload]);

  const order = [newest, loaded.data].filter((one) => one?.id === id).sort((a, b) => b!.revision - a!.revision)[0];
  return { ...loaded, data: order ?? undefined, live, replace: setNewest };
}

function isAbout({ subject }: Notification, orderId: string): boolean {
  return subject?.id === orderId || subject?.orderId === orderId;
}
