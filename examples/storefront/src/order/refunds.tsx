import type { Order, Refund } from "campus-client";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Loaded } from "../parts/loading.tsx";
import { useResource } from "../use-resource.ts";

const MEANING: Record<Refund["status"], string> = {
  pending: "is being prepared",
  prepared: "is being prepared",
  submitting: "is on its way to your bank",
  submitted: "is on its way to your bank",
  settled: "is back",
  failed: "did not arrive. Our staff look for another way",
};

export function Refunds({ order }: { order: Order }) {
  const refunds = useResource(
    (signal) => campus.refunds.list({ orderId: order.id, limit: 20 }, { signal }),
    [order.id, order.revision],
  );
  return (
    <section class="panel" aria-label="Refund">
      <h2>Refund</h2>
      <Loaded from={refunds}>
        {({ items }) =>
          items.length === 0 ? (
            <p>{naira(order.totalMinor)} is being prepared.</p>
          ) : (
            <ul>
              {items.map((refund) => (
                <li key={refund.id}>
                  <b>{naira(refund.amountMinor)}</b> {MEANING[refund.status]}.
                  {refund.balanceMinor > 0 && ` ${naira(refund.balanceMinor)} of it is in your balance.`}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
