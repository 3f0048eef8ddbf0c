"""Steps of charges that several operations share."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from contracts.payments import ChargeQuarantined
from payments.domain import identifiers, postings
from payments.domain.accounts import HOME_CURRENCY
from payments.domain.balances import NO_PARTS
from payments.domain.charges import (
    Charge,
    Covered,
    CoveringPayment,
    ExpectedPayment,
    QuarantineReason,
    SecondCharge,
    Surcharge,
    SurchargeBound,
    Suspicious,
    UnknownReference,
    Verdict,
    classify_charge,
    principal_of,
)
from payments.domain.errors import SubjectUnknown
from payments.domain.refunds import NewRefund
from payments.store import balances, charges
from payments.store.balances import Hold
from payments.store.charges import NewCharge, PayableOrders
from payments.use_cases.alerts import alert_quarantine
from payments.use_cases.balances.return_hold import return_hold
from payments.use_cases.balances.spend_hold import spend_hold
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
    payable, is_known = await charges.lock_charged_orders(uow, charge)
    if not is_known and payable is not None and any(order.is_paid for order in payable.orders):
        # By this charge, perhaps, while the lock was awaited.
        is_known = await charges.charge_is_known(uow, charge)
    if is_known:
        # The gateway reports some fees only when it is queried.
        await record_fee(uow, charge.identity, charge.fee_minor, charge.currency)
        return None
    hold = await balances.lock_hold(uow, payable.intent_id) if payable is not None and payable.balance_minor else None
    other_holds: Mapping[UUID, int] = {}
    if payable is not None and hold is not None:
        other_holds = await balances.lock_other_holds(uow, hold.intent_id, [one.order_id for one in payable.unpaid])
        payable = replace(payable, expected=await _expect_balance(uow, payable, hold, sum(other_holds.values())))
    verdict = classify_charge(charge, payable.expected if payable else None, surcharge_bound)
    if payable is not None and isinstance(verdict, Covered):
        # The escrow closes these payments, and needs their part of the balance where a later one has replaced the hold.
        for intent_id in other_holds:
            await return_hold(uow, intent_id, now)
        max_minor = surcharge_bound.max_minor(principal_of(charge, payable.expected.settlement))
        surcharge = Surcharge(verdict.surcharge_minor, max_minor)
        order_id = payable.first.order_id
        new = charges.new_charge(charge, webhook_id, order_id, "covered", now, surcharge)
        await _hold(uow, charge, new, payable, verdict, hold, now)
    elif payable is not None and isinstance(verdict, SecondCharge):
        await _refund(uow, charge, webhook_id, payable, now)
    elif isinstance(verdict, Suspicious):
        if isinstance(verdict, UnknownReference) and not is_last_attempt:
            raise SubjectUnknown("no payment of ours has this reference yet")
        await _quarantine(uow, charge, webhook_id, payable, verdict.reason, now)
    if hold is not None and not isinstance(verdict, Covered):
        await return_hold(uow, hold.intent_id, now)
    await record_fee(uow, charge.identity, charge.fee_minor, charge.currency)
    return verdict


async def _expect_balance(
    uow: UnitOfWork, payable: PayableOrders, hold: Hold, held_elsewhere_minor: int
) -> ExpectedPayment:
    """Return the expected payment with the part of the balance, which a late charge may hold again."""
    if hold.status == "held":
        held_minor = hold.parts.total_minor
        return replace(payable.expected, balance_minor=held_minor, is_held=True, available_minor=held_minor)
    available = await balances.lock_balance(uow, hold.user_id)
    available_minor = available.total_minor + held_elsewhere_minor
    return replace(payable.expected, balance_minor=payable.balance_minor, available_minor=available_minor)


async def _hold(
    uow: UnitOfWork,
    charge: Charge,
    new: NewCharge,
    payable: PayableOrders,
    verdict: Covered,
    hold: Hold | None,
    now: datetime,
) -> None:
    order = payable.first
    refund_id = identifiers.overpayment_refund_id(charge.identity)
    totals_minor = payable.unpaid_totals_minor
    shares = {} if hold is None else await spend_hold(uow, hold, verdict.balance_minor, totals_minor, now)
    posting = postings.charge(
        charge.identity,
        {order_id: total - shares.get(order_id, NO_PARTS).total_minor for order_id, total in totals_minor.items()},
        refund_id,
        amount_minor=charge.amount_minor,
        surplus_minor=verdict.surplus_minor,
        surcharge_minor=verdict.surcharge_minor,
    )
    surplus = NewRefund(
        refund_id, "overpayment", new.id, order.order_id, order.buyer_id, verdict.surplus_minor, "surplus"
    )
    payment = CoveringPayment(charge.reference, new.id, charge.channel, shares)
    await hold_escrow(uow, posting, payable, payment, surplus, now, new.record)


async def _refund(uow: UnitOfWork, charge: Charge, webhook_id: str, payable: PayableOrders, now: datetime) -> None:
    order = payable.first
    refund_id = identifiers.overpayment_refund_id(charge.identity)
    charge_id = await charges.record_charge(uow, charge, webhook_id, order.order_id, "second_charge", now)
    posting = postings.overpayment(charge.identity, refund_id, charge.amount_minor)
    refund = NewRefund(
        refund_id, "overpayment", charge_id, order.order_id, order.buyer_id, charge.amount_minor, "second_charge"
    )
    await create_overpayment_refund(uow, posting, refund, payable.intent_id, now)


async def _quarantine(
    uow: UnitOfWork,
    charge: Charge,
    webhook_id: str,
    payable: PayableOrders | None,
    reason: QuarantineReason,
    now: datetime,
) -> None:
    order = payable.first if payable else None
    order_id = order.order_id if order else None
    charge_id = await charges.record_charge(uow, charge, webhook_id, order_id, "quarantined", now)
    await ledger.post(uow, postings.quarantine(charge.identity, charge.reference, charge.amount_minor, charge.currency))
    quarantined_id = await charges.record_quarantined(uow, charge_id, charge, order_id, reason, now)
    alert_quarantine(uow, quarantined_id, charge, order, reason)
    if payable is not None:
        # The gateway's transaction is used up: the buyer's next attempt needs a new reference.
        await charges.save_intent_spent(uow, payable.intent_id, "quarantined")
        if charge.currency == HOME_CURRENCY:
            await charges.save_received(uow, payable.intent_id, charge.amount_minor)
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
            order_ids=tuple(one.order_id for one in payable.orders) if payable else (),
            purchase_id=order.purchase_id if order else None,
            expected_minor=payable.expected.total_minor if payable else None,
        )
    )
