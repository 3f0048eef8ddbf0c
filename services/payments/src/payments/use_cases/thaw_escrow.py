"""Thaw a disputed order's escrow by the resolution."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from payments import store
from payments.domain.identifiers import release_of_resolution
from payments.use_cases.lock_disputed_escrow import lock_disputed_escrow
from payments.use_cases.release_escrow import release_escrow


async def thaw_escrow(uow: UnitOfWork, order_id: UUID, sequence: int, release_minor: int, now: datetime) -> None:
    """Thaws, and releases exactly what the resolution says, in kobo.

    Raises SubjectUnknown, and EscrowBalanceDeficit when the amount is not there.
    """
    held = await lock_disputed_escrow(uow, order_id, sequence)
    if held is None:
        return
    await store.save_dispute(uow, order_id, None, sequence)
    if release_minor:
        release_id = release_of_resolution(order_id, sequence)
        await release_escrow(uow, held, release_id, release_minor, "resolution", now)
