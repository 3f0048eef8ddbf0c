"""Finish a refund: the payer has the money."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from contracts.payments import RefundSettled
from payments.domain.accounts import foreign_currency
from payments.domain.transitions import FAILED
from payments.store import decisions, refunds
from payments.store.refunds import LockedRefund
from payments.use_cases.alerts import clear_refund_alert


async def finish_refund(uow: UnitOfWork, refund: LockedRefund, gateway_refund_id: str | None, now: datetime) -> None:
    """Mark the refund settled, close a waiting decision about it, and publish `refund_settled`."""
    await refunds.save_refund_settled(uow, refund.id, now, gateway_refund_id)
    await decisions.overtake_refund_decision(uow, refund.id)
    if refund.status in FAILED:
        clear_refund_alert(uow, refund, "the refund was paid after all")
    uow.publish(
        RefundSettled(
            refund_id=refund.id,
            kind=refund.published_kind,
            amount_minor=refund.amount_minor + refund.balance_minor,
            balance_minor=refund.balance_minor or None,
            order_id=refund.order_id,
            buyer_id=refund.buyer_id,
            currency=foreign_currency(refund.currency),
            number=refund.order_number,
        )
    )
