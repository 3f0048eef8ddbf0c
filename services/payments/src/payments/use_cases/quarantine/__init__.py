"""Charges that match no order: four-eyes decisions.

The decision is `{outcome, reason}`: `quarantined` → `prepared` → `accepted` or `returned`. `accept` requires naira, a
known order of the charge's reference, and at least its total. Otherwise it is 409 with the reason, at the preparation
and again at the approval. The surplus becomes a refund of kind `overpayment`; for an order that is paid by then it is
all of the charge. `return` refunds all of it in its own currency, kind `quarantine`. A currency code that is not in
capitals names its currency in the ledger and pays nothing by itself. A charge without a currency code is posted as
`XXX` and refunded in the currency of the gateway's charge.
"""
