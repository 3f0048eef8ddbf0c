"""Refunds to payers.

The statuses are `pending`, `submitting`, `submitted`, `settled`, `failed` and `prepared`. `submitting` is committed
before the call. After a lost response the gateway's refunds of the charge are searched for our note (`re-` and 32 hex
digits of the attempt's id). Without a match, and 2 min after the last call, the refund counts as unsent and is
decided again, because a bank may have returned it in the meantime. Of several workers one sends it. A call that
starts more than 30 s after its decision is skipped, because the gateway accepts a note twice. A failed refund stays
in `refund_payable` and raises an alert.

**A refund event names the transaction and the amount only.** `query_reported_refunds` queries the gateway for the
attempts that it may mean before the event is recorded; one that is none of ours is ignored. `needs-attention`, as an
event or a polled status, makes the refund `failed` with `needsAccount` and raises an alert. An approved account then
retries the gateway's own refund (`retry_with_account`): it is queried first, so that a lost response pays once.

**Before every call the gateway's refunds of the charge are listed.** A refund with a note of ours (`re-...`) but
without a record here was sent after the instant to which the database was restored. One over the same amount is
adopted, and nothing is sent. One over another amount blocks further refunds of the charge (`UnrecordedRefund`, at
last a dead letter) until the lost action is repeated.

The decision about a failed refund is `{action, reason, destination?}`: `failed` → `prepared` → `pending`. `retry`
refunds the charge again. `other_destination` `{accountNumber, bankCode, accountName}` is a transfer of naira to that
account: 422 when the bank does not confirm it, 409 below `PAYOUT_TRANSFER_MINIMUM_MINOR`. Only the gateway receives
the number, once, at the preparation. The refund stores its recipient code, the last four digits, and the given name
and the bank's, for the checker (`verified`: they match). Each attempt has its own reference (`re-` and 32 hex
digits). Before a new attempt is sent, the gateway is queried for the failed one. While that is in progress, the work
waits; if it paid after all, it settles the refund. `transfer.reversed` after a settled transfer makes the refund
`failed` and due again. A payment of a replaced attempt in addition to the new one is dead-lettered with an alert,
because the payer may have been paid twice. A payment during a waiting decision closes the decision.
"""
