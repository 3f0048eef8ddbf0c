"""Four-eyes corrections of a payout's outcome."""

__all__ = ["approve_reconciliation", "prepare_reconciliation", "reject_reconciliation"]
