"""Postings to vendors' wallets.

- **Wallet**: consumes `escrow_held`, `escrow_released` and `escrow_refunded`. A release is credited once, by its
  `releaseId`, and repays the vendor's debt first. A refund from an empty wallet becomes debt. The locked amount is
  the vendor's net share of escrow for each order. The event's `sequence` decides, so that any order of events ends in
  the same wallet.
- **Chargebacks**: consumes `charge_disputed`. Opened: the vendor's part is held, as far as escrow does not cover it
  and the wallet has it; later credits of any kind are held too, up to the amount at stake, and a refund of the order
  returns a part of the hold. A payout that was requested after a credit of the order is skipped (`disputed`) until
  the wallet holds all that is at stake. Won: the hold is released and repays debt first. Lost: the amount is debited,
  and the shortfall becomes debt. `GET /api/wallets/current` shows `heldMinor`.
"""
