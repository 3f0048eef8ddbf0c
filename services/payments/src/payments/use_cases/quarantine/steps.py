"""Steps of quarantine that several operations share."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import identifiers, postings
from payments.domain.charges import CoveringPayment
from payments.domain.errors import ChargeCannotBeAccepted
from payments.domain.quarantine import evaluate_acceptance
from payments.domain.refunds import NewRefund
from payments.store import chargebacks, charges, decisions, projections
from payments.store.decisions import LockedQuarantinedCharge
from payments.use_cases.alerts import clear_quarantine_alert
from payments.use_cases.charges.steps import create_overpayment_refund
from payments.use_cases.escrow.steps import hold_escrow
from payments.use_cases.refunds.create_refund import create_refund


async def accept_charge(uow: UnitOfWork, charge: LockedQuarantinedCharge, now: datetime) -> None:
    """Hold the totals of its orders, and refund the surplus, which is all of the charge when they are paid by now.

    Evaluated again, because an order may have changed since the preparation. Raises ChargeCannotBeAccepted (409).
    """
    payable = await charges.lock_payable_orders(uow, charge.reference)
    acceptance = evaluate_acceptance(charge.amount_minor, charge.currency, payable.expected if payable else None)
    if payable is None:
        raise ChargeCannotBeAccepted
    order = payable.first
    if await chargebacks.charge_is_disputed(uow, charge.charge_id):
        raise ChargeCannotBeAccepted("The payer's bank disputes the charge, or has taken it back: it pays no order.")
    covers, surplus_minor = acceptance.escrow_minor > 0, acceptance.surplus_minor
    surplus = NewRefund(
        identifiers.overpayment_refund_id(charge.identity),
        "overpayment",
        charge.charge_id,
        order.order_id,
        order.buyer_id,
        surplus_minor,
        "surplus" if covers else "second_charge",
    )
    posting = postings.quarantine_release(
        charge.identity,
        charge.reference,
        charge.currency,
        totals_minor=payable.unpaid_totals_minor,
        refund_id=surplus.id,
        refund_minor=surplus_minor,
    )
    verdict = "covered" if covers else "second_charge"
    await decisions.save_charge_verdict(uow, charge.charge_id, verdict, order.order_id)
    if covers:
        payment = CoveringPayment(charge.reference, charge.charge_id, charge.channel)
        await hold_escrow(uow, posting, payable, payment, surplus, now)
    else:
        await create_overpayment_refund(uow, posting, surplus, payable.intent_id, now)
    refund_id = surplus.id if surplus_minor else None
    await decisions.save_quarantined(uow, charge.id, "accepted", refund_id=refund_id, order_id=order.order_id)
    clear_quarantine_alert(uow, charge.id, "accepted")


async def return_charge(uow: UnitOfWork, charge: LockedQuarantinedCharge, reason: str, now: datetime) -> None:
    """Post all of it as due to the payer, and create its refund. The posting key is the charge's."""
    refund_id = identifiers.quarantine_refund_id(charge.identity)
    await ledger.post(
        uow,
        postings.quarantine_release(
            charge.identity,
            charge.reference,
            charge.currency,
            totals_minor={},
            refund_id=refund_id,
            refund_minor=charge.amount_minor,
        ),
    )
    buyer_id = None if charge.order_id is None else await projections.find_buyer_of_order(uow, charge.order_id)
    refund = NewRefund(
        refund_id,
        "quarantine",
        charge.charge_id,
        charge.order_id,
        buyer_id,
        charge.amount_minor,
        reason,
        charge.currency,
    )
    await create_refund(uow, refund, now)
    await decisions.save_quarantined(uow, charge.id, "returned", refund_id=refund_id)
    clear_quarantine_alert(uow, charge.id, "returned")
