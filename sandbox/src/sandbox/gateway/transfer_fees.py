"""Fees of the gateway for a transfer in naira."""

# Up to this many kobo, this fee; above, the last one's.
TIERS = ((500_000, 1_000), (5_000_000, 2_500))
HIGHEST_FEE = 5_000


def transfer_fee_minor(amount_minor: int) -> int:
    return next((fee for limit, fee in TIERS if amount_minor <= limit), HIGHEST_FEE)
