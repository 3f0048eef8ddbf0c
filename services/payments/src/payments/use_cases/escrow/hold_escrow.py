"""Hold the money of an order that a charge covers."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from common.primitives.clock import iso
from contracts.payments import EscrowHeld
from payments.domain import escrow
from payments.domain.refunds import NewRefund
from payments.store.charges import PayableOrder
from payments.store.escrow import record_escrow
from payments.use_cases.refunds.create_refund import create_refund


async def hold_escrow(
    uow: UnitOfWork,
    posting: Posting,
    order: PayableOrder,
    charge_id: UUID,
    reference: str,
    channel: str | None,
    escrow_minor: int,
    surplus: NewRefund,
    now: datetime,
) -> None:
    """Post the money, record the escrow and the refund of a surplus, and mark order and intent paid.

    `posting` credits `escrow_minor` kobo, the locked order's total, to its escrow, and the surplus to its refund. A surplus of 0
    needs no refund.
    """
    await ledger.post(uow, posting)
    held = escrow.held(escrow_minor, order.commission_minor, order.delivery_fee_minor)
    await record_escrow(uow, order, charge_id, held, channel, now)
    uow.publish(
        EscrowHeld(
            order_id=order.order_id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            amount_minor=escrow_minor,
            commission_minor=order.commission_minor,
            delivery_fee_minor=order.delivery_fee_minor,
            reference=reference,
            held_at=iso(now),
            number=order.number,
        )
    )
    if surplus.amount_minor:
        await create_refund(uow, surplus, now)
