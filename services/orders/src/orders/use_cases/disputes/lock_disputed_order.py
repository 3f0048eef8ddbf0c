"""Lock the order of a dispute that accepts evidence."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders import store
from orders.domain.disputes import EVIDENCE_IMAGES_MAX, EvidenceAuthor
from orders.domain.errors import ForbiddenTransition, TooManyEvidenceImages
from orders.store import disputes


async def lock_disputed_order(uow: UnitOfWork, order_id: UUID, author: EvidenceAuthor) -> None:
    """Lock the order while its dispute is open and the author has images left.

    The lock serializes concurrent uploads, so that none exceeds the maximum. Raises NotFound, ForbiddenTransition and
    TooManyEvidenceImages (409).
    """
    order = await store.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    if order.status != "disputed":
        raise ForbiddenTransition(order.status)
    if await disputes.count_evidence(uow, order_id, author) >= EVIDENCE_IMAGES_MAX:
        raise TooManyEvidenceImages(EVIDENCE_IMAGES_MAX)
