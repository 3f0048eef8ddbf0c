"""The gateway paid a refund out."""

from datetime import datetime
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import RefundSettled
from payments import store
from payments.domain import postings
from payments.domain.accounts import foreign_currency
from payments.domain.errors import RefundContradiction


async def settle_refund(
    uow: UnitOfWork, refund: asyncpg.Record, attempt_id: UUID, gateway_refund_id: str | None, now: datetime
) -> None:
    """What was owed has left, by this attempt; a decision that waited is overtaken. Raises RefundContradiction when the
    attempt was paid out before, and came back since."""
    refund_id: UUID = refund["id"]
    posting = postings.refund_settled(refund_id, attempt_id, refund["amount_minor"], refund["currency"])
    if not await ledger.post(uow, posting):
        raise RefundContradiction("an attempt that the bank sent back is paid out once more")
    await store.save_refund_settled(uow, refund_id, now, gateway_refund_id)
    await store.overtake_refund_decision(uow, refund_id)
    uow.publish(
        RefundSettled(
            refund_id=refund_id,
            kind=refund["kind"],
            amount_minor=refund["amount_minor"],
            order_id=refund["order_id"],
            buyer_id=refund["buyer_id"],
            currency=foreign_currency(refund["currency"]),
        )
    )
