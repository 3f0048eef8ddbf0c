"""Goodwill refunds, which the platform pays to a buyer's balance (decision 205).

Support prepares an amount with its reason, a finance checker approves its hash. `goodwill_refund:<id>` debits
`goodwill_expense` and credits the buyer's balance, settled at once. Neither the order's escrow nor the vendor's wallet
changes, before the payout or after it. An order receives at most what is left of its payment after refunds and
chargebacks, and at most `GOODWILL_ORDER_MAX_MINOR` in all. The escrow's lock serializes it with refunds, releases and
chargebacks; while a chargeback is open it is refused.
"""
