"""Report open matters that block a user's erasure."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payouts import ErasureJudged
from payouts.store import erasure, wallets


async def evaluate_erasure(
    uow: UnitOfWork, request_id: UUID, user_id: UUID, vendor_id: UUID | None, minimum_minor: int
) -> None:
    """Publish the open matters of the wallet of the user's vendor; none for a user without a vendor.

    `minimum_minor` is the smallest transfer, in kobo.
    """
    matters: list[str] = []
    if vendor_id is not None:
        await wallets.lock_wallet(uow, vendor_id)
        matters = await erasure.list_open_matters(uow, vendor_id, minimum_minor)
    uow.publish(ErasureJudged(request_id=request_id, user_id=user_id, open_matters=tuple(matters)))
