"""Approvals of payout runs above `DISPATCH_TWO_PERSON_MINOR`, by a second person."""
