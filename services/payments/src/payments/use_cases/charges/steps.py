"""Steps of charges that several operations share."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from contracts.payments import ChargeQuarantined
from payments.domain import identifiers, postings
from payments.domain.charges import (
    Charge,
    Covered,
    QuarantineReason,
    SecondCharge,
    SurchargeBound,
    Suspicious,
    UnknownReference,
    Verdict,
    classify_charge,
    principal_of,
)
from payments.domain.errors import SubjectUnknown
from payments.domain.refunds import NewRefund
from payments.store import charges
from payments.store.charges import PayableOrder
from payments.use_cases.alerts import alert_quarantine
from payments.use_cases.escrow.steps import hold_escrow
from payments.use_cases.refunds.create_refund import create_refund


async def create_overpayment_refund(
    uow: UnitOfWork, posting: Posting, refund: NewRefund, intent_id: UUID, now: datetime
) -> None:
    """Post the overpayment, which credits all of it to the refund, and mark the intent `overpaid`."""
    await ledger.post(uow, posting)
    await charges.save_intent_spent(uow, intent_id, "overpaid")
    await create_refund(uow, refund, now)


async def record_fee(uow: UnitOfWork, identity: str, fee_minor: int, currency: str) -> bool:
    """Return whether the fee was posted. A charge has one fee: another one stays a difference of the reconciliation."""
    if fee_minor <= 0 or not await charges.fee_is_missing(uow, identity):
        return False
    return await ledger.post(uow, postings.gateway_fee(identity, fee_minor, currency))


async def settle_charge(
    uow: UnitOfWork,
    webhook_id: str,
    charge: Charge,
    surcharge_bound: SurchargeBound,
    *,
    is_last_attempt: bool,
    now: datetime,
) -> Verdict | None:
    """Return the verdict; None for a repeated charge. Raises SubjectUnknown for an unknown reference while attempts
    remain.
    """
    order = await charges.lock_payable_order(uow, charge.reference)
    if await charges.charge_is_known(uow, charge):
        # The gateway reports some fees only when it is queried.
        await record_fee(uow, charge.identity, charge.fee_minor, charge.currency)
        return None
    verdict = classify_charge(charge, order.expected if order else None, surcharge_bound)
    if order is not None and isinstance(verdict, Covered):
        surcharge_max_minor = surcharge_bound.max_minor(principal_of(charge, order.expected.settlement))
        await _hold(uow, charge, webhook_id, order, verdict, surcharge_max_minor, now)
    elif order is not None and isinstance(verdict, SecondCharge):
        await _refund(uow, charge, webhook_id, order, now)
    elif isinstance(verdict, Suspicious):
        if isinstance(verdict, UnknownReference) and not is_last_attempt:
            raise SubjectUnknown("no payment of ours has this reference yet")
        await _quarantine(uow, charge, webhook_id, order, verdict.reason, now)
    await record_fee(uow, charge.identity, charge.fee_minor, charge.currency)
    return verdict


async def _hold(
    uow: UnitOfWork,
    charge: Charge,
    webhook_id: str,
    order: PayableOrder,
    verdict: Covered,
    surcharge_max_minor: int,
    now: datetime,
) -> None:
    refund_id = identifiers.overpayment_refund_id(charge.identity)
    charge_id = await charges.record_charge(
        uow, charge, webhook_id, order.order_id, "covered", now, verdict.surcharge_minor, surcharge_max_minor
    )
    posting = postings.charge(
        charge.identity,
        order.order_id,
        refund_id,
        amount_minor=charge.amount_minor,
        escrow_minor=verdict.escrow_minor,
        surplus_minor=verdict.surplus_minor,
        surcharge_minor=verdict.surcharge_minor,
    )
    surplus = NewRefund(
        refund_id, "overpayment", charge_id, order.order_id, order.buyer_id, verdict.surplus_minor, "surplus"
    )
    await hold_escrow(
        uow, posting, order, charge_id, charge.reference, charge.channel, verdict.escrow_minor, surplus, now
    )


async def _refund(uow: UnitOfWork, charge: Charge, webhook_id: str, order: PayableOrder, now: datetime) -> None:
    refund_id = identifiers.overpayment_refund_id(charge.identity)
    charge_id = await charges.record_charge(uow, charge, webhook_id, order.order_id, "second_charge", now)
    posting = postings.overpayment(charge.identity, refund_id, charge.amount_minor)
    refund = NewRefund(
        refund_id, "overpayment", charge_id, order.order_id, order.buyer_id, charge.amount_minor, "second_charge"
    )
    await create_overpayment_refund(uow, posting, refund, order.intent_id, now)


async def _quarantine(
    uow: UnitOfWork,
    charge: Charge,
    webhook_id: str,
    order: PayableOrder | None,
    reason: QuarantineReason,
    now: datetime,
) -> None:
    order_id = order.order_id if order else None
    charge_id = await charges.record_charge(uow, charge, webhook_id, order_id, "quarantined", now)
    await ledger.post(uow, postings.quarantine(charge.identity, charge.reference, charge.amount_minor, charge.currency))
    quarantined_id = await charges.record_quarantined(uow, charge_id, charge, order_id, reason, now)
    alert_quarantine(uow, quarantined_id, charge, order, reason)
    if order is not None:
        # The gateway's transaction is used up: the buyer's next attempt needs a new reference.
        await charges.save_intent_spent(uow, order.intent_id, "quarantined")
    uow.publish(
        ChargeQuarantined(
            reference=charge.reference,
            order_id=order_id,
            amount_minor=charge.amount_minor,
            currency=charge.currency,
            reason=reason,
            buyer_id=order.buyer_id if order else None,
            quarantined_charge_id=quarantined_id,
            number=order.number if order else None,
        )
    )
