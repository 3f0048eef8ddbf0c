"""Steps of chargebacks that several operations share."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from common.observability.telemetry import STALE_EVENTS
from common.primitives.ids import new_id
from common.primitives.lifecycles import Rejection
from contracts.payments import ChargeDisputed
from payments.domain import chargeback_postings
from payments.domain.chargebacks import (
    ChargebackAllocation,
    ChargebackUpdate,
    DisputedCharge,
    UnsentRefund,
    allocate_chargeback,
    disputed_minor,
    disputed_vendor_minor,
    due_alert_key,
)
from payments.domain.errors import DisputeUnconfirmed, SubjectUnknown
from payments.domain.escrow import Escrow
from payments.domain.identifiers import reversal_refund_id, won_chargeback_release_id
from payments.domain.refunds import NewRefund
from payments.domain.transitions import CHARGEBACK
from payments.domain.webhooks import ReportSource
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder, lock_escrow, save_charged_back
from payments.use_cases.alerts import alert_chargeback, alert_reversed_decision, alert_unknown_dispute, clear_alert
from payments.use_cases.escrow.steps import describe_escrow, release_escrow
from payments.use_cases.refunds.create_refund import create_refund
from payments.use_cases.refunds.record_offset_settled import record_offset_settled
from payments.use_cases.refunds.resume_refunds import resume_refunds
from payments.use_cases.statements.steps import sign_movement


async def count_charged_back(uow: UnitOfWork, held: HeldOrder, refund_id: UUID, amount_minor: int) -> int:
    """Return the part of `amount_minor` (kobo) that the bank has returned to the buyer. No money moves, so nothing is
    posted.

    The refund's row must exist.
    """
    rest = amount_minor
    for lost in await chargebacks.lock_lost_chargebacks(uow, held.charge_id):
        allocation = lost.allocation
        counted = min(rest, allocation.from_order_minor)
        if not counted:
            continue
        from_locked = allocation.from_locked.share(min(counted, allocation.from_locked.total_minor))
        from_released = allocation.from_released.share(counted - from_locked.total_minor)
        remaining = replace(
            allocation,
            from_locked=allocation.from_locked.minus(from_locked),
            from_released=allocation.from_released.minus(from_released),
        )
        await chargebacks.save_allocation(uow, lost.id, remaining, UnsentRefund(refund_id, counted))
        rest -= counted
    return amount_minor - rest


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


async def open_chargeback(
    uow: UnitOfWork,
    charge: DisputedCharge,
    held: HeldOrder | None,
    identity: str,
    amount_minor: int,
    reason: str | None,
    now: datetime,
) -> Chargeback:
    """Publish `charge_disputed`: orders freezes the order, and payouts holds the vendor's part."""
    chargeback_id = new_id()
    await chargebacks.record_chargeback(uow, chargeback_id, identity, charge, amount_minor, reason, now)
    if held is not None:
        uow.publish(
            ChargeDisputed(
                order_id=held.order_id,
                buyer_id=held.buyer_id,
                vendor_id=held.vendor_id,
                amount_minor=amount_minor,
                chargeback_id=chargeback_id,
                vendor_minor=disputed_vendor_minor(amount_minor, held.escrow),
                remaining_minor=held.escrow.locked.total_minor,
                remaining_vendor_minor=held.escrow.locked.vendor_minor,
                escrow=describe_escrow(held, held.escrow),
                number=held.number,
            )
        )
    alert_chargeback(uow, chargeback_id, "opened", charge, amount_minor)
    return Chargeback(chargeback_id, amount_minor, charge.currency, "opened", ChargebackAllocation())


