import type { BalanceLine } from "campus-client";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Empty, Loaded } from "../parts/loading.tsx";
import { More } from "../parts/more.tsx";
import { Page } from "../parts/page.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { Withdraw, Withdrawals } from "../parts/withdrawals.tsx";
import { when } from "../times.ts";
import { useList } from "../use-list.ts";
import { useResource } from "../use-resource.ts";

const KIND: Record<BalanceLine["kind"], string> = {
  reward: "Reward",
  refund: "Refund",
  spent: "Payment",
  returned: "Payment returned",
  withdrawn: "Withdrawal",
};

/** What the buyer has from rewards and refunds, and how it came to be. */
export function Balance() {
  return (
    <Page title="My balance">
      <SignedIn>{() => <Contents />}</SignedIn>
    </Page>
  );
}

function Contents() {
  const balance = useResource((signal) => campus.balance.get({ signal }), []);
  const lines = useList((signal) => campus.balance.listStatement({ limit: 20 }, { signal }), []);
  const withdrawals = useList((signal) => campus.balance.listWithdrawals({ limit: 20 }, { signal }), []);
  const reload = () => {
    balance.reload();
    lines.reload();
    withdrawals.reload();
  };
  return (
    <>
      <section class="panel" aria-label="Balance">
        <Loaded from={balance}>
          {({ availableMinor, heldMinor }) => (
            <>
              <p class="soft">Available</p>
              <p class="amount" data-testid="available">
                {naira(availableMinor)}
              </p>
              {heldMinor > 0 && <p>{naira(heldMinor)} is held for a payment that you have not finished.</p>}
              <p class="soft">Choose it where you pay. A payment that ends without it returns it here.</p>
            </>
          )}
        </Loaded>
      </section>
      {(balance.data?.availableMinor ?? 0) > 0 && <Withdraw requested={reload} />}
      <Withdrawals from={withdrawals} />
      <Loaded from={lines}>
        {(items) =>
          items.length === 0 ? (
            <Empty title="Nothing yet">
              <p>Rewards appear here, and refunds that you send to your balance.</p>
            </Empty>
          ) : (
            <section class="panel" aria-labelledby="statement">
              <h2 id="statement">Statement</h2>
              <ul class="statement">
                {items.map((line) => (
                  <Line key={line.id} line={line} />
                ))}
              </ul>
              <More of={lines} />
            </section>
          )
        }
      </Loaded>
    </>
  );
}

function Line({ line }: { line: BalanceLine }) {
  return (
    <li>
      <span>
        {line.orderId ? <a href={`/orders/${line.orderId}`}>{KIND[line.kind]}</a> : KIND[line.kind]}
        <span class="soft"> {when(line.at)}</span>
      </span>
      <b>{naira(line.amountMinor)}</b>
      <span class="soft">Balance {naira(line.balanceMinor)}</span>
    </li>
  );
}
