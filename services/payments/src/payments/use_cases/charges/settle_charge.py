"""Settle a charge: judge what the money is worth, and put it where it belongs (contract section 7)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from contracts.payments import ChargeQuarantined
from payments import store
from payments.domain import identifiers, postings
from payments.domain.charges import (
    Charge,
    Covered,
    SecondCharge,
    SurchargeBound,
    Suspicious,
    UnknownReference,
    Verdict,
    classify_charge,
    principal_of,
    read_charge,
)
from payments.domain.errors import SubjectUnknown
from payments.store import PayableOrder
from payments.use_cases.charges.create_overpayment_refund import create_overpayment_refund
from payments.use_cases.escrow.hold_escrow import hold_escrow
from payments.use_cases.quarantine.alert_quarantine import alert_quarantine


async def settle_charge(
    uow: UnitOfWork,
    webhook_id: str,
    told: Mapping[str, Any],
    surcharge_bound: SurchargeBound,
    *,
    is_last_attempt: bool,
    now: datetime,
) -> Verdict | None:
    """The verdict; None for a charge that is not settled or was told before.

    Raises SubjectUnknown for a reference that is not known yet and has attempts left, and NewsUnreadable.
    """
    if told.get("status", "success") != "success":
        STALE_EVENTS.labels("charge.success").inc()
        return None
    charge = read_charge(told, webhook_id)
    behind = await store.lock_payable_order(uow, charge.reference)
    if await store.charge_is_known(uow, charge):
        return None
    verdict = classify_charge(charge, behind.expected if behind else None, surcharge_bound)
    if behind is not None and isinstance(verdict, Covered):
        surcharge_max_minor = surcharge_bound.max_minor(principal_of(charge, behind.expected.settlement))
        await _hold(uow, charge, webhook_id, behind, verdict, surcharge_max_minor, now)
    elif behind is not None and isinstance(verdict, SecondCharge):
        await _create_refund(uow, charge, webhook_id, behind, now)
    elif isinstance(verdict, Suspicious):
        if isinstance(verdict, UnknownReference) and not is_last_attempt:
            raise SubjectUnknown("no payment of ours has this reference yet")
        await _quarantine(uow, charge, webhook_id, behind, verdict.reason, now)
    if charge.fee_minor:
        await ledger.post(uow, postings.gateway_fee(charge.identity, charge.fee_minor, charge.currency))
    return verdict


async def _hold(
    uow: UnitOfWork,
    charge: Charge,
    webhook_id: str,
    behind: PayableOrder,
    verdict: Covered,
    surcharge_max_minor: int,
    now: datetime,
) -> None:
    refund_id = identifiers.refund_of_overpayment(charge.identity)
    charge_id = await store.record_charge(
        uow, charge, webhook_id, behind.order_id, "covered", now, verdict.surcharge_minor, surcharge_max_minor
    )
    await ledger.post(
        uow,
        postings.charge(
            charge.identity,
            behind.order_id,
            refund_id,
            amount_minor=charge.amount_minor,
            escrow_minor=verdict.escrow_minor,
            surplus_minor=verdict.surplus_minor,
            surcharge_minor=verdict.surcharge_minor,
        ),
    )
    await hold_escrow(uow, behind, charge_id, charge.reference, verdict.escrow_minor, charge.channel, now)
    if verdict.surplus_minor:
        await create_overpayment_refund(uow, refund_id, charge_id, behind, verdict.surplus_minor, "surplus", now)


async def _create_refund(uow: UnitOfWork, charge: Charge, webhook_id: str, behind: PayableOrder, now: datetime) -> None:
    refund_id = identifiers.refund_of_overpayment(charge.identity)
    charge_id = await store.record_charge(uow, charge, webhook_id, behind.order_id, "second_charge", now)
    await ledger.post(uow, postings.overpayment(charge.identity, refund_id, charge.amount_minor))
    await store.save_intent_spent(uow, behind.intent_id, "overpaid")
    await create_overpayment_refund(uow, refund_id, charge_id, behind, charge.amount_minor, "second_charge", now)


async def _quarantine(
    uow: UnitOfWork, charge: Charge, webhook_id: str, behind: PayableOrder | None, reason: str, now: datetime
) -> None:
    order_id: UUID | None = behind.order_id if behind else None
    charge_id = await store.record_charge(uow, charge, webhook_id, order_id, "quarantined", now)
    await ledger.post(uow, postings.quarantine(charge.identity, charge.reference, charge.amount_minor, charge.currency))
    quarantined_id = await store.record_quarantined(uow, charge_id, charge, order_id, reason, now)
    alert_quarantine(uow, quarantined_id, charge, order_id, reason)
    if behind is not None:
        # The gateway's transaction is spent: the buyer's next attempt needs a reference of its own.
        await store.save_intent_spent(uow, behind.intent_id, "quarantined")
    uow.publish(
        ChargeQuarantined(
            reference=charge.reference,
            order_id=order_id,
            amount_minor=charge.amount_minor,
            currency=charge.currency,
            reason=reason,
            buyer_id=behind.buyer_id if behind else None,
            quarantined_charge_id=quarantined_id,
        )
    )
