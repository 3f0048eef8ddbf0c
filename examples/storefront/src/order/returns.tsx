import type { Order, ReturnRequest } from "campus-client";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { keptItems } from "./items.tsx";
import { Choice, Field, textOf } from "../parts/field.tsx";
import { Loaded } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { RefundTo, refundToOf } from "../parts/refund-to.tsx";
import { when } from "../times.ts";
import { useKey } from "../use-key.ts";
import { useAction, useResource } from "../use-resource.ts";

const ANSWER: Record<ReturnRequest["status"], string> = {
  requested: "The seller has not decided yet.",
  approved: "Approved.",
  rejected: "Rejected.",
};

/** The requested returns of a delivered order, and the form for another one while there is time. */
export function Returns({ order }: { order: Order }) {
  const requests = useResource(
    (signal) => campus.returns.listByOrder(order.id, { limit: 20 }, { signal }),
    [order.id, order.revision],
  );
  const isOpen = order.returnDueAt !== null && Date.parse(order.returnDueAt) > Date.now();
  return (
    <Loaded from={requests}>
      {({ items }) => (
        <>
          {items.length > 0 && (
            <section class="panel" aria-label="Returns">
              <h2>Returns</h2>
              <ul class="returns">
                {items.map((request) => (
                  <Request key={request.id} request={request} />
                ))}
              </ul>
            </section>
          )}
          {isOpen && <ReturnForm order={order} requested={requests.reload} />}
        </>
      )}
    </Loaded>
  );
}

function Request({ request }: { request: ReturnRequest }) {
  return (
    <li>
      <p>
        <b>{request.items.map((item) => `${item.quantity} × ${item.name}`).join(", ")}</b>
      </p>
      <p>
        {request.cancelsLines ? "Cancelled." : ANSWER[request.status]} {request.refundMinor !== null && `You get ${naira(request.refundMinor)} back.`}{" "}
        {request.decisionReason}
      </p>
      <p class="soft">
        {request.reason} · {request.refundTo === "balance" && "A refund goes to your balance. · "}
        {when(request.createdAt)}
      </p>
    </li>
  );
}

function ReturnForm({ order, requested }: { order: Order; requested: () => void }) {
  const keyOf = useKey();
  const send = useAction(async (form: HTMLFormElement) => {
    const items = order.items
      .map(({ id }) => ({ itemId: id, quantity: Number(textOf(form, id)) }))
      .filter(({ quantity }) => quantity > 0);
    const body = { items, reason: textOf(form, "reason"), ...refundToOf(form) };
    await campus.returns.request(order.id, body, { idempotencyKey: keyOf(body) });
    form.reset();
    requested();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <details class="panel">
      <summary>Return something</summary>
      <form onSubmit={submit}>
        <p>Possible until {when(order.returnDueAt!)}. The seller decides, and tells you where to bring it.</p>
        {keptItems(order).map((item) => (
          <Choice
            key={item.id}
            label={item.name}
            name={item.id}
            options={Array.from({ length: item.quantity + 1 }, (_, number) => [
              `${number}`,
              number > 0 ? `Return ${number}` : `I keep ${item.quantity === 1 ? "it" : "all"}`,
            ])}
          />
        ))}
        <Field label="Why?" name="reason" required maxLength={500} />
        <RefundTo />
        <Problem error={send.error} />
        <button disabled={send.busy}>Ask for the return</button>
      </form>
    </details>
  );
}
