"""Close the watches of an order's PINs."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store import pins

# After the notifications of the transaction are recorded: feeds are locked before deliveries, and a PIN of the same
# transaction is deleted too.
_DROP_RANK: Final = 1


async def close_watches(uow: UnitOfWork, order_id: UUID) -> None:
    """Close the watches of an order's PINs, which are deleted from their messages before the commit."""
    drop_secrets_later(uow, await pins.close_watches(uow, order_id))


def drop_secrets_later(uow: UnitOfWork, obsolete: Sequence[pins.ObsoletePin]) -> None:
    """Delete PINs from their messages before the commit. The deliveries of all orders of the transaction are locked
    together, by id.
    """
    for one in obsolete:
        uow.defer(_drop_secrets, one, rank=_DROP_RANK)


async def _drop_secrets(uow: UnitOfWork, obsolete: Sequence[pins.ObsoletePin]) -> None:
    await pins.drop_secrets(uow, obsolete)
