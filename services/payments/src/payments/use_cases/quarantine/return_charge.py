"""A quarantined charge goes back to whoever paid it, in its own currency."""

from datetime import datetime

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments import store
from payments.domain import identifiers, postings
from payments.use_cases.charges.create_overpayment_refund import REFUND_QUEUE
from payments.use_cases.quarantine.clear_quarantine_alert import clear_quarantine_alert


async def return_charge(uow: UnitOfWork, charge: asyncpg.Record, reason: str, now: datetime) -> None:
    """All of it is owed back, and sent along the ladder of every refund. The posting key is the charge's."""
    refund_id = identifiers.refund_of_quarantine(charge["identity"])
    await ledger.post(
        uow,
        postings.quarantine_release(
            charge["identity"],
            charge["reference"],
            charge["currency"],
            order_id=None,
            refund_id=refund_id,
            escrow_minor=0,
            refund_minor=charge["amount_minor"],
        ),
    )
    buyer_id = None
    if charge["order_id"] is not None:
        buyer_id = await store.find_buyer_of_order(uow, charge["order_id"])
    await store.record_refund_if_new(
        uow,
        refund_id,
        "quarantine",
        charge["charge_id"],
        charge["order_id"],
        buyer_id,
        charge["amount_minor"],
        reason,
        now,
        charge["currency"],
    )
    await store.save_quarantined(uow, charge["id"], "returned", refund_id=refund_id)
    clear_quarantine_alert(uow, charge["id"], "returned")
    uow.enqueue_work(REFUND_QUEUE, refund_id, {"refundId": str(refund_id)})
