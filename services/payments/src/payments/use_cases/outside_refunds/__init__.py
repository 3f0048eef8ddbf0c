"""Refunds that were made in the gateway's dashboard (contract section 7.6)."""

__all__ = [
    "prepare_correction",
]

STEPS = (
    "apply_outside_update",
    "correct_outside_refund",
    "publish_outside_refund",
    "record_outside_refund",
    "return_outside_refund",
)
