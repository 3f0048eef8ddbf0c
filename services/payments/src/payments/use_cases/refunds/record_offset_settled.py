"""A refund of which a bank has returned a part, or all, in our place."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from contracts.payments import RefundSettled
from payments import store
from payments.domain.accounts import foreign_currency
from payments.domain.chargebacks import UnsentRefund
from payments.store import chargebacks


async def record_offset_settled(uow: UnitOfWork, part: UnsentRefund, owed_minor: int, now: datetime) -> None:
    """Counts `part` as returned: settled when that is all that was owed (kobo), else there is less to send."""
    if part.amount_minor < owed_minor:
        await chargebacks.reduce_refund(uow, part)
        return
    refund = await store.lock_refund(uow, part.id)
    if refund is None:
        raise LookupError("a refund that is locked vanished")
    await store.save_refund_settled(uow, part.id, now, None)
    await store.overtake_refund_decision(uow, part.id)
    uow.publish(
        RefundSettled(
            refund_id=part.id,
            kind=refund["kind"],
            amount_minor=owed_minor,
            order_id=refund["order_id"],
            buyer_id=refund["buyer_id"],
            currency=foreign_currency(refund["currency"]),
        )
    )
