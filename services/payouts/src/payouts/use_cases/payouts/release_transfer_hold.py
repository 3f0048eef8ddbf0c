"""Return held money that the gateway did not pay to its vendor's wallet."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain import accounts
from payouts.domain.returns import LockedPayout
from payouts.store import returns
from payouts.use_cases.exceptions.close_open_exception import close_open_exception
from payouts.use_cases.payouts.credit_return import credit_return


async def release_transfer_hold(uow: UnitOfWork, payout: LockedPayout, hold_id: UUID, now: datetime) -> None:
    """Move the hold to the wallet, debt repaid first. The payout, locked and checked, keeps its status."""
    await returns.end_hold(uow, hold_id, "released", now)
    await credit_return(uow, payout, "hold_released", hold_id, accounts.transfer_hold_released, now)
    await close_open_exception(uow, payout.id, "The held money was not paid: it was returned to the wallet.", now)
