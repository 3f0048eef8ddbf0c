"""Random walks over the lifecycles of payments, through the real use cases: each result is the one that a rule
gives.
"""

import os
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from common.primitives.decisions import DECISION
from common.primitives.lifecycles import Rejection
from contracts.orders import OrderCancelled
from operations.audit.invariants import INVARIANTS
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import RefundContradiction, RefundOutcomeUnknown
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import NEEDS_ACCOUNT, RefundUpdate, trigger_of
from payments.domain.transitions import CHARGEBACK, PAYMENT, QUARANTINE, REFUND
from payments.timers import settle_refunds_once
from payments.use_cases.refunds.record_refund_update import record_refund_update
from testkit.state_changes import StateChanges

from .conftest import PaymentsApp
from .disputes import CREATE, LOST, RESOLVE, WON, dispute, paid

LIFECYCLES = {
    "payment_intents": PAYMENT,
    "refunds": REFUND,
    "quarantined_charges": QUARANTINE,
    "chargebacks": CHARGEBACK,
    "refund_decisions": DECISION,
    "quarantine_decisions": DECISION,
}
RULES = [line for line in INVARIANTS if line.service == "payments"]
SEEDS = [int(seed) for seed in os.environ.get("LIFECYCLE_SEEDS", "1 2").split()]
STEPS = 50
DESTINATION = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Okafor Chidi"}
# Above the ids that the sandbox gives.
numbers = count(9_000_000)


@pytest_asyncio.fixture(loop_scope="session")
async def changes(app: PaymentsApp) -> AsyncIterator[StateChanges]:
    async with app.connected() as owner:
        yield await StateChanges.recorded(owner, LIFECYCLES)


async def check(app: PaymentsApp) -> None:
    await app.check_ledger()
    for line in RULES:
        assert await app.fetch(line.offending) == [], line.rule


class RefundWalk:
    """One refund. Each step is a command, a report or a round of a worker, at any time."""

    def __init__(self, app: PaymentsApp, refund_id: UUID, draw: random.Random) -> None:
        self.app, self.refund_id, self.draw, self.path = app, refund_id, draw, f"/api/refunds/{refund_id}"

    async def row(self) -> Any:
        [row] = await self.app.fetch("SELECT * FROM refunds WHERE id = $1", self.refund_id)
        return row

    async def report(self) -> None:
        row = await self.row()
        update = RefundUpdate(
            row["gateway_refund_id"] or str(next(numbers)),
            refund_reference(row["attempt_id"]),
            self.draw.choice(["processed", "failed", "failed", "reversed", NEEDS_ACCOUNT, "pending"]),
            row["amount_minor"],
            "NGN",
            "the bank says no",
        )
        trigger = trigger_of(
            update,
            is_transfer=row["recipient_code"] is not None,
            needs_account=row["needs_account_at"] is not None,
            has_account=row["retry_recipient_code"] is not None,
            is_polled=False,
        )
        expected = REFUND.next_state(row["status"], trigger)
        try:
            async with self.app.unit_of_work() as uow:
                await record_refund_update(uow, update, self.app.clock.now())
        except RefundContradiction:
            # A reversed attempt is reported as paid again.
            expected = row["status"]
        after = (await self.row())["status"]
        assert after == (row["status"] if isinstance(expected, Rejection) else expected), trigger

    async def prepare(self) -> None:
        before = (await self.row())["status"]
        body = {"action": "retry", "reason": "random"}
        if self.draw.random() < 0.5:
            body = {"action": "other_destination", "reason": "random", "destination": DESTINATION}
        response = await self.app.post_as(f"{self.path}/prepare", body, "finance_maker")
        assert response.status_code == 409 or REFUND.allows(before, "decision_prepared"), response.text
        after = REFUND.next_state(before, "decision_prepared") if response.status_code == 200 else before
        assert (await self.row())["status"] == after

    async def decide(self) -> None:
        before = (await self.row())["status"]
        approves = self.draw.random() < 0.7
        if approves:
            response = await self.app.approve(self.path)
        else:
            response = await self.app.post_as(f"{self.path}/reject", {"reason": "random"}, "finance_checker")
        assert (response.status_code == 200) or not REFUND.allows(before, "decision_rejected"), response.text
        after = (await self.row())["status"]
        triggers: Any = ("attempt_approved", "account_approved") if approves else ("decision_rejected",)
        assert after == before or after in {REFUND.next_state(before, trigger) for trigger in triggers}

    async def work(self) -> None:
        await self.app.requeue()
        self.app.clock.advance(timedelta(seconds=self.draw.choice([0, 121])))
        lost = {"times": 1, self.draw.choice(["error_before", "error_after"]): True}
        await self.app.gateway.faults(**self.draw.choice([{}, {"refund_call": lost}]))
        with suppress(GatewayUnavailable, RefundOutcomeUnknown, RefundContradiction):
            await self.app.work("payments.refunds")
        await self.app.gateway.faults(refund_call=None)

    async def poll(self) -> None:
        self.app.clock.advance(timedelta(hours=2))
        await settle_refunds_once(self.app.dependencies)


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_refund_follows_its_lifecycle(seed: int, app: PaymentsApp, changes: StateChanges) -> None:
    draw = random.Random(seed)
    event = app.refund_requested(await app.paid_order(), 200_000)
    await app.receive(event)
    walk = RefundWalk(app, event.refund_id, draw)
    for _ in range(STEPS):
        step = draw.choice([walk.report, walk.report, walk.prepare, walk.decide, walk.decide, walk.work, walk.poll])
        await step()
        assert await changes.forbidden() == []
    await check(app)
    assert len(changes.walked[REFUND]) >= 5


