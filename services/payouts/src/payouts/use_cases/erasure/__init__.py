"""Open matters that block a user's erasure.

`evaluate_erasure` reports the wallet's balance, debt and payouts in progress. `vendor_closed` removes legal name,
accounts, schedule, and the reasons on payouts and reconciliations.
"""
