import { shrinkImage, type ConversationOffer, type VendorConversation, type VendorMessage } from "campus-client";
import { useRoute } from "preact-iso";
import { useEffect, useRef, useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { IMAGE_TYPES, PrivateImage } from "../parts/private-image.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { payFor } from "../pay.ts";
import { when } from "../times.ts";
import { useKey } from "../use-key.ts";
import { useAction } from "../use-resource.ts";
import { useThread } from "../use-thread.ts";

const MESSAGE_CHARACTERS_MAX = 2_000;
// The API's text is required; a photo alone is sent with this one.
const PHOTO_TEXT = "Photo";
const REPORT_REASON = "The message breaks the rules of the market.";

export function Conversation() {
  const id = useRoute().params["id"]!;
  return (
    <Page title="Conversation" class="conversation">
      <SignedIn>{() => <Live key={id} id={id} />}</SignedIn>
    </Page>
  );
}

function Live({ id }: { id: string }) {
  const thread = useThread(id);
  const { hasEarlier, loadEarlier, reload } = thread;
  return (
    <Loaded from={thread}>
      {({ conversation, messages }) => (
        <>
          <Subject conversation={conversation} />
          <Problem error={loadEarlier.error} />
          {hasEarlier && (
            <button type="button" class="quiet more" disabled={loadEarlier.busy} onClick={() => loadEarlier.run()}>
              Show earlier messages
            </button>
          )}
          <Thread messages={messages} changed={reload} />
          <Writer conversation={conversation} sent={reload} />
          <Block conversation={conversation} changed={reload} />
        </>
      )}
    </Loaded>
  );
}

/** The messages. The newest one is in view at first, and follows into it while the one before is read. */
function Thread({ messages, changed }: { messages: VendorMessage[]; changed: () => void }) {
  const list = useRef<HTMLOListElement>(null);
  const wasShown = useRef(false);
  const newest = messages.at(-1)?.id;
  useEffect(() => {
    const last = list.current?.lastElementChild;
    const before = last?.previousElementSibling;
    if (!last || !before) return;
    const { top, bottom } = before.getBoundingClientRect();
    if (!wasShown.current || (bottom > 0 && top < innerHeight)) last.scrollIntoView({ block: "nearest" });
    wasShown.current = true;
  }, [newest]);
  return (
    <div role="log" aria-label="Messages">
      <ol class="thread" ref={list}>
        {messages.map((message) => (
          <Message key={message.id} message={message} changed={changed} />
        ))}
      </ol>
    </div>
  );
}

function Subject({ conversation }: { conversation: VendorConversation }) {
  const { vendorName, orderId, productId } = conversation;
  return (
    <p class="soft">
      With {vendorName ?? "the seller"}, about{" "}
      {orderId ? <a href={`/orders/${orderId}`}>an order</a> : <a href={`/products/${productId}`}>a product</a>}
    </p>
  );
}

function Message({ message, changed }: { message: VendorMessage; changed: () => void }) {
  const { id, conversationId, author, text, hidden, maskedReason, imageId, offer, createdAt } = message;
  const [reported, setReported] = useState(false);
  const report = useAction(async () => {
    await campus.reports.create({ subject: { kind: "message", id }, reason: REPORT_REASON });
    setReported(true);
  });
  return (
    <li class={author === "buyer" ? "ours" : ""}>
      <p class="soft">
        {author === "buyer" ? "You" : "Seller"} · {when(createdAt)}
      </p>
      {/* Links of a message are text, so that no message leads a buyer to another site. */}
      <p class="text">{text || (hidden ? "Staff have hidden this message." : "This message was erased.")}</p>
      {imageId && (
        <PrivateImage
          id={imageId}
          alt={`Photo of the ${author === "buyer" ? "buyer" : "seller"}, ${when(createdAt)}`}
          load={(signal) => campus.conversations.getImage(conversationId, imageId, { signal })}
        />
      )}
      {maskedReason && <p class="notice">{maskedReason}</p>}
      {offer && <Offer offer={offer} changed={changed} />}
      {author === "vendor" && text && (
        <div role="status">
          {reported ? (
            <p class="soft">Reported. Our staff read this conversation now.</p>
          ) : (
            <button type="button" class="link" disabled={report.busy} onClick={() => report.run()}>
              Report this message
            </button>
          )}
        </div>
      )}
      <Problem error={report.error} />
    </li>
  );
}

const OFFER_STATES = { open: "Open", withdrawn: "Withdrawn", expired: "Expired", accepted: "Accepted" } as const;

/** An offer, and the checkout that accepts it: the same key for a second press, so that it orders once. */
function Offer({ offer, changed }: { offer: ConversationOffer; changed: () => void }) {
  const keyOf = useKey();
  const { productId, variantId, quantity, unitPriceMinor, status, expiresAt, orderId } = offer;
  const totalMinor = unitPriceMinor * quantity;
  const accept = useAction(async () => {
    const item = { productId, quantity, offerId: offer.id, ...(variantId && { variantId }) };
    const checkout = { items: [item], expectedTotalMinor: totalMinor };
    try {
      const order = await campus.orders.checkout(checkout, { idempotencyKey: keyOf(checkout) });
      await payFor(order);
    } finally {
      changed();
    }
  });
  return (
    <div class="offer">
      <p>
        <span class={`state ${status === "open" ? "active" : status === "accepted" ? "good" : "bad"}`}>
          {OFFER_STATES[status]}
        </span>{" "}
        {quantity} × {naira(unitPriceMinor)}
      </p>
      {status === "open" && (
        <>
          <p class="soft">Until {when(expiresAt)}. You meet the seller to collect it.</p>
          <button type="button" class="main" disabled={accept.busy} onClick={() => accept.run()}>
            {accept.busy ? "Opening the payment …" : `Accept and pay ${naira(totalMinor)}`}
          </button>
        </>
      )}
      {orderId && <a href={`/orders/${orderId}`}>Open the order</a>}
      <Problem error={accept.error} />
    </div>
  );
}

function Writer({ conversation, sent }: { conversation: VendorConversation; sent: () => void }) {
  const [text, setText] = useState("");
  const [notice, setNotice] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  const photo = useRef<HTMLInputElement>(null);
  const send = useAction(async () => {
    const chosen = photo.current?.files?.[0];
    const image = chosen && (await campus.conversations.addImage(conversation.id, await shrinkImage(chosen)));
    const message = await campus.conversations.postMessage(conversation.id, {
      text: text.trim() || PHOTO_TEXT,
      ...(image && { imageId: image.id }),
    });
    setText("");
    if (photo.current) photo.current.value = "";
    setNotice(message.maskedReason ?? "");
    sent();
    box.current?.focus();
  });
  if (conversation.blockedBy === "buyer") return <p class="notice">You have blocked this seller.</p>;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (text.trim() || photo.current?.files?.length) send.run();
  };
  return (
    <form onSubmit={submit}>
      <div class="field">
        <label for="message">Your message</label>
        <textarea
          id="message"
          ref={box}
          rows={3}
          maxLength={MESSAGE_CHARACTERS_MAX}
          value={text}
          aria-describedby="message-hint"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <p class="hint" id="message-hint">
          Never send your delivery PIN: the seller gets it at the handover.
        </p>
      </div>
      <div class="field">
        <label for="photo">Photo (optional)</label>
        <input id="photo" ref={photo} type="file" accept={IMAGE_TYPES} aria-describedby="photo-hint" />
        <p class="hint" id="photo-hint">
          Only you and the seller see it, and our staff when the order or a message is reported.
        </p>
      </div>
      <p role="status" class={notice ? "notice" : ""}>
        {notice}
      </p>
      <Problem error={send.error} />
      <button class="main" disabled={send.busy}>
        {send.busy ? "Sending …" : "Send"}
      </button>
    </form>
  );
}

function Block({ conversation, changed }: { conversation: VendorConversation; changed: () => void }) {
  const { id, blockedBy } = conversation;
  const toggle = useAction(async () => {
    await (blockedBy === "buyer" ? campus.conversations.unblock(id) : campus.conversations.block(id));
    changed();
  });
  if (blockedBy === "vendor") return <p class="soft">The seller accepts no messages of yours.</p>;
  return (
    <>
      <Problem error={toggle.error} />
      <button type="button" class="quiet" disabled={toggle.busy} onClick={() => toggle.run()}>
        {blockedBy === "buyer" ? "Accept messages of this seller" : "Block this seller"}
      </button>
    </>
  );
}
