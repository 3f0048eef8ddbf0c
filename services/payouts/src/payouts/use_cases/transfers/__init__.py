"""Transfers to banks: dispatch, submission, results."""

__all__ = [
    "compare_transfers",
    "dispatch_payouts",
    "pause_payouts",
    "record_transfer_update",
    "resolve_transfer",
    "resume_payouts",
    "send_retry",
]

STEPS = (
    "confirm_failed_attempts",
    "query_attempts",
    "record_found_transfer",
    "record_update",
    "start_submission",
    "stop_other_attempts",
    "submit_transfer",
)
