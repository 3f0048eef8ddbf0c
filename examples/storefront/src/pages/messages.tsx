import type { VendorConversation } from "campus-client";

import { campus } from "../api.ts";
import { Items } from "../parts/items.tsx";
import { Empty } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { when } from "../times.ts";
import { useList } from "../use-list.ts";

export function Messages() {
  return (
    <Page title="Messages">
      <SignedIn>{() => <List />}</SignedIn>
    </Page>
  );
}

function List() {
  const conversations = useList((signal) => campus.conversations.list({ limit: 20 }, { signal }), []);
  return (
    <Items
      of={conversations}
      style="orders conversations"
      empty={
        <Empty title="No messages yet">
          <p>Ask a seller on the page of a product or an order.</p>
          <a class="button" href="/">
            Look around
          </a>
        </Empty>
      }
    >
      {(conversation) => <Row key={conversation.id} conversation={conversation} />}
    </Items>
  );
}

function Row({ conversation }: { conversation: VendorConversation }) {
  const { id, vendorName, orderId, unreadCount, lastMessageAt } = conversation;
  return (
    <li class="panel">
      <a href={`/messages/${id}`}>{vendorName ?? "A seller"}</a>
      {unreadCount > 0 && <span class="state waiting">{unreadCount} new</span>}
      <span class="soft">
        {orderId ? "About an order" : "About a product"} · {when(lastMessageAt)}
      </span>
    </li>
  );
}
