"""Freeze a disputed order's escrow."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments import store
from payments.use_cases.escrow.lock_disputed_escrow import lock_disputed_escrow


async def freeze_escrow(uow: UnitOfWork, order_id: UUID, sequence: int, now: datetime) -> None:
    """Nothing leaves a frozen escrow but by its resolution (423 ESCROW_LOCKED). Raises SubjectUnknown."""
    if await lock_disputed_escrow(uow, order_id, sequence) is not None:
        await store.save_dispute(uow, order_id, now, sequence)
