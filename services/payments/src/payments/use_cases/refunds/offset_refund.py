"""Offset a refund against a lost chargeback, which has returned the money to the payer."""

from dataclasses import replace
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import chargeback_postings
from payments.domain.chargebacks import UnsentRefund
from payments.store import chargebacks
from payments.store.refunds import LockedRefund
from payments.use_cases.refunds.record_offset_settled import record_offset_settled


async def offset_refund(uow: UnitOfWork, refund: LockedRefund, now: datetime) -> bool:
    """Return whether a locked refund must not be sent: its charge is disputed, or the bank returned all of it.

    Only uncovered losses offset it: the order or refunds have covered the rest.
    """
    if await chargebacks.refund_is_held(uow, refund.id):
        return True
    rest = refund.amount_minor
    for lost in await chargebacks.lock_lost_chargebacks(uow, refund.charge_id):
        part = UnsentRefund(refund.id, min(rest, lost.allocation.loss_minor))
        if not part.amount_minor:
            continue
        loss = await chargebacks.count_losses(uow, lost.id)
        offset = chargeback_postings.refund_offset(lost.id, loss, refund.id, part.amount_minor, refund.currency)
        await ledger.post(uow, offset)
        remaining = replace(lost.allocation, loss_minor=lost.allocation.loss_minor - part.amount_minor)
        await chargebacks.save_allocation(uow, lost.id, remaining, part)
        await record_offset_settled(uow, part, now)
        rest -= part.amount_minor
    return rest == 0
