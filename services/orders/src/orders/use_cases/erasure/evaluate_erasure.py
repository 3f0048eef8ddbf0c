"""Report open obligations that block a user's erasure."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from contracts.orders import ErasureJudged
from orders.domain.orders import Windows
from orders.store import erasure


async def evaluate_erasure(
    uow: UnitOfWork,
    request_id: UUID,
    user_id: UUID,
    vendor_id: UUID | None,
    *,
    sequence: int,
    now: datetime,
    windows: Windows,
) -> Rejection | None:
    """Publish the open orders, returns and refunds of a user; without any, block the user's new activity from now on.

    The locks ensure that a concurrent checkout is either counted or rejected. Returns STALE for an outdated request.
    """
    for party_id in (user_id, vendor_id):
        if party_id is not None:
            await erasure.lock_party(uow, party_id)
    matters = await erasure.list_open_matters(uow, user_id, vendor_id, now=now, settled_before=now - windows.returns)
    status: erasure.ErasureStatus = "stays" if matters else "leaves"
    if not await erasure.save_erasure_status(uow, user_id, status, sequence, vendor_id):
        return Rejection.STALE
    uow.publish(ErasureJudged(request_id=request_id, user_id=user_id, open_matters=tuple(matters)))
    return None
