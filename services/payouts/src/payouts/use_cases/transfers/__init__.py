"""Transfers to banks: dispatch, submission, results.

`domain/transitions.py` lists every transition of a transfer: state and event give the next state, repeated, stale or
contradiction.

1. The gateway's balance is read. It must cover the amounts and their fees (`PAYOUT_TRANSFER_FEES`). A short one stops
   the batch with a SEV-1 exception before anything is sent.
2. Batch, lines and all attempts commit together, under the payouts' locks, unique on (caller, `Idempotency-Key`). Each
   attempt is `reserved`, with its final reference. Of two dispatchers the second finds the first one's attempts. From
   here on every payout of the batch is sent, whichever process dies.
3. The process that moves an attempt from `reserved` to `submitting` sends it: recipient, then transfer, outside any
   transaction. The reasons to hold the payout are checked again there, under its lock. An attempt that is held was
   never sent, keeps its reference, shows the reason in `transfer.failure`, and waits for another dispatch; the batch's
   line becomes `skipped`.
4. The result is recorded. A timeout, 5xx, rate limit or malformed response leaves `unknown`: only `GET
   /transfer/verify/:reference` settles it. The gateway's own 404 means not accepted: the same reference is sent again,
   unless something holds the payout. Then it stays `unknown` and is polled; after changed bank details it becomes
   `failed`. A refusal (400, 404, 422) counts only after a 404 of verify, because the gateway also refuses a reference
   that a lost call has used.
5. **A call without a result may arrive until 15 minutes after its start** (`LOST_CALL`; `called_at` of the attempt).
   Until then no attempt fails: an unaccepted one stays `unknown`, and a refusal of a reference that was called before
   does not count. So nothing is returned, or sent under a new reference, that such a call could pay again. A call that
   was replaced by a later one records no failure, and no call starts after the lease.

**A batch has at most 200 payouts.** More `payoutIds` are 422 with the limit in `invalid_params`. Without `payoutIds`
it selects those that can be sent, oldest first; held ones come last and keep no other out of the batch. `remaining`
counts the payouts that could be sent and were not selected: dispatch again until it is 0. **A dispatch responds
within its route's limit** (100 s at the gateway): no submission starts after 15 s. The worker sends the rest at once,
eight concurrently; the response shows these attempts as `reserved` and counts them as `queued`. `submitted` counts
those that the gateway was called for, `totalMinor` is the total of the batch, the queued ones included.

A process that dies leaves a lease (`due_at`, 90 s). The worker claims what is due: `reserved` is sent, `submitting`
becomes `unknown`, `unknown` is queried at once, at 15 s, 30 s, ... up to every hour; the fifth query opens an
exception (cause `timeout`). Transfers under way are queried after ten minutes, as their webhook may be lost. Ended
transfers are queried again after one day and seven days (`next_poll`), after everything else that is due: a reversal,
or a success after a failure or a reversal, is found then when its webhook is lost (decision 142). The same request
under the same key continues a batch.

**Fees** are booked with the success that reports them, or by the later queries, and corrected by queries only
(decision 40). Amount and reference are checked against the gateway's rules before a call (`clients/paystack.py`).

The balance and the list of banks are queried at the gateway of new transfers, and at every other one with open
transfers (`list_gateways_in_use`); the gauges have the label `gateway`.

**A rejected key** (401, 403) raises one SEV-1 alert and pauses payouts: nothing is claimed, sent or queried until the
gateway responds to a query for the balance. Runbook gateway-key-rejected.

Assumptions: a call arrives at most 15 minutes after its start, and a bank changes the end of a transfer, if at all,
within seven days or with a webhook that is not lost. When the first one fails, the late success contradicts the ledger:
an exception opens, and a `recovery` takes the amount back.
"""
