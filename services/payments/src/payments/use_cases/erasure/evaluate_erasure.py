"""Somebody wants to be erased."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import ErasureJudged
from payments.store import erasure as leaving


async def evaluate_erasure(uow: UnitOfWork, request_id: UUID, user_id: UUID, vendor_id: UUID | None) -> None:
    """Says what is held, on its way back, doubtful or contested of a person's money, and of their vendor's sales.

    Nothing new begins here: money comes in for an order, and orders refuses those.
    """
    matters = await leaving.list_open_matters(uow, user_id, vendor_id)
    uow.publish(ErasureJudged(request_id=request_id, user_id=user_id, open_matters=tuple(matters)))
