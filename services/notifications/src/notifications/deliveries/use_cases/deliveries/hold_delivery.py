"""Hold a message back while its provider is paused for a fault of our account."""

from datetime import datetime, timedelta
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.store.deliveries import LockedDelivery, postpone_deliveries
from notifications.deliveries.use_cases.deliveries.fail_delivery import fail_delivery

# A notification that is older surprises more than it informs.
HELD_MAX: Final = timedelta(hours=24)
PAUSED: Final = "the provider is paused: it rejects our account"


async def hold_delivery(uow: UnitOfWork, delivery: LockedDelivery, until: datetime, now: datetime) -> None:
    """Postpone the message. A PIN or code fails at once, so that its next channel follows; any other after a day.

    Neither raises an alert of its own: the pause has one.
    """
    if CATALOG[delivery.template].sensitive or now - delivery.created_at >= HELD_MAX:
        await fail_delivery(uow, delivery.id, PAUSED, alert=False)
    else:
        await postpone_deliveries(uow, {delivery.id: until})
