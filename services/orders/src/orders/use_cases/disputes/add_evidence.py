"""Add a stored image to a dispute."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import cancel_image_removal
from orders.domain.disputes import EvidenceAuthor
from orders.store import disputes
from orders.use_cases.disputes.steps import lock_disputed_order


async def add_evidence(
    uow: UnitOfWork, order_id: UUID, evidence_id: UUID, author: EvidenceAuthor, byte_count: int, now: datetime
) -> None:
    """Record the image of `byte_count` bytes as evidence of this party.

    Raises the errors of `lock_disputed_order`, MediaUnavailable (503) when the file was removed again.
    """
    await lock_disputed_order(uow, order_id, author)
    await cancel_image_removal(uow, evidence_id, now)
    await disputes.record_evidence(uow, evidence_id, order_id, author, byte_count, now)
