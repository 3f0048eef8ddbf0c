"""Approvals of payout runs above `DISPATCH_TWO_PERSON_MINOR`, by a second person."""

__all__ = ["approve_dispatch", "prepare_dispatch", "reject_dispatch"]
