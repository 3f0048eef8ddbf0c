"""Random sequences of events on the real database, drawn by hypothesis: the ledgers are right after every step, and
rejected and repeated events change nothing.

The seed is printed with a failure, and `SEQUENCES_SEED` in the environment runs it again; `SEQUENCES_EXAMPLES` runs
more.
"""

import asyncio
import os
import random
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest_asyncio
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from common.primitives.ids import new_id
from contracts.orders import DisputeResolved, OrderCancelled, OrderDelivered, OrderDisputed, RefundRequested
from operations.audit.invariants import INVARIANTS
from payments.domain.errors import EscrowLocked, RefundExceedsHeld, SubjectUnknown
from payments.metrics import LEDGER_CHAIN

from .conftest import PaymentsApp

Outcome = TypeVar("Answer")

# The number that runs in ten seconds on two busy cores: each step commits to the real database.
EXAMPLES = 20
STEPS = 25
TOTALS = (100, 999, 500_001)


class Sequences(RuleBasedStateMachine):
    """Orders of a few sizes, and their events: once, twice, late, and in any order."""

    app: PaymentsApp
    loop: asyncio.AbstractEventLoop
    data = Bundle("data")

    def run(self, work: Coroutine[Any, Any, Outcome]) -> Outcome:
        return self.loop.run_until_complete(work)

    @initialize(target=data, commission=st.integers(0, 10), delivery_fee_minor=st.integers(0, 50))
    def place_orders(self, commission: int, delivery_fee_minor: int) -> Any:
        """Pay the last order at once, so that every sequence has postings."""
        self.orders = [
            self.run(
                self.app.place_order(
                    total_minor=total,
                    commission_minor=total * commission // 100,
                    delivery_fee_minor=delivery_fee_minor,
                )
            )
            for total in TOTALS
        ]
        self.references = [self.run(self.app.open_intent(order.order_id))["reference"] for order in self.orders]
        self.sequences = [0] * len(TOTALS)
        self.received: list[tuple[Any, UUID, int]] = []
        body = self.app.charge(self.references[-1], TOTALS[-1])
        self.run(self.app.process_webhook(body))
        return body

    def parties(self, number: int) -> dict[str, UUID]:
        order = self.orders[number]
        return self.app.parties(order)

    def state(self) -> Any:
        """Return the current rows of all tables with money."""

        async def read() -> Any:
            ids = [order.order_id for order in self.orders]
            escrows = await self.app.fetch("SELECT * FROM escrows WHERE order_id = ANY ($1) ORDER BY order_id", ids)
            return await self.app.balances(), [dict(row) for row in escrows]

        return self.run(read())

    def receive(self, event: Any, sequence: int, event_id: UUID | None = None) -> None:
        """Deliver an event; a rejected one changes nothing."""
        before = self.state()
        event_id = event_id or new_id()
        try:
            self.run(self.app.receive(event, event_id=event_id, sequence=sequence))
        except (SubjectUnknown, RefundExceedsHeld, EscrowLocked):
            assert self.state() == before
        self.received.append((event, event_id, sequence))

    def next_sequence(self, number: int) -> int:
        self.sequences[number] += 1
        return self.sequences[number]

    @rule(
        target=data,
        number=st.integers(0, 2),
        percent=st.sampled_from([100, 100, 100, 130, 99, 1]),
        odd=st.integers(0, 7),
    )
    def charge(self, number: int, percent: int, odd: int) -> Any:
        total = self.orders[number].total_minor
        changes: dict[str, Any] = {}
        if odd == 0:
            changes["currency"] = "GHS"
        if odd == 1:
            changes["metadata"] = {"orderId": str(uuid4())}
        if odd == 2:
            # The excess is declared as a surcharge, within its bound or not.
            changes["metadata"] = {"settlement": str(total)}
        body = self.app.charge(self.references[number], max(1, total * percent // 100), **changes)
        self.run(self.app.process_webhook(body))
        return body

    @rule(body=data)
    def the_webhook_comes_again(self, body: Any) -> None:
        before = self.state()
        self.run(self.app.process_webhook(body))
        assert self.state() == before

    @rule(
        target=data,
        number=st.integers(0, 2),
        percent=st.integers(1, 110),
        dispute=st.integers(0, 1),
        resolution=st.sampled_from([None, "declined", "merchant-accepted"]),
    )
    def chargeback(self, number: int, percent: int, dispute: int, resolution: str | None) -> Any:
        """Make a chargeback: opened, lost or won, in any order, also for an unknown charge."""
        order = self.orders[number]
        data = {
            "id": order.order_id.int % 10**15 * 10 + dispute,
            "refund_amount": max(1, order.total_minor * percent // 100),
            "currency": "NGN",
            "resolution": resolution,
            "transaction": {"reference": self.references[number], "currency": "NGN"},
        }
        event = "charge.dispute.create" if resolution is None else "charge.dispute.resolve"
        body, before = {"event": event, "data": data}, self.state()
        try:
            self.run(self.app.decide_dispute(body))
        except SubjectUnknown:
            assert self.state() == before
        return body

    @rule(number=st.integers(0, 2), percent=st.integers(1, 120))
    def release(self, number: int, percent: int) -> None:
        order, before = self.orders[number], self.state()
        headers = self.app.headers(uuid4(), roles=("finance_checker",), stepped_up=True)
        amount = max(1, order.total_minor * percent // 100)
        response = self.run(
            self.app.client.post(f"/api/orders/{order.order_id}/release", headers=headers, json={"amountMinor": amount})
        )
        assert response.status_code in (200, 409, 423), response.text
        assert (self.state() == before) is (response.status_code != 200)

    @rule(number=st.integers(0, 2), percent=st.integers(1, 120), rate=st.sampled_from([None, 0, 5, 100]))
    def refund(self, number: int, percent: int, rate: int | None) -> None:
        """Make a refund of a mere amount, or of items with a commission of `rate` percent."""
        amount = max(1, self.orders[number].total_minor * percent // 100)
        event = RefundRequested(
            **self.parties(number),
            refund_id=new_id(),
            amount_minor=amount,
            reason="random",
            commission_minor=None if rate is None else amount * rate // 100,
        )
        self.receive(event, self.next_sequence(number))

    @rule(number=st.integers(0, 2))
    def deliver(self, number: int) -> None:
        event = OrderDelivered(
            **self.parties(number), delivered_at="2026-01-01T00:00:00.000Z", verified_by=self.app.vendor
        )
        self.receive(event, self.next_sequence(number))

    @rule(number=st.integers(0, 2))
    def dispute(self, number: int) -> None:
        self.receive(OrderDisputed(**self.parties(number), reason="random"), self.next_sequence(number))

    @rule(number=st.integers(0, 2), percent=st.integers(0, 100))
    def resolve(self, number: int, percent: int) -> None:
        release_minor = self.orders[number].total_minor * percent // 100
        event = DisputeResolved(
            **self.parties(number), outcome="split", refund_minor=0, release_minor=release_minor, refund_id=None
        )
        self.receive(event, self.next_sequence(number))

    @rule(number=st.integers(0, 2))
    def cancel(self, number: int) -> None:
        before = self.state()
        self.receive(OrderCancelled(**self.parties(number), reason="late"), self.next_sequence(number))
        assert self.state() == before

    @rule(draw=st.randoms(use_true_random=False))
    def an_event_comes_again_or_late(self, draw: random.Random) -> None:
        """Deliver messages again. A repeated message has one effect; a rejected one may succeed now, with its old
        sequence.
        """
        if self.received:
            event, event_id, sequence = draw.choice(self.received)
            self.receive(event, sequence, event_id)
            repeated = self.state()
            self.receive(event, sequence, event_id)
            assert self.state() == repeated

    @invariant()
    def the_ledger_balances(self) -> None:
        if not hasattr(self, "received"):
            return
        self.run(self.app.check_ledger())
        balances, escrows = self.state()
        assert sum(balances.values()) == 0
        for escrow in escrows:
            locked = (
                escrow["locked_vendor_minor"] + escrow["locked_commission_minor"] + escrow["locked_delivery_fee_minor"]
            )
            assert balances.get(f"escrow:{escrow['order_id']}", 0) == -locked

    def teardown(self) -> None:
        """Check that the audit's invariants hold at the end of every sequence, and the last event of each order states
        its escrow.
        """
        self.run(self.app.check_stated_escrows())
        self.run(LEDGER_CHAIN.extend(self.app.database))
        for promised in (line for line in INVARIANTS if line.service == "payments"):
            assert self.run(self.app.fetch(promised.offending)) == [], promised.rule


@pytest_asyncio.fixture(loop_scope="session")
async def app_with_loop(app: PaymentsApp) -> tuple[Any, asyncio.AbstractEventLoop]:
    return app, asyncio.get_running_loop()


def test_the_ledger_is_consistent_after_every_step(app_with_loop: tuple[Any, asyncio.AbstractEventLoop]) -> None:
    number = int(os.environ.get("SEQUENCES_SEED") or random.randrange(2**32))
    sys.stdout.write(f"SEQUENCES_SEED={number}\n")
    app, loop = app_with_loop
    machine = seed(number)(type("Sequences", (Sequences,), {"app": app, "loop": loop}))
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=int(os.environ.get("SEQUENCES_EXAMPLES") or EXAMPLES),
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    report = loop.run_until_complete(LEDGER_CHAIN.verify(app.database))
    assert report.broken is None
    assert report.length >= EXAMPLES
