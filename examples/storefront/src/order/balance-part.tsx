import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { useResource } from "../use-resource.ts";

export interface BalancePart {
  /** What the balance can pay of it. All amounts are in kobo. */
  usableMinor: number;
  isUsed: boolean;
  use: (isUsed: boolean) => void;
  /** For the API; null leaves an open payment as it is. */
  balanceMinor: number | null;
  /** What is left to pay. */
  restMinor: number;
}

/** The part of a payment that the buyer's balance pays; `heldMinor` is held for it already. */
export function useBalancePart(dueMinor: number, heldMinor = 0): BalancePart {
  const balance = useResource((signal) => campus.balance.get({ signal }), [heldMinor]);
  const [chosen, use] = useState<boolean | null>(null);
  const usableMinor = balance.data ? Math.min(balance.data.availableMinor + heldMinor, dueMinor) : 0;
  const isUsed = usableMinor > 0 && (chosen ?? heldMinor > 0);
  const balanceMinor = isUsed ? usableMinor : 0;
  return {
    usableMinor,
    isUsed,
    use,
    balanceMinor: usableMinor > 0 ? balanceMinor : null,
    restMinor: dueMinor - balanceMinor,
  };
}

export function UseBalance({ part }: { part: BalancePart }) {
  if (part.usableMinor === 0) return null;
  return (
    <label class="check">
      <input type="checkbox" checked={part.isUsed} onChange={(event) => part.use(event.currentTarget.checked)} />
      Use {naira(part.usableMinor)} of my balance
    </label>
  );
}

/** The text of the button that pays. */
export function payText({ restMinor }: BalancePart): string {
  return restMinor === 0 ? "Pay with my balance" : `Pay ${naira(restMinor)}`;
}