@pytest.mark.parametrize("seed", SEEDS)
async def test_charges_follow_their_lifecycles(seed: int, app: PaymentsApp, changes: StateChanges) -> None:
    """Payments of one order, its quarantined charges and the disputes of its charge."""
    draw, disputes = random.Random(seed), [next(numbers) for _ in range(3)]
    placed = await app.place_order()
    _, reference = await paid(app)
    intent = await app.open_intent(placed.order_id)
    for _ in range(STEPS):
        match draw.choice(["open", "charge", "decline", "quarantine", "quarantine", "dispute", "dispute", "close"]):
            case "open":
                response = await app.request_intent(placed.order_id)
                intent = response.json()["data"] if response.status_code < 300 else intent
            case "charge":
                amount = draw.choice([1_000, placed.total_minor, placed.total_minor + 1])
                charge = app.charge(intent["reference"], amount, id=next(numbers))
                await app.process_webhook(charge)
            case "decline":
                charge = app.charge(intent["reference"], placed.total_minor, id=next(numbers), status="failed")
                await app.process_webhook({**charge, "event": "charge.failed"}, is_last_attempt=True)
            case "quarantine":
                await _decide_quarantine(app, draw)
            case "dispute":
                number, resolution = draw.choice(disputes), draw.choice([None, LOST, WON])
                if resolution is None:
                    await app.process_webhook(dispute(number, CREATE, reference, 100_000))
                else:
                    await app.decide_dispute(dispute(number, RESOLVE, reference, 100_000, resolution=resolution))
            case "close":
                if draw.random() < 0.2:
                    await app.receive(OrderCancelled(**app.parties(placed), reason="random"))
        assert await changes.forbidden() == []
    await check(app)
    assert changes.walked[PAYMENT]
    assert changes.walked[QUARANTINE]
    assert changes.walked[CHARGEBACK] >= {("opened", "lost")} or changes.walked[CHARGEBACK] >= {("opened", "won")}


async def _decide_quarantine(app: PaymentsApp, draw: random.Random) -> None:
    rows = await app.fetch("SELECT id, status FROM quarantined_charges")
    if not rows:
        return
    row = draw.choice(rows)
    path = f"/api/quarantined-charges/{row['id']}"
    step = draw.choice(["prepare", "prepare", "approve", "reject"])
    if step == "prepare":
        body = {"outcome": draw.choice(["accept", "return"]), "reason": "random"}
        response = await app.post_as(f"{path}/prepare", body, "finance_maker")
        is_allowed = QUARANTINE.allows(row["status"], "decision_prepared")
        assert (response.status_code == 409) or is_allowed, response.text
    elif step == "approve":
        await app.approve(path)
    else:
        response = await app.post_as(f"{path}/reject", {"reason": "random"}, "finance_checker")
        assert (response.status_code == 200) or not QUARANTINE.allows(row["status"], "decision_rejected")
