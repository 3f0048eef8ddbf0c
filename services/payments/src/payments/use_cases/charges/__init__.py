"""Charges and their settlement against an order."""
