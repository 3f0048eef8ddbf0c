"""Disputes, their resolution, and chargebacks."""

__all__ = [
    "approve_resolution",
    "dispute_order",
    "find_resolved_order",
    "prepare_resolution",
    "record_chargeback",
    "reject_resolution",
]

STEPS = (
    "open_dispute",
    "check_not_party",
)
