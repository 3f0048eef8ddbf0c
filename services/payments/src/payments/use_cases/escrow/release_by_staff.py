"""Release a part of an order's escrow by staff: `POST /api/orders/:id/release`."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments.domain.errors import EscrowBalanceDeficit, EscrowLocked, ReleasedByItsVendor
from payments.domain.escrow import Release
from payments.store import chargebacks
from payments.store.escrow import lock_escrow
from payments.store.projections import order_exists
from payments.use_cases.escrow.release_escrow import release_escrow


async def release_by_staff(
    uow: UnitOfWork, order_id: UUID, amount_minor: int, released_by: Caller, now: datetime
) -> Release:
    """Release `amount_minor` kobo. The vendor of the order may not release to themselves.

    Raises NotFound, ReleasedByItsVendor (403), EscrowLocked (423), and EscrowBalanceDeficit (409), also for an unpaid order.
    """
    held = await lock_escrow(uow, order_id)
    if held is None:
        if await order_exists(uow, order_id):
            raise EscrowBalanceDeficit(0)
        raise NotFound
    if held.vendor_id == released_by.vendor_id:
        raise ReleasedByItsVendor
    if await chargebacks.chargeback_is_open(uow, order_id):
        # Orders may not have frozen the order yet: its money waits for the bank's decision.
        raise EscrowLocked
    return await release_escrow(uow, held, new_id(), amount_minor, "staff", now, released_by.id)
