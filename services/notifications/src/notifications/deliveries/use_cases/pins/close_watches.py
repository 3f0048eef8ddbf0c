"""Close the watches of an order's PINs."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.channels import PIN_CHANNELS
from notifications.deliveries.store import pins

# After the notifications of the transaction are recorded: feeds are locked before deliveries, and a PIN of the same
# transaction is deleted too.
_DROP_RANK: Final = 1
# Above every issue of a PIN, within PostgreSQL's integer.
LAST_ISSUE: Final = 2_147_483_647


async def close_watches(uow: UnitOfWork, order_id: UUID, used_id: UUID | None = None) -> None:
    """Close the watches of an order's PINs, which are deleted from their messages before the commit. With `used_id`,
    the id of a watch above every issue, later PINs are rejected.

    The deliveries of all orders of the transaction are locked together, by id.
    """
    closed = (
        await pins.close_watches(uow, order_id)
        if used_id is None
        else await pins.close_watches_for_good(uow, order_id, used_id, LAST_ISSUE, PIN_CHANNELS[0])
    )
    for obsolete in closed:
        uow.defer(_drop_secrets, obsolete, rank=_DROP_RANK)


async def _drop_secrets(uow: UnitOfWork, obsolete: Sequence[pins.ObsoletePin]) -> None:
    await pins.drop_secrets(uow, obsolete)
