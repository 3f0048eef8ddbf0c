"""Referral rewards."""

__all__ = ["credit_reward"]
