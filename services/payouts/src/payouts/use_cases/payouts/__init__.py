"""Payouts: request, cancellation, reset, restitution."""

__all__ = ["cancel_payout", "request_payout", "reset_payout"]

STEPS = (
    "credit_return",
    "hold_contradicted",
    "recover_transfer",
    "release_transfer_hold",
    "restitute_after_settlement",
    "restitute_payout",
    "return_recovery",
    "reverse_payout",
)
