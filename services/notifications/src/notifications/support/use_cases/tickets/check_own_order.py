"""Check that an order belongs to the caller."""

import asyncio
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from notifications.deliveries import is_party_of_order
from notifications.support.domain.errors import OrderNotOwn

# The event of an order that was placed a moment ago may not have arrived.
ATTEMPTS: Final = 4
POLL_SECONDS: Final = 0.5


async def check_own_order(database: Database, order_id: UUID, user_id: UUID) -> None:
    """Raise OrderNotOwn (422) unless the user bought the order or sells it. Unknown and foreign orders get the same
    response.
    """
    for attempt in range(ATTEMPTS):
        if attempt:
            await asyncio.sleep(POLL_SECONDS)
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if await is_party_of_order(uow, order_id, user_id):
                return
    raise OrderNotOwn
