"""A quarantined charge becomes a good one (contract section 7)."""

from datetime import datetime

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments import store
from payments.domain import identifiers, postings
from payments.domain.errors import ChargeCannotBeAccepted
from payments.domain.quarantine import evaluate_acceptance
from payments.store import chargebacks
from payments.use_cases.charges.create_overpayment_refund import create_overpayment_refund
from payments.use_cases.escrow.hold_escrow import hold_escrow
from payments.use_cases.quarantine.clear_quarantine_alert import clear_quarantine_alert


async def accept_charge(uow: UnitOfWork, charge: asyncpg.Record, now: datetime) -> None:
    """It pays its order as it would have at first: the surplus, or all of it when the order is paid by now, goes back.

    Judged again, for the order may have changed since it was prepared. Raises ChargeCannotBeAccepted (409).
    """
    behind = await store.lock_payable_order(uow, charge["reference"])
    acceptance = evaluate_acceptance(charge["amount_minor"], charge["currency"], behind.expected if behind else None)
    if behind is None:
        raise ChargeCannotBeAccepted
    if await chargebacks.charge_is_disputed(uow, charge["charge_id"]):
        raise ChargeCannotBeAccepted("The payer's bank disputes the charge, or has taken it back: it pays no order.")
    refund_id = identifiers.refund_of_overpayment(charge["identity"])
    await ledger.post(
        uow,
        postings.quarantine_release(
            charge["identity"],
            charge["reference"],
            charge["currency"],
            order_id=behind.order_id,
            refund_id=refund_id,
            escrow_minor=acceptance.escrow_minor,
            refund_minor=acceptance.surplus_minor,
        ),
    )
    covers = acceptance.escrow_minor > 0
    await store.save_charge_verdict(uow, charge["charge_id"], "covered" if covers else "second_charge", behind.order_id)
    if covers:
        await hold_escrow(
            uow, behind, charge["charge_id"], charge["reference"], acceptance.escrow_minor, charge["channel"], now
        )
    else:
        await store.save_intent_spent(uow, behind.intent_id, "overpaid")
    if acceptance.surplus_minor:
        reason = "surplus" if covers else "second_charge"
        await create_overpayment_refund(
            uow, refund_id, charge["charge_id"], behind, acceptance.surplus_minor, reason, now
        )
    await store.save_quarantined(
        uow,
        charge["id"],
        "accepted",
        refund_id=refund_id if acceptance.surplus_minor else None,
        order_id=behind.order_id,
    )
    clear_quarantine_alert(uow, charge["id"], "accepted")
