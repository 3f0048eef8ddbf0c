"""Referral rewards, which are part of a buyer's balance."""
