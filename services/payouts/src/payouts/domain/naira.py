"""Amounts in kobo as naira."""

from decimal import Decimal


def decimal_naira(amount_minor: int) -> Decimal:
    """Return kobo as naira with two decimals, `-1234.50`."""
    return Decimal(amount_minor).scaleb(-2)


def format_naira(amount_minor: int) -> str:
    """Return kobo as formatted naira: `-₦1,234.50`."""
    whole, kobo = divmod(abs(amount_minor), 100)
    return f"{'-' if amount_minor < 0 else ''}₦{whole:,}.{kobo:02d}"
