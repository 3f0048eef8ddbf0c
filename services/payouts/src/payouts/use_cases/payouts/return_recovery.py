"""Return a recovered amount to its vendor after the bank returned the transfer to the gateway."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain import accounts
from payouts.domain.accounts import Recovery
from payouts.domain.returns import LockedPayout
from payouts.use_cases.exceptions.close_open_exception import close_open_exception
from payouts.use_cases.payouts.credit_return import credit_return


async def return_recovery(uow: UnitOfWork, payout: LockedPayout, recovery: Recovery, now: datetime) -> None:
    """Move gateway cash to the wallet, debt repaid first. The payout, locked and checked, keeps its status."""
    await credit_return(uow, payout, "recovery_returned", recovery, accounts.recovery_returned, now)
    await close_open_exception(uow, payout.id, "The recovered transfer came back: its amount was returned.", now)
