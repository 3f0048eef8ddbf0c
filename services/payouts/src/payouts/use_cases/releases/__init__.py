"""Signed statements received from payments.

Payments signs each movement of a vendor's money with Ed25519: a number without gaps and the sum so far (decision 32).
The statement is part of `escrow_released`, `escrow_refunded`, `charge_disputed` and `vendor_statement_issued`.
Statements are stored as received (`release_statements`). `check_released_credits` verifies the newest statement and
compares it with the vendor's lines and accounts: before a plan, under the payout's lock before a submission, and
every 30 s for vendors with waiting payouts. It continues from the vendor's checkpoint (decision 141). A difference
skips all payouts of this vendor (`credit_not_released`) and opens an exception of the vendor (SEV-1, neither
`payoutId` nor `batchId`). A missing event holds them (`release_statement_awaited`) and is an exception after 20
minutes (`release_statement_late`, SEV-2). The exception closes when the ledger agrees, and not before (409). `python
-m payouts correct-wallet <vendor> <surplus> <evidence>` posts exactly the present difference back, as a line
`correction`. Runbook `credit-not-released`.
"""
