"""Payment intents and their attempts.

- `opening`: recorded; the gateway has not responded
- `pending`: the buyer can pay
- `paid`: a charge covered the order
- `quarantined`: the received charge does not pay; the next attempt has a new reference
- `failed`: declined; `failureReason` is the gateway's reason without numbers, addresses and mark-up
- `overpaid`: this attempt brought a second charge
- `closed`: the order ended, or another attempt paid it

`charge.failed` or a query to the gateway's verify endpoint reports a failure. The first query is 30 s after the
opening of an attempt; the delays grow until an hour after its expiry. `payments.payment_failed` is published once.
An intent for a purchase asks for its unpaid orders (`intent_orders`); the end of one of them closes it.
The buyer opens another attempt under a new reference. A late success of the failed attempt is settled as usual, and a
failure after a success is stale. A unique index allows one live intent for each order. Every call has its own
reference, kept in `payment_references`: a charge under any of them finds its order.
"""
