"""Payouts: request, cancellation, reset, restitution.

**The minimum** (the greater of `PAYOUT_MINIMUM_MINOR` and `PAYOUT_TRANSFER_MINIMUM_MINOR`, the gateway's own of 100
naira) rejects a smaller request with 422, invalid param `amountMinor` and the minimum. Errors that no other amount
avoids take precedence (suspension, debt, bank details).

**A remainder** below the gateway's smallest transfer cannot be paid out. Its vendor can give it up
(`waive_remainder`, decision 46); erasure reports it as `wallet_remainder`.

**Payouts**: a request moves the amount from wallet to transit under the wallet's lock. A dispatch sends each waiting
payout once. A suspended vendor's payouts are held: a request is 409, a dispatch skips them (`vendor_suspended`). So
are those of a vendor with debt (`debt_outstanding`), until releases or cancelled payouts have repaid it.

**Cancellation**: `POST /api/payouts/:id/cancel` (merchant own; no body, or `{}`) → the payout, `failed`. The amount
of a `pending` payout that was never sent returns at once, and a reserved attempt is withdrawn. 409 once it was sent
or is decided; 404 for another vendor's; a repetition has no effect.
"""
