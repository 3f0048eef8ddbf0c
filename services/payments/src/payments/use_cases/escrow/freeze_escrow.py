"""Freeze a disputed order's escrow."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.store.escrow import save_dispute
from payments.use_cases.escrow.steps import lock_disputed_escrow


async def freeze_escrow(uow: UnitOfWork, order_id: UUID, sequence: int, now: datetime) -> bool:
    """Only the dispute's resolution releases a frozen escrow (423 ESCROW_LOCKED). False for a late event.

    Raises SubjectUnknown.
    """
    if await lock_disputed_escrow(uow, order_id, sequence) is None:
        return False
    await save_dispute(uow, order_id, now, sequence)
    return True
