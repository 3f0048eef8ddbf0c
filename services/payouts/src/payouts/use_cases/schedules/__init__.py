"""Scheduled payouts."""

__all__ = ["change_schedule", "request_scheduled_payout"]
