"""Disputes, their resolution, and chargebacks.

**A resolution divides the escrow balance that payments reported.** Each order stores the `remainingMinor` of the
event with the highest `sequence`. The event `refund_requested` refunds; the resolution releases the rest of the
balance, so a partial release before the dispute is not repeated. Payments debits a refund to escrow first and then to
the released part, and limits a release to the balance. The buyer ends with the refund and the vendor with the rest,
even when a release was committed during the approval. The order becomes `delivered`, and `paid` when escrow is empty.

**A release may be committed while a dispute event is in flight**, within about a tenth of a second. After a full
release the order goes from `disputed` to `paid`, its dispute closes with `released`, and a prepared resolution can
only be rejected. `dispute_resolved` without amounts then lifts the freeze of payments. After a partial release the
dispute continues about the rest.

**A chargeback** (`payments.charge_disputed`) opens a dispute. The bank's decision (`outcome`) closes it in neither
service: escrow stays frozen until the resolution, and `chargebackOutcome` shows the decision to the staff. After a
loss, a resolution for the buyer counts the bank's money as the refund; a resolution for the vendor releases the rest,
or nothing, and payments publishes this release too. After the PIN the status stays, and the wallet pays.

A second resolution while one is prepared, and a second decision, are 409.
"""
