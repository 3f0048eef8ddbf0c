"""Close the watches of a used PIN."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.deliveries import notification_id_of
from notifications.deliveries.store.pins import close_watches_for_good
from notifications.deliveries.use_cases.pins.close_watches import drop_secrets_later

# Above every issue of a PIN, within PostgreSQL's integer.
LAST_ISSUE: Final = 2_147_483_647


async def close_pin_watches(uow: UnitOfWork, order_id: UUID) -> None:
    """Delete the PIN from all messages, and reject PIN events that arrive later."""
    used = notification_id_of("delivery_pin", order_id, "used")
    drop_secrets_later(uow, await close_watches_for_good(uow, order_id, used, LAST_ISSUE, "sms"))
