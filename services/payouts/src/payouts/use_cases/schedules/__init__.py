"""Scheduled payouts.

**A schedule** requests all that is available, at 06:00 in Lagos on its days, as an ordinary `pending` payout of the
user who set it; staff dispatch it as any other. Each day is decided once: payout, decision and next due time commit
together, in one row (`scheduled_payouts`, unique by vendor and day). After a downtime only the latest missed day is
decided. The row of a skipped day has the reason: `vendor_suspended`, `transfer_contradicted`, `debt_outstanding`,
`bank_details_quarantined`, `bank_details_unverified`, or `below_minimum` (the greater of the schedule's
`minimumMinor` and the platform's). `minimumMinor` below the platform's is 422. Setting the same days again keeps a
day that is due now.
"""
