"""Each lock of the store holds the rows that it names, and no other."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from common.database.unit_of_work import UnitOfWork
from payments.store import (
    chargeback_responses,
    chargebacks,
    charges,
    decisions,
    escrow,
    intents,
    projections,
    refunds,
    webhooks,
)
from testkit.locks import Locks, assert_locks

from .conftest import PaymentsApp
from .stories import chargeback_story, quarantine_story


async def lock_charge(uow: UnitOfWork, charge_id: Any) -> bool:
    await chargebacks.charge_is_disputed(uow, charge_id)
    return True


LOCKS: Locks = {
    "respondable chargeback": ("SELECT id FROM chargebacks", chargeback_responses.lock_respondable),
    "chargeback": ("SELECT identity FROM chargebacks", chargebacks.lock_chargeback),
    "lost chargebacks": ("SELECT charge_id FROM chargebacks WHERE status = 'lost'", chargebacks.lock_lost_chargebacks),
    "disputed charge": (
        "SELECT reference FROM charges",
        lambda uow, reference: chargebacks.lock_disputed_charge(uow, reference, None),
    ),
    "disputed charge by the gateway's id": (
        "SELECT gateway_id FROM charges",
        lambda uow, gateway_id: chargebacks.lock_disputed_charge(uow, None, gateway_id),
    ),
    "charge": ("SELECT id FROM charges", lock_charge),
    "unsent refunds": ("SELECT charge_id FROM refunds WHERE status = 'pending'", chargebacks.lock_unsent_refunds),
    "payable order": ("SELECT reference FROM charges WHERE order_id IS NOT NULL", charges.lock_payable_order),
    "quarantined charge": ("SELECT id FROM quarantined_charges", decisions.lock_quarantined),
    "escrow": ("SELECT order_id FROM escrows", escrow.lock_escrow),
    "attempt of a payment": ("SELECT reference FROM charges WHERE order_id IS NOT NULL", intents.lock_attempt),
    "order": ("SELECT id FROM payable_orders", projections.lock_order_status),
    "refund": ("SELECT id FROM refunds", refunds.lock_refund),
    "refund of an attempt": ("SELECT attempt_id FROM refunds", refunds.lock_refund_of_attempt),
    "webhook": ("SELECT id FROM processed_webhook_events", webhooks.lock_webhook),
}


async def test_a_lock_holds_its_own_rows_only(app: PaymentsApp) -> None:
    stories = [chargeback_story(replace(app, buyer=uuid4(), vendor=uuid4())) for _ in range(2)]
    for state in ("paid", "disputed", "refund held", "lost"):
        assert [await anext(story) for story in stories] == [state] * 2
    for _ in range(2):
        await app.receive(app.refund_requested(await app.paid_order(), 1_000))
        await anext(quarantine_story(replace(app, buyer=uuid4(), vendor=uuid4())))
    await assert_locks(app.database, LOCKS)
