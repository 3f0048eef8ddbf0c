"""Staff close an exception with evidence."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payouts.domain.errors import CreditNotReleased
from payouts.domain.exceptions import check_closing
from payouts.store import exceptions, payouts
from payouts.use_cases.exceptions.steps import resolve_exception
from payouts.use_cases.releases.check_released_credits import check_released_credits


async def close_exception(uow: UnitOfWork, exception_id: UUID, evidence: str, by: UUID, now: datetime) -> None:
    """Close a payout's exception once its money has arrived, at the bank or in the wallet. A vendor's exception closes
    once the wallet is covered, a batch's at any time. A repetition has no effect.

    Locks the payout before the exception. Acts as the service: the on-call staff may not read payouts. Raises
    NotFound, PayoutUnsettled and CreditNotReleased (409).
    """
    payout_id = await exceptions.find_payout_of_exception(uow, exception_id)
    settlement = None
    if payout_id is not None:
        await payouts.lock_payouts(uow, [payout_id])
        settlement = await exceptions.read_settlement(uow, payout_id)
    exception = await exceptions.lock_exception(uow, exception_id)
    if exception is None:
        raise NotFound
    if exception.held_vendor_id is not None and exception.is_open:
        checks = await check_released_credits(uow, [exception.held_vendor_id], now)
        if checks[exception.held_vendor_id].cover != "covered":
            raise CreditNotReleased
    if check_closing(exception, settlement):
        await resolve_exception(uow, exception, evidence, now, by)
