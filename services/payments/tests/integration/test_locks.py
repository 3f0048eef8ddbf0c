"""Each lock of the store holds the rows that it names, and no other."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from common.database.unit_of_work import UnitOfWork
from payments.domain.destinations import Recipient
from payments.domain.withdrawals import NewWithdrawal
from payments.store import (
    balances,
    chargeback_responses,
    chargebacks,
    charges,
    closed_intents,
    decisions,
    escrow,
    intents,
    projections,
    refunds,
    webhooks,
    withdrawals,
)
from testkit.locks import Locks, assert_locks

from .balances import credit_reward
from .conftest import PaymentsApp
from .stories import chargeback_story, quarantine_story


async def lock_charge(uow: UnitOfWork, charge_id: Any) -> bool:
    await chargebacks.charge_is_disputed(uow, charge_id)
    return True


LOCKS: Locks = {
    "balance": ("SELECT user_id FROM buyer_balances", balances.lock_balance),
    "hold": ("SELECT intent_id FROM balance_holds", balances.lock_hold),
    "other holds": (
        "SELECT i.order_id FROM balance_holds h JOIN payment_intents i ON i.id = h.intent_id",
        lambda uow, order_id: balances.lock_other_holds(uow, uuid4(), [order_id]),
    ),
    "unpaid orders": (
        "SELECT id FROM payable_orders WHERE status = 'Processing'",
        lambda uow, order_id: closed_intents.lock_unpaid_orders(uow, [order_id]),
    ),
    "respondable chargeback": ("SELECT id FROM chargebacks", chargeback_responses.lock_respondable),
    "chargebacks": ("SELECT identity FROM chargebacks", chargebacks.lock_chargebacks),
    "escrows of a charge": (
        "SELECT id FROM charges WHERE verdict = 'covered'",
        escrow.lock_escrows_of_charge,
    ),
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
    "payable orders": ("SELECT reference FROM charges WHERE order_id IS NOT NULL", charges.lock_payable_orders),
    "quarantined charge": ("SELECT id FROM quarantined_charges", decisions.lock_quarantined),
    "escrow": ("SELECT order_id FROM escrows", escrow.lock_escrow),
    "attempt of a payment": ("SELECT reference FROM charges WHERE order_id IS NOT NULL", intents.lock_attempt),
    "order": ("SELECT id FROM payable_orders", projections.lock_order_status),
    "refund": ("SELECT id FROM refunds", refunds.lock_refund),
    "refund of an attempt": ("SELECT attempt_id FROM refunds", refunds.lock_refund_of_attempt),
    "withdrawal": ("SELECT id FROM withdrawals", withdrawals.lock_withdrawal),
    "webhook": ("SELECT id FROM processed_webhook_events", webhooks.lock_webhook),
}


async def test_a_lock_holds_its_own_rows_only(app: PaymentsApp) -> None:
    stories = [chargeback_story(replace(app, buyer=uuid4(), vendor=uuid4())) for _ in range(2)]
    for state in ("paid", "disputed", "refund held", "lost"):
        assert [await anext(story) for story in stories] == [state] * 2
    for _ in range(2):
        await app.receive(app.refund_requested(await app.paid_order(), 1_000))
        await anext(quarantine_story(replace(app, buyer=uuid4(), vendor=uuid4())))
        own = replace(app, buyer=uuid4(), vendor=uuid4())
        await credit_reward(own, 50_000)
        held = await own.place_order()
        assert (await own.request_intent(held.order_id, balanceMinor=50_000)).status_code == 201
        recipient = Recipient("RCP_1", "6789", "058", "OKAFOR CHIDI", None)
        async with app.unit_of_work() as uow:
            new = NewWithdrawal(uuid4(), own.buyer, 1_000, "pending", "paystack", recipient)
            await withdrawals.record_withdrawal(uow, new, app.clock.now())
    await assert_locks(app.database, LOCKS)
