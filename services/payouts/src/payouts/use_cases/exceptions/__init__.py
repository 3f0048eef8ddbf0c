"""Payout exceptions: severity, escalation, resolution."""

__all__ = ["check_bank_outages", "check_failure_rate", "classify_exception", "close_exception", "query_exception"]

STEPS = (
    "change_exception",
    "close_open_exception",
    "escalate_batch",
    "hold_payouts",
    "open_exception",
    "resolve_exception",
    "revise_exception",
)
