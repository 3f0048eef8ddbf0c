"""Chargebacks that banks open against a charge.

`charge.dispute.create` and `.remind` open a chargeback, `.resolve` decides it: `merchant-accepted`, `auto-accepted`,
`accepted`, `lost` lose it, `declined`, `won` win it. A dispute is identified by `data.id`, else by its transaction.
It finds its charge by the transaction's reference, else by its id. It is over `refund_amount`, at most the charge;
without a positive whole amount, or in another currency, over all of the charge. An unknown resolution freezes the
charge as well, with a SEV-2 alert. Events in any order end the same: an early decision opens and decides, an opening
after a decision is stale. A webhook that contradicts the recorded decision, or that names no charge, is not believed:
the gateway is queried, and its response is processed. A response that reverses the decision is posted, any number of
times (`chargeback:<id>`, `chargeback_won:<id>`, then with `:2`, `:3`), with a SEV-2 alert. A dispute whose charge the
gateway does not name either raises a SEV-2 alert. A dispute of an unknown charge is dead-lettered and can be
replayed.

A charge that paid several orders has a chargeback of each, with its part: in proportion to what the order still has of
the charge, the remainder on the last. The first has the dispute's identity, dates and responses; the others are parts
of it (`part_of`). They are opened and decided together.

- opened: no posting. `charge_disputed`: orders freezes, payouts holds. A release by staff is 423; a delivery that was
  proven before still releases, and payouts holds it
- lost: `chargeback`: from unsent refunds of the charge (the oldest first), then escrow, then the receivers of its
  money in proportion, the rest `chargeback_loss`
- won: nothing, or after a loss `chargeback_won`: the reversal. A refund that the loss had replaced is created again
  under a new id

No money is returned twice:

- While a dispute of its charge is open, an unsent refund waits (`pending`); the decision resumes it.
- A lost chargeback counts a waiting, failed or prepared refund as returned: that refund is reduced, or `settled`
  without a call.
- A refund decided after the loss counts the bank's part of the order first: resolved for the buyer, only the
  difference is sent.
- A submitted refund cannot be recalled. The amount that the order cannot cover is a loss, SEV-1. If the refund fails,
  its retry posts `refund_spared` against the loss and sends nothing.
- A quarantined charge with an open or lost dispute is not accepted (409); its return waits and counts like any
  refund.

An order whose money a chargeback returned, and that staff resolve for the vendor, gets a release of 0, so that it is
completed.
"""
