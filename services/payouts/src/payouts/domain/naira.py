"""Amounts in kobo as naira."""

from decimal import Decimal


def decimal_naira(amount_minor: int) -> Decimal:
    """Return kobo as naira with two decimals, `-1234.50`."""
    return Decimal(amount_minor).scaleb(-2)