async def record_chargeback_lost(
    uow: UnitOfWork,
    chargeback: Chargeback,
    charge: DisputedCharge,
    held: HeldOrder | None,
    amount_minor: int,
    now: datetime,
) -> None:
    """Post the loss, also after an earlier win. Unsent refunds count as returned by the bank, so that no money is returned twice.

    A submitted refund cannot be recalled. The uncovered amount is then a loss, which a later failure of the refund offsets.
    """
    refunds = await chargebacks.lock_unsent_refunds(uow, charge.id)
    allocation = allocate_chargeback(amount_minor, refunds, held.escrow if held else None)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    loss = await chargebacks.count_losses(uow, chargeback.id) + 1
    posting = chargeback_postings.chargeback(chargeback.id, loss, order_id, vendor_id, charge.currency, allocation)
    after = await debit_order(uow, chargeback, held, allocation, amount_minor, posting, now)
    if held is not None and after is not None:
        from_vendor_minor = allocation.from_released.vendor_minor
        source = f"chargeback:{chargeback.id}:lost"
        statement = await sign_movement(uow, held.vendor_id, source, -from_vendor_minor)
        uow.publish(
            ChargeDisputed(
                order_id=held.order_id,
                buyer_id=held.buyer_id,
                vendor_id=held.vendor_id,
                amount_minor=amount_minor,
                outcome="lost",
                chargeback_id=chargeback.id,
                from_vendor_minor=from_vendor_minor,
                from_commission_minor=allocation.from_released.commission_minor,
                from_delivery_fee_minor=allocation.from_released.delivery_fee_minor,
                remaining_minor=after.locked.total_minor,
                remaining_vendor_minor=after.locked.vendor_minor,
                statement=statement,
                escrow=describe_escrow(held, after),
                number=held.number,
            )
        )
    alert_chargeback(uow, chargeback.id, "lost", charge, amount_minor, allocation.loss_minor)
    await resume_refunds(uow, charge.id)


async def record_responded(uow: UnitOfWork, chargeback_id: UUID, now: datetime) -> None:
    """Repeatable: the first response counts."""
    if await chargebacks.save_responded(uow, chargeback_id, now):
        clear_alert(uow, due_alert_key(chargeback_id), "the dispute has its response")


async def recreate_refunds(
    uow: UnitOfWork,
    chargeback: Chargeback,
    loss: int,
    charge: DisputedCharge,
    held: HeldOrder | None,
    reason: str,
    now: datetime,
) -> list[UnsentRefund]:
    """Return the new refunds of the `loss`-th loss of the chargeback."""
    recreated = []
    for part in await chargebacks.claim_refund_parts(uow, chargeback.id):
        refund = NewRefund(
            id=reversal_refund_id(chargeback.id, loss, part.id),
            # Not of kind `order`: orders has recorded the order's refund already.
            kind="overpayment",
            charge_id=charge.id,
            order_id=charge.order_id,
            buyer_id=held.buyer_id if held else None,
            amount_minor=part.amount_minor,
            reason=reason,
            currency=charge.currency,
        )
        await create_refund(uow, refund, now)
        recreated.append(UnsentRefund(refund.id, part.amount_minor))
    return recreated


async def release_returned(
    uow: UnitOfWork, held: HeldOrder, after: Escrow, allocation: ChargebackAllocation, release_id: UUID, now: datetime
) -> None:
    """At once, because no other release follows."""
    if not allocation.from_locked.total_minor:
        return
    cause = await chargebacks.find_final_release_cause(uow, held.order_id)
    if cause is not None:
        await release_escrow(uow, replace(held, escrow=after), release_id, after.locked.total_minor, cause, now)


async def return_to_order(uow: UnitOfWork, held: HeldOrder, allocation: ChargebackAllocation) -> Escrow:
    """Return the escrow after it. Its posting belongs to the same unit of work."""
    after = replace(
        held.escrow,
        locked=held.escrow.locked.plus(allocation.from_locked),
        released=held.escrow.released.plus(allocation.from_released),
    )
    await save_charged_back(uow, held.order_id, after, -allocation.from_order_minor)
    return after


