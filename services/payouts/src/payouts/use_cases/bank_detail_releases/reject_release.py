"""Reject a prepared release."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payouts.store import bank_detail_releases


async def reject_release(uow: UnitOfWork, release_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """Reject the release: the account stays quarantined, and a release may be prepared again. Raises NotFound, and the
    errors of `evaluate_rejection`.
    """
    prepared = await bank_detail_releases.find_release(uow, release_id, lock=True)
    if prepared is None:
        raise NotFound
    await bank_detail_releases.TABLE.reject(uow, release_id, prepared.decision, by, now, reason)
