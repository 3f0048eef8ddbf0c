"""Release a part of an order's escrow by staff: `POST /api/orders/:id/release`."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from common.auth.caller import Caller
from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments.domain.errors import EscrowBalanceDeficit, EscrowLocked, ReleasedByItsVendor
from payments.store import chargebacks
from payments.store.escrow import find_released_minor, lock_escrow
from payments.store.projections import order_exists
from payments.use_cases.escrow.steps import release_escrow


class StaffRelease(NamedTuple):
    """The released amount, and what is still locked now, in kobo."""

    released_minor: int
    locked_minor: int


async def release_by_staff(
    uow: UnitOfWork,
    order_id: UUID,
    amount_minor: int,
    released_by: Caller,
    now: datetime,
    command: IdempotentCommand | None = None,
) -> StaffRelease:
    """Release `amount_minor` kobo, once for each command. The vendor of the order may not release to themselves.

    Raises NotFound, ReleasedByItsVendor (403), EscrowLocked (423), EscrowBalanceDeficit (409), also for an unpaid
    order, and IdempotencyKeyReused (422).
    """
    held = await lock_escrow(uow, order_id)
    if held is None:
        if await order_exists(uow, order_id):
            raise EscrowBalanceDeficit(0)
        raise NotFound
    if held.vendor_id == released_by.vendor_id:
        raise ReleasedByItsVendor
    if (earlier := await find_command_result(uow, command)) is not None:
        return StaffRelease(await find_released_minor(uow, earlier), held.escrow.locked.total_minor)
    if await chargebacks.chargeback_is_open(uow, order_id):
        # Orders may not have frozen the order yet: its money waits for the bank's decision.
        raise EscrowLocked
    release_id = new_id()
    done = await release_escrow(uow, held, release_id, amount_minor, "staff", now, released_by.id)
    await record_command_result(uow, command, release_id)
    return StaffRelease(done.parts.total_minor, done.after.locked.total_minor)
