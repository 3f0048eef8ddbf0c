"""Return the amount of a processed payout, which the bank returned to the gateway, to its vendor's wallet."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payouts import PayoutReversed
from payouts.domain import accounts
from payouts.domain.returns import LockedPayout
from payouts.use_cases.exceptions.close_open_exception import close_open_exception
from payouts.use_cases.payouts.credit_return import credit_return


async def reverse_payout(uow: UnitOfWork, payout: LockedPayout, reconciliation_id: UUID, now: datetime) -> None:
    """Move gateway cash to the wallet, debt repaid first; the payout, locked and checked, stays `processed`."""
    await credit_return(uow, payout, "reversal", payout.id, accounts.reversal, now)
    uow.publish(
        PayoutReversed(
            payout_id=payout.id,
            vendor_id=payout.vendor_id,
            amount_minor=payout.amount_minor,
            reference=payout.reference,
            reconciliation_id=reconciliation_id,
            number=payout.number,
        )
    )
    await close_open_exception(uow, payout.id, "Reversed: the amount was returned to the wallet.", now)
