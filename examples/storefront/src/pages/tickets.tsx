import type { Ticket } from "campus-client";
import { useLocation } from "preact-iso";

import { campus } from "../api.ts";
import { Field, LongText, textOf } from "../parts/field.tsx";
import { Items } from "../parts/items.tsx";
import { Empty } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { when } from "../times.ts";
import { useKey } from "../use-key.ts";
import { useList } from "../use-list.ts";
import { useAction, useResource } from "../use-resource.ts";

const SUBJECT_CHARACTERS_MAX = 200;
const MESSAGE_CHARACTERS_MAX = 4_000;
export const TICKET_STATES: Record<Ticket["status"], { label: string; tone: string }> = {
  open: { label: "Waiting for our staff", tone: "waiting" },
  pending: { label: "Answered", tone: "active" },
  closed: { label: "Closed", tone: "good" },
};

/** The questions to our staff. `?order=` asks one about that order. */
export function Tickets() {
  const orderId = useLocation().query["order"];
  return (
    <Page title="Questions to our staff">
      <SignedIn>
        {() => (
          <>
            <Ask key={orderId} orderId={orderId} />
            <List />
          </>
        )}
      </SignedIn>
    </Page>
  );
}

function Ask({ orderId }: { orderId: string | undefined }) {
  const { route } = useLocation();
  const keyOf = useKey();
  const order = useResource(async (signal) => orderId && campus.orders.get(orderId, { signal }), [orderId]);
  const ask = useAction(async (form: HTMLFormElement) => {
    const about = order.data ? { orderId: order.data.id } : {};
    const question = { subject: textOf(form, "subject"), message: textOf(form, "message"), ...about };
    const { id } = await campus.tickets.open(question, { idempotencyKey: keyOf(question) });
    route(`/tickets/${id}`);
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    ask.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <details class="panel" open={orderId !== undefined}>
      <summary>Ask a question</summary>
      <form onSubmit={submit}>
        {order.data && (
          <p>
            About your order{" "}
            <a class="number" href={`/orders/${order.data.id}`}>
              {order.data.number}
            </a>
          </p>
        )}
        <Problem error={order.error} retry={order.reload} />
        <Field label="Subject" name="subject" required maxLength={SUBJECT_CHARACTERS_MAX} />
        <MessageField label="Your question" />
        <Problem error={ask.error} />
        {/* An order that is still loading would be missing in the question. */}
        <button class="main" disabled={ask.busy || (orderId !== undefined && !order.data)}>
          {ask.busy ? "Sending …" : "Send"}
        </button>
      </form>
    </details>
  );
}

/** What a buyer writes to staff. */
export function MessageField({ label }: { label: string }) {
  const hint = "Never send your delivery PIN or a password: our staff never need them.";
  return <LongText label={label} name="message" rows={4} maxLength={MESSAGE_CHARACTERS_MAX} hint={hint} />;
}

function List() {
  const tickets = useList((signal) => campus.tickets.list({ limit: 20 }, { signal }), []);
  return (
    <Items
      of={tickets}
      style="orders"
      empty={
        <Empty title="No questions yet">
          <p>Our staff answer here, and a mail tells you. A seller is asked on the page of a product or an order.</p>
        </Empty>
      }
    >
      {(ticket) => <Row key={ticket.id} ticket={ticket} />}
    </Items>
  );
}

function Row({ ticket }: { ticket: Ticket }) {
  const { label, tone } = TICKET_STATES[ticket.status];
  return (
    <li class="panel">
      <a class="name" href={`/tickets/${ticket.id}`}>
        {ticket.subject}
      </a>
      <span class={`state ${tone}`}>{label}</span>
      {ticket.unread > 0 && <b>{ticket.unread} new</b>}
      <span class="soft">
        <span class="number">{ticket.number}</span> · {when(ticket.createdAt)}
      </span>
    </li>
  );
}
