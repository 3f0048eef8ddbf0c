"""Refunds to payers."""

__all__ = [
    "approve_refund",
    "poll_refund",
    "prepare_refund",
    "query_reported_refunds",
    "refund_order",
    "reject_refund",
    "retry_with_account",
    "submit_refund",
]

STEPS = (
    "apply_refund_update",
    "confirm_failed_attempts",
    "create_refund",
    "enqueue_refund",
    "fail_refund",
    "finish_refund",
    "list_unrecorded_refunds",
    "offset_refund",
    "query_attempt",
    "record_offset_settled",
    "record_refund_update",
    "record_replaced_attempt",
    "record_transfer_fee",
    "resume_refunds",
    "settle_refund",
)
