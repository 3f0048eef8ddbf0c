"""Arithmetic on kobo. Integers only: a float never holds money (contract section 1)."""

from collections.abc import Sequence

BASIS_POINTS_PER_WHOLE = 10_000

# A thousand billion naira: above any real price, and sums of many such amounts fit a signed 64-bit integer.
AMOUNT_MINOR_MAX = 100_000_000_000_000


def share_half_even(amount_minor: int, basis_points: int) -> int:
    """Return the `basis_points` share of a non-negative amount in kobo, half to even (contract section 7)."""
    whole, rest = divmod(amount_minor * basis_points, BASIS_POINTS_PER_WHOLE)
    twice = rest * 2
    if twice > BASIS_POINTS_PER_WHOLE or (twice == BASIS_POINTS_PER_WHOLE and whole % 2 == 1):
        return whole + 1
    return whole


def basis_points_of(share_minor: int, amount_minor: int) -> int:
    """Return the basis points of which `share_minor` is `share_half_even` of a positive `amount_minor`.

    Exact for amounts above 10,000 kobo; below them several rates give the same share, and this is one of them.
    """
    return (2 * BASIS_POINTS_PER_WHOLE * share_minor + amount_minor) // (2 * amount_minor)


def apportion(amount_minor: int, parts_minor: Sequence[int]) -> list[int]:
    """Divides `amount_minor` in proportion to the parts, in kobo. Shares are rounded down; the last ones get the rest.

    The shares sum to the amount, and none exceeds its part. Raises ValueError for an amount beyond the sum of the
    parts.
    """
    whole = sum(parts_minor)
    if not 0 <= amount_minor <= whole:
        raise ValueError("an amount is apportioned within the sum of its parts")
    shares = [amount_minor * part // whole if whole else 0 for part in parts_minor]
    rest = amount_minor - sum(shares)
    for index in range(len(shares) - 1, -1, -1):
        share = min(rest, parts_minor[index] - shares[index])
        shares[index] += share
        rest -= share
    return shares


def naira(amount_minor: int) -> float | int:
    """Return the decimal naira number of the specification's `total`. For display only, never for arithmetic."""
    whole, kobo = divmod(amount_minor, 100)
    return whole if kobo == 0 else amount_minor / 100


def format_naira(amount_minor: int) -> str:
    """Return kobo as formatted naira: `-₦1,234.50`."""
    whole, kobo = divmod(abs(amount_minor), 100)
    return f"{'-' if amount_minor < 0 else ''}₦{whole:,}.{kobo:02d}"
