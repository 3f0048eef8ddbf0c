import type { PaymentIntent } from "campus-client";
import { useState } from "preact/hooks";

import { naira } from "../money.ts";
import { clock, useSecondsUntil } from "../times.ts";
import { useAction } from "../use-resource.ts";

type Account = NonNullable<PaymentIntent["bankTransfer"]>;

/** The account of one payment, the exact amount, and the time that is left. */
export function BankTransfer({ account, renew }: { account: Account; renew: () => void }) {
  const secondsLeft = useSecondsUntil(account.expiresAt);
  if (secondsLeft === 0) {
    return (
      <div class="notice" role="alert">
        <p>This account is closed: do not transfer to it any more.</p>
        <button type="button" onClick={renew}>
          Get a new account
        </button>
      </div>
    );
  }
  return (
    <div class="transfer">
      <p>
        Transfer <b>exactly {naira(account.amountMinor)}</b> from your bank&apos;s app within{" "}
        <b data-testid="transfer-clock">{clock(secondsLeft)}</b> minutes:
      </p>
      <p class="account" data-testid="account-number">
        {account.accountNumber}
      </p>
      <p>
        {account.bankName}
        {account.accountName && ` · ${account.accountName}`}
      </p>
      <Copy text={account.accountNumber} label="Copy the account number" />
      <p class="soft">
        This page shows the payment in a moment. Less than the amount does not pay the order, and goes back to you; more is
        refunded.
      </p>
    </div>
  );
}

function Copy({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = useAction(async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  });
  return (
    <>
      <button type="button" onClick={() => copy.run()}>
        {label}
      </button>
      <p role="status" class="soft">
        {copied && "Copied."}
        {copy.error && "Your browser did not copy it: press and hold the number."}
      </p>
    </>
  );
}
