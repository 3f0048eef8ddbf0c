"""Return the amount of a payout that will not be paid to its vendor's wallet."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from contracts.payouts import PayoutFailed
from payouts.domain import accounts
from payouts.domain.returns import check_restitution
from payouts.store import returns
from payouts.use_cases.exceptions.close_open_exception import close_open_exception
from payouts.use_cases.payouts.credit_return import credit_return


async def restitute_payout(
    uow: UnitOfWork, payout_id: UUID, reason: str, now: datetime, *, cancelled: bool = False
) -> bool:
    """Move the amount from in transit to the wallet, debt repaid first; the payout becomes `failed`. False when it was
    done before.

    The only operation that does this; it acts as the service. The caller has queried the last attempt; one under way is
    refused here too. The vendor sees `reason`. Raises NotFound, PayoutNotPending, AmountAlreadyReturned and
    TransferUnderWay (409).
    """
    payout = await returns.lock_payout_with_attempts(uow, payout_id)
    if payout is None:
        raise NotFound
    if not check_restitution(payout):
        return False
    await credit_return(uow, payout, "restitution", payout_id, accounts.restitution, now)
    await returns.withdraw_unsent_attempts(uow, payout_id, f"withdrawn before it was sent: {reason}", now)
    await returns.mark_failed(uow, payout_id, reason, now)
    uow.publish(
        PayoutFailed(
            payout_id=payout_id,
            vendor_id=payout.vendor_id,
            amount_minor=payout.amount_minor,
            reference=payout.reference,
            cancelled=cancelled,
            number=payout.number,
        )
    )
    await close_open_exception(uow, payout_id, "The amount was returned to the wallet.", now)
    return True
