"""Report the open obligations that block a user's erasure."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import ErasureJudged
from payments.store import erasure


async def evaluate_erasure(uow: UnitOfWork, request_id: UUID, user_id: UUID, vendor_id: UUID | None) -> None:
    """Publish the held, unrefunded, quarantined or disputed money of the user's orders and of their vendor's sales.

    No new obligation can follow: orders rejects new orders of the user.
    """
    obligations = await erasure.list_open_obligations(uow, user_id, vendor_id)
    uow.publish(ErasureJudged(request_id=request_id, user_id=user_id, open_matters=tuple(obligations)))
