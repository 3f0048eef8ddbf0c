"""Referral rewards, which are part of a buyer's balance."""

__all__ = ["credit_reward", "move_rewards"]
