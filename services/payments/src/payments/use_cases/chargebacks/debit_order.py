"""Debit the sources of an allocation: a bank or the gateway returned their money to the payer."""

from dataclasses import replace
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from payments.domain.chargebacks import ChargebackAllocation
from payments.domain.escrow import Escrow
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder, save_charged_back
from payments.use_cases.refunds.record_offset_settled import record_offset_settled


async def debit_order(
    uow: UnitOfWork,
    chargeback: Chargeback,
    held: HeldOrder | None,
    allocation: ChargebackAllocation,
    amount_minor: int,
    posting: Posting,
    now: datetime,
) -> Escrow | None:
    """Post the loss, record it, and count the offset refunds as returned. The order's escrow after it, if it has one."""
    await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, chargeback, "lost", amount_minor, allocation, now)
    for part in allocation.from_refunds:
        await record_offset_settled(uow, part, now)
    if held is None:
        return None
    after = replace(
        held.escrow,
        locked=held.escrow.locked.minus(allocation.from_locked),
        released=held.escrow.released.minus(allocation.from_released),
    )
    await save_charged_back(uow, held.order_id, after, allocation.from_order_minor)
    return after
