"""Fail a refund that did not reach its payer."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from contracts.payments import RefundFailed
from payments.domain.accounts import foreign_currency
from payments.store import refunds
from payments.store.refunds import LockedRefund
from payments.use_cases.alerts import alert_refund


async def fail_refund(
    uow: UnitOfWork,
    refund: LockedRefund,
    failure: str,
    gateway_refund_id: str | None,
    *,
    needs_account_at: datetime | None = None,
) -> None:
    """Fail the refund. The money stays in refund_payable until maker and checker decide. Raises a SEV-2 alert (contract
    sections 6 and 7).

    With `needs_account_at` the gateway keeps the refund open until it has an account of the payer.
    """
    await refunds.save_refund_failed(uow, refund.id, failure, gateway_refund_id, needs_account_at)
    uow.publish(
        RefundFailed(
            refund_id=refund.id,
            kind=refund.published_kind,
            amount_minor=refund.amount_minor,
            order_id=refund.order_id,
            buyer_id=refund.buyer_id,
            currency=foreign_currency(refund.currency),
            number=refund.order_number,
        )
    )
    alert_refund(uow, refund, failure, needs_account=needs_account_at is not None)
