import type { VendorMessage } from "campus-client";
import { useEffect, useRef, useState } from "preact/hooks";

import { campus } from "./api.ts";
import { useAction, useResource } from "./use-resource.ts";

const PAGE_SIZE = 50;

/**
 * The conversation with its messages, the oldest first. It is loaded again at each event of it and at each new connection of
 * the stream; the messages loaded before stay.
 */
export function useThread(id: string) {
  const loaded = useResource(
    async (signal) => {
      const [conversation, newest] = await Promise.all([
        campus.conversations.get(id, { signal }),
        campus.conversations.listMessages(id, { limit: PAGE_SIZE }, { signal }),
      ]);
      if (conversation.unreadCount > 0) await campus.conversations.read(id, { signal });
      return { conversation, newest };
    },
    [id],
  );
  useEffect(() => {
    const controller = new AbortController();
    const followMessages = async () => {
      const stream = campus.notifications.stream({ signal: controller.signal, onOpen: loaded.reload });
      for await (const { data } of stream) if ("conversationId" in data && data.conversationId === id) loaded.reload();
    };
    // The stream reconnects by itself. What ends it is the end of the session or too many open pages.
    followMessages().catch(() => undefined);
    return () => controller.abort();
  }, [id, loaded.reload]);

  const newest = loaded.data?.newest;
  const [earliest, setEarliest] = useState(newest);
  /** The messages so far, the newest first. */
  const known = useRef<VendorMessage[]>([]);
  if (newest) known.current = joined(newest.items, known.current);
  // After more new messages than a page holds, the earlier ones do not join: they are loaded again.
  const last = known.current.some(({ id }) => id === earliest?.items.at(-1)?.id) ? earliest : newest;
  const loadEarlier = useAction(async () => {
    const page = await last?.next();
    if (!page) return;
    known.current = [...known.current, ...without(known.current, page.items)];
    setEarliest(page);
  });
  return {
    ...loaded,
    data: loaded.data && { conversation: loaded.data.conversation, messages: [...known.current].reverse() },
    hasEarlier: last?.hasNext ?? false,
    loadEarlier,
  };
}

/** The newest page and the messages known before it, if the two join. */
function joined(page: readonly VendorMessage[], known: readonly VendorMessage[]): VendorMessage[] {
  const earlier = without(page, known);
  return earlier.length < known.length ? [...page, ...earlier] : [...page];
}

function without(present: readonly VendorMessage[], messages: readonly VendorMessage[]): VendorMessage[] {
  const ids = new Set(present.map((message) => message.id));
  return messages.filter((message) => !ids.has(message.id));
}
