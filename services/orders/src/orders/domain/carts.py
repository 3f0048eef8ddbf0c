"""The id of a cart, and the offers for its lines."""

from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID, uuid5

# A user has one cart, whose id derives from the user's: it is the same on every device, also while the cart is empty.
_CARTS: Final = UUID("b7a9f0f2-5a0e-5c0b-9d58-4f4f1f3b7a11")

# Longer than the summer between two sessions: a line that old is not what its buyer wants today.
KEPT: Final = timedelta(days=180)


def cart_id_of(user_id: UUID) -> UUID:
    """Return the id of the user's cart."""
    return uuid5(_CARTS, user_id.bytes.hex())


class CartOffer(NamedTuple):
    """A listed product, or its variant, at its current price (kobo)."""

    vendor_id: UUID
    name: str
    unit_price_minor: int
