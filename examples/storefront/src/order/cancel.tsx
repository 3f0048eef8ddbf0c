import type { Order } from "campus-client";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Field, textOf } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { RefundTo, refundToOf } from "../parts/refund-to.tsx";
import { useAction } from "../use-resource.ts";

export function Cancel({ order, cancelled }: { order: Order; cancelled: (order: Order) => void }) {
  const cancel = useAction(async (form: HTMLFormElement) =>
    cancelled(await campus.orders.cancel(order.id, { reason: textOf(form, "reason"), ...refundToOf(form) })),
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    cancel.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <details class="panel">
      <summary>Cancel this order</summary>
      <form onSubmit={submit}>
        <p>
          {order.status === "Processing"
            ? "Nothing was charged; the items are offered to others again."
            : `You get ${naira(order.totalMinor)} back.`}
        </p>
        <Field label="Why?" name="reason" required maxLength={500} />
        {order.status !== "Processing" && <RefundTo />}
        <Problem error={cancel.error} />
        <button class="danger" disabled={cancel.busy}>
          Cancel the order
        </button>
      </form>
    </details>
  );
}
