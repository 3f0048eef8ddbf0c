import { shrinkImage, type Ticket } from "campus-client";
import { useRoute } from "preact-iso";
import { useCallback } from "preact/hooks";

import { campus } from "../api.ts";
import { textOf } from "../parts/field.tsx";
import { Items } from "../parts/items.tsx";
import { Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Photos } from "../parts/photos.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { when } from "../times.ts";
import { useKey } from "../use-key.ts";
import { useList } from "../use-list.ts";
import { useNotifications } from "../use-notifications.ts";
import { useAction, useResource } from "../use-resource.ts";
import { MessageField, TICKET_STATES } from "./tickets.tsx";

export function TicketPage() {
  const id = useRoute().params["id"]!;
  return (
    <Page title="Your question">
      <SignedIn>{() => <Live key={id} id={id} />}</SignedIn>
    </Page>
  );
}

/** The question with its answers, which are read as soon as they are here. */
function Live({ id }: { id: string }) {
  const loaded = useResource(
    async (signal) => {
      const [ticket, attachments] = await Promise.all([
        campus.tickets.get(id, { signal }),
        campus.tickets.listAttachments(id, { signal }),
      ]);
      if (ticket.unread > 0) await campus.tickets.markRead(id, { signal });
      return { ticket, attachments };
    },
    [id],
  );
  const messages = useList((signal) => campus.tickets.listMessages(id, { limit: 100 }, { signal }), [id]);
  const reload = useCallback(() => {
    loaded.reload();
    messages.reload();
  }, [loaded.reload, messages.reload]);
  useNotifications([id], reload);
  const upload = useAction(async (image: File) => {
    await campus.tickets.addAttachment(id, await shrinkImage(image));
    loaded.reload();
  });
  return (
    <Loaded from={loaded}>
      {({ ticket, attachments }) => (
        <>
          <Subject ticket={ticket} />
          <Items of={messages} style="thread" empty={null}>
            {({ id, author, text, createdAt }) => (
              <li key={id} class={author === "customer" ? "ours" : ""}>
                <p class="soft">
                  {author === "customer" ? "You" : "Our staff"} · {when(createdAt)}
                </p>
                {/* Links of a message are text, so that no message leads a buyer to another site. */}
                <p class="text">{text}</p>
              </li>
            )}
          </Items>
          <Photos
            photos={attachments.map((one) => ({ ...one, from: one.author === "customer" ? "you" : "our staff" }))}
            load={(photo, signal) => campus.tickets.getAttachment(id, photo, { signal })}
            upload={upload}
          />
          <Reply ticket={ticket} changed={reload} />
        </>
      )}
    </Loaded>
  );
}

function Subject({ ticket }: { ticket: Ticket }) {
  const { label, tone } = TICKET_STATES[ticket.status];
  return (
    <section class="panel" aria-label="Question">
      <h2>{ticket.subject}</h2>
      <p role="status">
        <span class={`state ${tone}`}>{label}</span>
      </p>
      <p class="soft">
        <span class="number">{ticket.number}</span> · {when(ticket.createdAt)}
        {ticket.orderId && (
          <>
            {" "}
            · About{" "}
            <a class="number" href={`/orders/${ticket.orderId}`}>
              {ticket.orderNumber ?? "your order"}
            </a>
          </>
        )}
      </p>
    </section>
  );
}

/** A message, which opens a closed question again; and the way to close it. */
function Reply({ ticket, changed }: { ticket: Ticket; changed: () => void }) {
  const keyOf = useKey();
  const send = useAction(async (form: HTMLFormElement) => {
    const message = { text: textOf(form, "message") };
    await campus.tickets.addMessage(ticket.id, message, { idempotencyKey: keyOf({ ...message, after: ticket.revision }) });
    form.reset();
    changed();
  });
  const close = useAction(async () => {
    await campus.tickets.close(ticket.id);
    changed();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <form class="panel" onSubmit={submit}>
      <MessageField label="Your message" />
      <Problem error={send.error ?? close.error} />
      <button class="main" disabled={send.busy}>
        {send.busy ? "Sending …" : "Send"}
      </button>
      {ticket.status !== "closed" && (
        <button type="button" class="quiet" disabled={close.busy} onClick={() => close.run()}>
          My question is answered
        </button>
      )}
    </form>
  );
}
