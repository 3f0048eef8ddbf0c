"""Check an upload of evidence before its file is stored."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import expect_image
from orders.domain.disputes import EvidenceAuthor
from orders.use_cases.disputes.steps import lock_disputed_order


async def check_evidence_upload(
    uow: UnitOfWork, order_id: UUID, evidence_id: UUID, author: EvidenceAuthor, now: datetime
) -> None:
    """Reject an upload that `add_evidence` would reject, so that no file is stored for it.

    The image cleanup removes the file unless `add_evidence` records it within a day. Raises the errors of
    `lock_disputed_order`.
    """
    await lock_disputed_order(uow, order_id, author)
    await expect_image(uow, evidence_id, order_id, now)
