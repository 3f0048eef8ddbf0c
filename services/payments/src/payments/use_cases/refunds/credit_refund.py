"""Credit a refund, or a part of it, to its buyer's balance: settled at once, and final."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import postings
from payments.domain.balances import Parts
from payments.domain.refunds import NewRefund
from payments.store import balances, refunds
from payments.store.escrow import save_to_balance


async def credit_refund(uow: UnitOfWork, refund: NewRefund, parts: Parts, now: datetime) -> None:
    """Post and record the part of an order's refund that the balance receives; its amount is due as
    `refund_payable`.
    """
    if refund.order_id is None or refund.buyer_id is None:
        raise ValueError("only the refund of an order goes to a balance")
    uow.require_alone()
    await ledger.post(uow, postings.balance_refund(refund.id, refund.buyer_id, parts.total_minor))
    await balances.record_credit(uow, refund.buyer_id, "refund", parts, now, refund.order_id)
    await save_to_balance(uow, refund.order_id, parts)
    await refunds.save_refund_credited(uow, refund.id, parts.total_minor, now)
