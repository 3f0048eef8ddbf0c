"""Chargebacks that banks open against a charge."""

__all__ = [
    "add_evidence",
    "alert_due_chargeback",
    "query_disputes",
    "resolve_chargeback",
    "submit_response",
]
