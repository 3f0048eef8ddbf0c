"""Freeze a disputed order's escrow, and thaw it by the resolution, which releases exactly its amount."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.telemetry import STALE_NEWS
from payments import store
from payments.domain.errors import SubjectUnknown
from payments.domain.identifiers import release_of_resolution
from payments.store import HeldOrder
from payments.use_cases.release_escrow import release_escrow


async def freeze_escrow(uow: UnitOfWork, order_id: UUID, sequence: int, now: datetime) -> None:
    """Freezes; news older than the last one about this dispute is stale. Raises SubjectUnknown."""
    if await _locked_unless_stale(uow, order_id, sequence) is not None:
        await store.save_dispute(uow, order_id, now, sequence)


async def thaw_escrow(uow: UnitOfWork, order_id: UUID, sequence: int, release_minor: int, now: datetime) -> None:
    """Thaws and releases. Raises SubjectUnknown, and EscrowBalanceDeficit when the amount is not there."""
    held = await _locked_unless_stale(uow, order_id, sequence)
    if held is None:
        return
    await store.save_dispute(uow, order_id, None, sequence)
    if release_minor:
        release_id = release_of_resolution(order_id, sequence)
        await release_escrow(uow, held, release_id, release_minor, "resolution", now)


async def _locked_unless_stale(uow: UnitOfWork, order_id: UUID, sequence: int) -> HeldOrder | None:
    held = await store.lock_escrow(uow, order_id)
    if held is None:
        raise SubjectUnknown("a dispute of an order without escrow")
    if sequence <= held.dispute_sequence:
        STALE_NEWS.labels("orders.dispute").inc()
        return None
    return held
