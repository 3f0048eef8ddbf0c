"""Issue the remittance of a payout that was processed before remittances existed."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.store import payouts
from payouts.store.documents import issue_remittance_later


async def issue_remittance(uow: UnitOfWork, payout_id: UUID) -> None:
    """Issue the remittance of a processed payout; one that has a remittance keeps it."""
    await payouts.lock_payouts(uow, [payout_id])
    issue_remittance_later(uow, payout_id)
