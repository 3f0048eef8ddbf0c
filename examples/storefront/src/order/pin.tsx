import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { Loaded } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAction, useResource } from "../use-resource.ts";

/** The delivery PIN, large enough to be read out in the sun. It is in no storage of the browser. */
export function Pin({ orderId, seller }: { orderId: string; seller?: string }) {
  const [reissued, setReissued] = useState<{ pin: string; reissuesRemaining: number } | null>(null);
  const current = useResource((signal) => campus.orders.getDeliveryPin(orderId, { signal }), [orderId]);
  const reissue = useAction(async () => setReissued(await campus.orders.reissueDeliveryPin(orderId, {})));
  const title = seller ? `Your delivery PIN for ${seller}` : "Your delivery PIN";
  return (
    <section class="panel pin-panel" aria-label={title}>
      <h2>{title}</h2>
      <Loaded from={current}>
        {({ pin, attemptsRemaining }) => (
          <>
            <p class="pin" data-testid="pin">
              {reissued?.pin ?? pin}
            </p>
            <p>
              Give it to the seller <b>only when the goods are in your hands</b>. It releases your money.
            </p>
            {attemptsRemaining === 0 && !reissued && (
              <p class="notice">The PIN is locked after five wrong attempts. Get a new one.</p>
            )}
          </>
        )}
      </Loaded>
      <Problem error={reissue.error} />
      <button type="button" class="link" disabled={reissue.busy} onClick={() => reissue.run()}>
        Get a new PIN
      </button>
      <p role="status" class="soft">
        {reissued && `The former PIN is no longer valid. You can get ${reissued.reissuesRemaining} more.`}
      </p>
    </section>
  );
}
