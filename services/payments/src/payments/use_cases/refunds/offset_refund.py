"""Spare a refund: what a lost chargeback has given the payer is not sent to them a second time."""

from dataclasses import replace
from datetime import datetime

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import chargeback_postings
from payments.domain.chargebacks import UnsentRefund
from payments.store import chargebacks
from payments.use_cases.refunds.record_offset_settled import record_offset_settled


async def offset_refund(uow: UnitOfWork, refund: asyncpg.Record, now: datetime) -> bool:
    """Whether nothing of a locked, unsent refund may be sent now: its charge is in dispute, or the bank has returned all of it.

    Only losses that nothing covered are counted against it: the rest was taken from the order, or from refunds, already.
    """
    refund_id = refund["id"]
    if await chargebacks.refund_is_held(uow, refund_id):
        return True
    rest: int = refund["amount_minor"]
    for lost in await chargebacks.lock_lost_chargebacks(uow, await chargebacks.find_charge_of_refund(uow, refund_id)):
        part = UnsentRefund(refund_id, min(rest, lost.take.loss_minor))
        if not part.amount_minor:
            continue
        offset = chargeback_postings.refund_offset(lost.id, refund_id, part.amount_minor, refund["currency"])
        await ledger.post(uow, offset)
        left = replace(lost.take, loss_minor=lost.take.loss_minor - part.amount_minor)
        await chargebacks.save_allocation(uow, lost.id, left, part)
        await record_offset_settled(uow, part, rest, now)
        rest -= part.amount_minor
    return rest == 0
