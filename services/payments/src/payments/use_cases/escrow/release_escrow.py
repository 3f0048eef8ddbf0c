"""Release escrow: net to the vendor, commission and delivery fee to the platform (contract section 7)."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from contracts.payments import EscrowReleased
from payments.domain import escrow, postings
from payments.domain.escrow import Release
from payments.store.escrow import HeldOrder, save_release
from payments.use_cases.escrow.describe_escrow import describe_escrow
from payments.use_cases.statements.sign_movement import sign_movement

Cause = Literal["delivery", "staff", "resolution"]


async def release_escrow(
    uow: UnitOfWork,
    held: HeldOrder,
    release_id: UUID,
    amount_minor: int,
    cause: Cause,
    now: datetime,
    released_by: UUID | None = None,
) -> Release:
    """Post and record the release of `amount_minor` kobo. Raises EscrowLocked (423) and EscrowBalanceDeficit (409).

    A release of 0 has no posting. Its event ends the wait of an order whose money a bank charged back.
    """
    plan = escrow.release(held.escrow, amount_minor, resolves_dispute=cause == "resolution")
    if amount_minor:
        await ledger.post(uow, postings.release(release_id, held.order_id, held.vendor_id, plan.parts))
    await save_release(uow, held.order_id, plan.after, release_id, plan.parts, cause, released_by, now)
    statement = await sign_movement(uow, held.vendor_id, f"release:{release_id}", plan.parts.vendor_minor)
    uow.publish(
        EscrowReleased(
            order_id=held.order_id,
            buyer_id=held.buyer_id,
            vendor_id=held.vendor_id,
            release_id=release_id,
            gross_minor=plan.parts.total_minor,
            commission_minor=plan.parts.commission_minor,
            delivery_fee_minor=plan.parts.delivery_fee_minor,
            net_minor=plan.parts.vendor_minor,
            remaining_minor=plan.after.locked.total_minor,
            remaining_vendor_minor=plan.after.locked.vendor_minor,
            statement=statement,
            escrow=describe_escrow(held, plan.after),
            number=held.number,
        )
    )
    return plan
