"""Disputes, their resolution, and chargebacks."""

__all__ = [
    "add_evidence",
    "approve_resolution",
    "check_evidence_upload",
    "dispute_order",
    "find_resolved_order",
    "prepare_resolution",
    "record_chargeback",
    "reject_resolution",
]
