"""Comparison with the gateway's records."""

__all__ = [
    "alert_unexplained",
    "close_case",
    "recheck_cases",
    "reconcile",
]

STEPS = (
    "post_settlement",
    "reconcile_charges",
    "reconcile_refunds",
    "reconcile_settlements",
    "recover_disputes",
)
