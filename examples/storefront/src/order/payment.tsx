import type { Order } from "campus-client";
import { useEffect, useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Problem } from "../parts/problem.tsx";
import { payFor } from "../pay.ts";
import { useAction, useResource } from "../use-resource.ts";

/** The payment of a reserved order, with the time that is left and the bank's reason after a failed attempt. */
export function Payment({ order }: { order: Order }) {
  const payments = useResource(
    (signal) => campus.payments.list({ orderId: order.id, limit: 20 }, { signal }),
    [order.id, order.revision],
  );
  const pay = useAction(() => payFor(order.id));
  const failed = payments.data?.items.find((payment) => payment.status === "failed");
  const secondsLeft = useSecondsUntil(order.paymentDueAt);
  return (
    <section class="panel" aria-label="Payment">
      {failed && (
        <p class="notice" role="alert">
          The last payment failed{failed.failureReason ? `: ${failed.failureReason}` : ""}. Nothing was charged.
        </p>
      )}
      <p>
        Reserved for{" "}
        <b>
          {Math.floor(secondsLeft / 60)}:{String(secondsLeft % 60).padStart(2, "0")}
        </b>{" "}
        minutes. If you have just paid, this page shows it in a moment.
      </p>
      <Problem error={pay.error} />
      <button type="button" class="main wide" disabled={pay.busy} onClick={() => pay.run()}>
        {pay.busy ? "Opening the payment …" : `Pay ${naira(order.totalMinor)}`}
      </button>
    </section>
  );
}

function useSecondsUntil(iso: string): number {
  const left = () => Math.max(0, Math.round((Date.parse(iso) - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const ticking = setInterval(() => setSeconds(left()), 1000);
    return () => clearInterval(ticking);
  }, [iso]);
  return seconds;
}
