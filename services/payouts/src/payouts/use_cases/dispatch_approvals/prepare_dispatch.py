"""Prepare a payout run for the approval of a second person."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import must_match
from common.primitives.problems import NotFound
from payouts.domain.errors import DispatchPrepared, PreviewNeeded
from payouts.domain.transfer_fees import FeeSchedule
from payouts.queries.batches import describe_batch, hash_of_list
from payouts.store import dispatch_approvals


async def prepare_dispatch(
    uow: UnitOfWork, batch_id: UUID, seen_hash: str, by: UUID, now: datetime, fees: FeeSchedule
) -> None:
    """Record the hash of the list that the maker saw. The repetition by the same person has no effect.

    Raises NotFound, PreviewNeeded (409: no preview, or one without transfers), OtherContent (409: the list changed
    since) and DispatchPrepared (409: prepared by another person).
    """
    batch = await describe_batch(uow, batch_id, fees)
    if not batch.dry_run or not batch.transfers:
        raise PreviewNeeded
    must_match(await hash_of_list(uow, batch_id, fees), seen_hash)
    if await dispatch_approvals.save_approval_if_new(uow, batch_id, seen_hash, by, now):
        return
    existing = await dispatch_approvals.lock_approval(uow, batch_id)
    if existing is None:
        raise NotFound
    if (existing.prepared_by, existing.hash, existing.status) != (by, seen_hash, "prepared"):
        raise DispatchPrepared