async def record_chargeback_won(
    uow: UnitOfWork, chargeback: Chargeback, charge: DisputedCharge, held: HeldOrder | None, now: datetime
) -> None:
    """Post `chargeback_won` after a loss; an open chargeback has no posting to reverse.

    A refund that the loss replaced is created again, because the bank has debited that money to the payer. Escrow that
    returns to a finished order is released to its vendor at once, because no other release follows.
    """
    allocation = chargeback.allocation
    loss = await chargebacks.count_losses(uow, chargeback.id)
    recreated = await recreate_refunds(uow, chargeback, loss, charge, held, "chargeback_won", now)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    if chargeback.status == "lost":
        posting = chargeback_postings.chargeback_won(
            chargeback.id, loss, order_id, vendor_id, charge.currency, allocation, recreated
        )
        await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, chargeback, "won", chargeback.amount_minor, ChargebackAllocation(), now)
    if held is not None:
        after = await return_to_order(uow, held, allocation)
        to_vendor_minor = allocation.from_released.vendor_minor
        statement = await sign_movement(uow, held.vendor_id, f"chargeback:{chargeback.id}:won", to_vendor_minor)
        uow.publish(
            ChargeDisputed(
                order_id=held.order_id,
                buyer_id=held.buyer_id,
                vendor_id=held.vendor_id,
                amount_minor=chargeback.amount_minor,
                outcome="won",
                chargeback_id=chargeback.id,
                to_vendor_minor=to_vendor_minor,
                to_commission_minor=allocation.from_released.commission_minor,
                to_delivery_fee_minor=allocation.from_released.delivery_fee_minor,
                remaining_minor=after.locked.total_minor,
                remaining_vendor_minor=after.locked.vendor_minor,
                statement=statement,
                escrow=describe_escrow(held, after),
                number=held.number,
            )
        )
        await release_returned(uow, held, after, allocation, won_chargeback_release_id(chargeback.id, loss), now)
    alert_chargeback(uow, chargeback.id, "won", charge, chargeback.amount_minor)
    await resume_refunds(uow, charge.id)


async def record_chargeback_update(
    uow: UnitOfWork, event_type: str, update: ChargebackUpdate, source: ReportSource, now: datetime
) -> bool:
    """Return whether the update changed anything. A decision without an opening opens the chargeback; an opening after it is stale.

    A decision that reverses another one is recorded from the gateway's response only. Raises SubjectUnknown for an unknown
    charge, and DisputeUnconfirmed for a webhook that needs the gateway's response.
    """
    if update.reference is None and update.gateway_id is None:
        if source == "webhook":
            raise DisputeUnconfirmed("the dispute names no charge")
        alert_unknown_dispute(uow, update.identity, update.reason)
        return False
    charge = await chargebacks.lock_disputed_charge(uow, update.reference, update.gateway_id)
    if charge is None:
        raise SubjectUnknown("dispute of an unknown charge")
    held = await lock_escrow(uow, charge.order_id) if charge.order_id is not None else None
    current = await chargebacks.lock_chargeback(uow, update.identity)
    if current is not None and not _is_new_report(current, update, source):
        STALE_EVENTS.labels(event_type).inc()
        return False
    amount_minor = disputed_minor(update, charge)
    if current is None:
        current = await open_chargeback(uow, charge, held, update.identity, amount_minor, update.reason, now)
    elif update.outcome is None:
        alert_chargeback(uow, current.id, "opened", charge, amount_minor)
    await _record_date(uow, current.id, update, now)
    if update.is_unclear:
        alert_chargeback(uow, current.id, "unclear", charge, amount_minor)
    await _record_outcome(uow, current, charge, held, update, amount_minor, now)
    return True


def _is_new_report(current: Chargeback, update: ChargebackUpdate, source: ReportSource) -> bool:
    """Raise DisputeUnconfirmed for a webhook that reverses the recorded decision: it may be an older one."""
    after = CHARGEBACK.next_state(current.status, update.outcome or "opened")
    if after is not Rejection.FORBIDDEN:
        return not isinstance(after, Rejection)
    if source == "webhook":
        raise DisputeUnconfirmed(
            f"dispute {update.identity} was {current.status}, and is now reported as {update.outcome}"
        )
    return source == "gateway"


async def _record_outcome(
    uow: UnitOfWork,
    current: Chargeback,
    charge: DisputedCharge,
    held: HeldOrder | None,
    update: ChargebackUpdate,
    amount_minor: int,
    now: datetime,
) -> None:
    if update.outcome is None:
        return
    if current.status != "opened":
        alert_reversed_decision(uow, current, update.outcome, now)
    if update.outcome == "lost":
        await record_chargeback_lost(uow, current, charge, held, amount_minor, now)
    else:
        await record_chargeback_won(uow, current, charge, held, now)


async def _record_date(uow: UnitOfWork, chargeback_id: UUID, update: ChargebackUpdate, now: datetime) -> None:
    """Record the date; a report without one keeps the earlier one."""
    if update.due_at is not None:
        await chargebacks.save_due(uow, chargeback_id, update.due_at)
    if not update.awaits_response:
        await record_responded(uow, chargeback_id, now)
