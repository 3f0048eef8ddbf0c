import type { Withdrawal } from "campus-client";
import { useRef } from "preact/hooks";

import { campus } from "../api.ts";
import { minorOf, naira } from "../money.ts";
import { when } from "../times.ts";
import { useKey } from "../use-key.ts";
import type { List } from "../use-list.ts";
import { useAction, useResource } from "../use-resource.ts";
import { Choice, Field, textOf } from "./field.tsx";
import { More } from "./more.tsx";
import { Problem } from "./problem.tsx";
import { needsStepUp, StepUp } from "./step-up.tsx";

const STATUS: Record<Withdrawal["status"], string> = {
  waiting: "Waiting for a check by our finance team",
  prepared: "Waiting for a check by our finance team",
  pending: "Being sent",
  submitting: "Being sent",
  submitted: "On its way to your bank",
  paid: "Paid",
  failed: "Not paid: the money is in your balance again",
  rejected: "Not paid: the money is in your balance again",
};

/** The form that sends refunded money to a bank account. `requested` follows a success. */
export function Withdraw({ requested }: { requested: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const keyOf = useKey();
  const banks = useResource((signal) => campus.banks.list({ signal }), []);
  const withdraw = useAction(async () => {
    if (!form.current) return;
    const content = {
      amountMinor: minorOf(textOf(form.current, "amount")),
      accountNumber: textOf(form.current, "accountNumber").replaceAll(" ", ""),
      bankCode: textOf(form.current, "bankCode"),
    };
    await campus.balance.requestWithdrawal(content, { idempotencyKey: keyOf(content) });
    form.current.reset();
    requested();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    withdraw.run();
  };
  const isRefused = needsStepUp(withdraw.error);
  return (
    <details class="panel">
      <summary>Withdraw to my bank</summary>
      <form ref={form} onSubmit={submit}>
        <p class="soft">Refunds can be withdrawn. Rewards pay for orders only.</p>
        <Field
          label="Amount in naira"
          name="amount"
          inputmode="decimal"
          placeholder="1,250.00"
          pattern="₦?\s*[0-9][0-9,]*(\.[0-9]{1,2})?"
          title="An amount such as 1,250.50"
          required
          maxLength={20}
        />
        <Field
          label="Account number"
          name="accountNumber"
          inputmode="numeric"
          hint="Ten digits. Your bank confirms the holder's name."
          required
          maxLength={13}
        />
        <Choice
          label="Bank"
          name="bankCode"
          required
          options={[["", "Choose your bank"], ...(banks.data ?? []).map((bank): [string, string] => [bank.code, bank.name])]}
        />
        <Problem error={banks.error} retry={banks.reload} />
        {!isRefused && <Problem error={withdraw.error} />}
        <button class="main" disabled={withdraw.busy}>
          Withdraw
        </button>
      </form>
      {isRefused && <StepUp done={withdraw.run} />}
    </details>
  );
}

/** The withdrawals with their states; nothing while there are none. */
export function Withdrawals({ from }: { from: List<Withdrawal> }) {
  return (
    <>
      <Problem error={from.error} retry={from.reload} />
      {from.data && from.data.length > 0 && (
        <section class="panel" aria-labelledby="withdrawals">
          <h2 id="withdrawals">Withdrawals</h2>
          <ul class="statement">
            {from.data.map((one) => (
              <li key={one.id}>
                <span>
                  To {one.accountName}, account ending in {one.accountLast4}
                  <span class="soft"> {when(one.createdAt)}</span>
                </span>
                <b>{naira(one.amountMinor)}</b>
                <span class="soft">{STATUS[one.status]}</span>
              </li>
            ))}
          </ul>
          <More of={from} />
        </section>
      )}
    </>
  );
}
