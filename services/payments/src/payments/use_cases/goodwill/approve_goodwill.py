"""Approve a prepared goodwill refund."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import GoodwillGiven
from payments.domain import postings
from payments.domain.balances import Parts
from payments.store import balances
from payments.store.goodwill import GOODWILL
from payments.use_cases.goodwill.steps import check_possible, lock_order_of_goodwill


async def approve_goodwill(
    uow: UnitOfWork, goodwill_id: UUID, approved_hash: str, order_max_minor: int, by: Caller, now: datetime
) -> None:
    """Credit the buyer's balance at the platform's expense, once.

    Evaluated again, because a refund or a chargeback may have returned the payment since. Raises NotFound, OwnGoodwill
    (403), and the errors of `evaluate_approval` and `check_possible`.
    """
    held = await lock_order_of_goodwill(uow, goodwill_id, by)
    goodwill = await GOODWILL.approve(uow, goodwill_id, approved_hash, by.id, now)
    if goodwill is None:
        return
    await check_possible(uow, held, goodwill, order_max_minor)
    await ledger.post(uow, postings.goodwill_refund(goodwill.id, goodwill.buyer_id, goodwill.amount_minor))
    parts = Parts(refunds_minor=goodwill.amount_minor)
    await balances.record_credit(uow, goodwill.buyer_id, "refund", parts, now, goodwill.order_id)
    uow.publish(
        GoodwillGiven(
            goodwill_id=goodwill.id,
            order_id=goodwill.order_id,
            buyer_id=goodwill.buyer_id,
            amount_minor=goodwill.amount_minor,
            number=held.number,
        )
    )
