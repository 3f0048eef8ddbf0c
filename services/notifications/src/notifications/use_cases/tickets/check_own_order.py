"""Check that an order is the caller's own."""

import asyncio
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from notifications.domain.errors import OrderNotYours
from notifications.queries import tickets

# News of an order that was placed a moment ago may still be on its way here.
LOOKS: Final = 4
POLL_SECONDS: Final = 0.5


async def check_own_order(database: Database, order_id: UUID, user_id: UUID) -> None:
    """Raises OrderNotYours (422) unless the user bought the order or sells it; one that is unknown and one of others look the same."""
    for look in range(LOOKS):
        if look:
            await asyncio.sleep(POLL_SECONDS)
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if await tickets.is_party_of_order(uow, order_id, user_id):
                return
    raise OrderNotYours
