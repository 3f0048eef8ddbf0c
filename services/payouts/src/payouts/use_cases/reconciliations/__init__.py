"""Four-eyes corrections of a payout's outcome.

Reconciliation: `{id, payoutId, vendorId, transferId, kind, status, amountMinor, currency, reason, postings: [{type,
postingKey, currency, entries: [{account, amountMinor}]}], hash, preparedBy, preparedAt, decidedBy, decidedAt,
rejectionReason}`; amounts in kobo, debit positive.

**Before each of these actions the gateway is queried about every reference of the payout**, outside any transaction,
and its report is recorded with all consequences. A success completes the payout instead. Without a response the
action is 503 and changes nothing. A contradiction received in the meantime stops it (409) until the next query.

**A reset** records the new attempt, reserved under a new reference and of no batch, together with the count; of two
concurrent resets the second finds the first one's attempt. The worker sends it after `PAYOUT_RETRY_SECONDS` (60),
then 120, then 240, after a check of the balance: a short one is an exception (SEV-1), and the attempt is retried
every 90 s. Before the call the gateway is queried again about every earlier attempt: one that it paid since the reset
completes the payout, and the new attempt is withdrawn. Without a response, and while it reports one under way,
nothing is sent; one that it no longer has is an exception. The reasons that hold a dispatch hold it too
(`vendor_suspended`, `debt_outstanding`, `bank_details_changed`, `bank_details_cooling`, shown in `failure`); the next
possible dispatch sends it. A reversed transfer is not reset: its amount is returned.

**Kinds**, by the gateway's report:

- `restitution`, for a `pending` payout whose transfers all ended; it becomes `failed`. Posting: in_transit → wallet,
  `restitution:<payout>`.
- `reversal`, for a `processed` payout with fewer successful transfers than recorded: none is left, or one after
  another was recovered; it stays `processed` (`payout_reversed`). Posting: gateway_cash → wallet,
  `reversal:<payout>`.
- `recovery`, for an unrecorded success: after a return, or in addition to another success. Posting: held →
  gateway_cash, `recovery:<transfer>`; without a hold from the wallet, its shortfall vendor_debt.
- `hold_released`, for a hold, where the gateway, queried, reports that the held money was not paid. Posting: held →
  wallet, `hold_released:<hold>`.
- `recovery_returned`, for a recovered transfer that the bank returned, of a payout whose own amount was returned
  before. Posting: gateway_cash → wallet, `recovery_returned:<transfer>`.

Every return repays the vendor's debt first. The hash is SHA-256 over `{kind, payoutId, postings}` in JSON with sorted
keys and no spaces. The approval plans again under the payout's lock, compares, posts and credits in one transaction.
A unique index on the statement lines (`wallet_lines_returned_once`) permits one restitution or reversal of a payout.
`payout_acts` stores each reset, preparation, approval and rejection with its author, time and reason.

**A success after a return or a reset** causes a query. Confirmed after a reset, it completes the payout, and a later
attempt that was not sent is withdrawn. Where more transfers may have paid than the ledger has money for (after a
return, or beside another attempt that paid or may pay), the payout's amount is held in the same transaction
(`transfer_holds`, decision 85): the wallet's shortfall becomes debt, dispatches and schedules of the vendor skip
(`transfer_contradicted`), and a SEV-1 exception of that cause stays open until two users decide: a `recovery` posts
the transfer as paid, `hold_released` returns the money once the gateway, queried, reports that it was not paid. The
payout keeps its status. When the bank returns such a recovered transfer, an exception (`reversed`) opens. A
`reversal` returns the amount of a `processed` payout once; where the payout's own amount was returned before, a
`recovery_returned` returns the recovered amount, once for each recovery. A transfer that is paid and returned again
is recovered and returned again; the keys end with the number of the recovery from the second one on
(`recovery:<transfer>:2`).
"""
