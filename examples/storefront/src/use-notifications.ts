import { useEffect, useRef, useState } from "preact/hooks";

import { campus } from "./api.ts";

/** Load again after each notification about one of these ids, and with each new connection of the stream. */
export function useNotifications(ids: string[], reload: () => void): boolean {
  const [live, setLive] = useState(false);
  const followed = useRef(ids);
  followed.current = ids;

  useEffect(() => {
    const controller = new AbortController();
    const follow = async () => {
      const stream = campus.notifications.stream({
        signal: controller.signal,
        onOpen: () => {
          setLive(true);
          reload();
        },
      });
      for await (const { data } of stream) {
        if ([data.subject?.id, data.subject?.orderId].some((id) => id && followed.current.includes(id))) reload();
      }
    };
    // The stream reconnects by itself. What ends it is the end of the session or too many open pages.
    follow().catch(() => setLive(false));
    return () => controller.abort();
  }, [reload]);

  return live;
}
