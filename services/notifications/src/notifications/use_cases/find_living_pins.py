"""Find the delivery PINs that no text of a ticket may hold."""

from uuid import UUID

from common.database import UnitOfWork
from common.sealing import SealBroken, Sealer
from notifications.domain.deliveries import Sealed
from notifications.queries import tickets


async def find_living_pins(
    uow: UnitOfWork, sealer: Sealer, user_id: UUID | None, order_id: UUID | None
) -> frozenset[str]:
    """The PINs of the customer and of the order, opened in memory for a moment. Acts as the service: nobody else may read them."""
    found: list[Sealed] = await tickets.list_living_pins(uow, user_id, order_id)
    return frozenset(pin for pin in (_opened(sealer, sealed) for sealed in found) if pin)


def _opened(sealer: Sealer, sealed: Sealed) -> str:
    try:
        return sealer.unseal(sealed.text, sealed.context)
    except SealBroken:
        # It opens nothing for its own message either, which says so aloud.
        return ""
