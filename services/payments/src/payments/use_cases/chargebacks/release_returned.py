"""Release escrow that returned to a finished order."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.chargebacks import ChargebackAllocation
from payments.domain.escrow import Escrow
from payments.store import chargebacks
from payments.store.escrow import HeldOrder
from payments.use_cases.escrow.release_escrow import release_escrow


async def release_returned(
    uow: UnitOfWork, held: HeldOrder, after: Escrow, allocation: ChargebackAllocation, release_id: UUID, now: datetime
) -> None:
    """At once, because no other release follows."""
    if not allocation.from_locked.total_minor:
        return
    cause = await chargebacks.find_final_release_cause(uow, held.order_id)
    if cause is not None:
        await release_escrow(uow, replace(held, escrow=after), release_id, after.locked.total_minor, cause, now)
