"""The first gateway's published fee of a local charge, in kobo."""

FEE_BASIS_POINTS = 150
FEE_FLAT_MINOR = 10_000
FEE_FLAT_FROM_MINOR = 250_000
FEE_MINOR_MAX = 200_000


def fee_of(amount_minor: int) -> int:
    """1.5 % and a flat part, which smaller charges do not pay, up to a maximum."""
    flat_minor = FEE_FLAT_MINOR if amount_minor >= FEE_FLAT_FROM_MINOR else 0
    return min(amount_minor * FEE_BASIS_POINTS // 10_000 + flat_minor, FEE_MINOR_MAX)
