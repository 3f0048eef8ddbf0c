"""Chargebacks that banks open against a charge."""

__all__ = [
    "add_evidence",
    "alert_due_chargeback",
    "query_disputes",
    "resolve_chargeback",
    "submit_response",
]

STEPS = (
    "count_charged_back",
    "debit_order",
    "open_chargeback",
    "record_responded",
    "recreate_refunds",
    "release_returned",
    "return_to_order",
    "record_chargeback_lost",
    "record_chargeback_update",
    "record_chargeback_won",
)
