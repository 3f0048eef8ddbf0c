"""Charges and their settlement against the orders that their intent asks for.

This process, or the worker, locks the webhook and the orders of the reference. `domain/charges.py` returns the
verdict: `Covered`, `SecondCharge`, `Underpaid`, `ForeignCurrency`, `OrderMismatch` or `UnknownReference`. A payer may
pay a surcharge above the principal: up to the smaller of `CHARGE_SURCHARGE_MAX_BASIS_POINTS` (200) of the principal
plus 10,000 kobo, and `CHARGE_SURCHARGE_MAX_MINOR` (200,000). A larger one is refunded whole, whatever the metadata
has. Both amounts are recorded with the charge, a constraint compares them, and the audit compares them with the
ledger.

Posting, escrows, the orders' projection, the intent, the webhook's outcome and the events commit together, or not at
all.
"""
