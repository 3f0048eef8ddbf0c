"""Whose cart an id names."""

from typing import Final
from uuid import UUID, uuid5

# A person has one cart, so its id follows from theirs: it exists before anything is in it, on every device.
_CARTS: Final = UUID("b7a9f0f2-5a0e-5c0b-9d58-4f4f1f3b7a11")


def cart_id_of(user_id: UUID) -> UUID:
    """The id of the one cart of a person."""
    return uuid5(_CARTS, user_id.bytes.hex())
