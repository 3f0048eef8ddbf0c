"""Random walks over the lifecycles of orders, returns and resolutions, through the real use cases: each result is the
one that a rule gives, and the database refuses every other change of state.
"""

from collections.abc import AsyncIterator
from itertools import count
from typing import Any, Final

import pytest
import pytest_asyncio

from common.messaging.faults import NotYetKnown
from common.primitives.decisions import DECISION
from common.primitives.lifecycles import Rejection
from operations.audit.invariants import INVARIANTS
from orders.domain.disputes import trigger_of
from orders.domain.returns import RETURN
from orders.domain.transitions import ORDER, State, next_state
from orders.timers import fire_timers_once
from testkit.state_changes import StateChanges
from testkit.walks import SEEDS, walk

from .conftest import Market
from .factories import escrow_refunded, refund_failed, refund_settled
from .order_story import TRIGGERS, Story

LIFECYCLES = {"orders": ORDER, "return_requests": RETURN, "dispute_resolutions": DECISION}
CANCELLATIONS = ("buyer_cancels", "vendor_cancels", "staff_cancels")
PROGRESS = ("vendor_dispatches", "pin_accepted", "buyer_disputes")
EVENTS = ("escrow_fully_released", "chargeback_opened")
TIMERS: dict[str, Any] = {
    "payment_window": "payment_window_ended",
    "vendor_idle": "vendor_idle",
    "pin_window": "pin_window_ended",
}
REPORTS: dict[Any, Any] = {"refund_settled": refund_settled, "refund_failed": refund_failed}
UNCHANGED: Final = Rejection.REPEATED
WALKS, LENGTH = 25, 40
PICKED, EITHER = range(4), (True, False)
# As often as they are listed: few orders are cancelled.
STEPS = [
    *[("pay", EITHER)] * 2,
    *[("send_command", PROGRESS)] * 4,
    ("send_command", CANCELLATIONS),
    ("receive_event", EVENTS),
    ("end_window", sorted(TIMERS)),
    *[("prepare_resolution", ["buyer", "vendor", "split"])] * 2,
    *[("decide_on_resolution", PICKED, EITHER)] * 2,
    *[("request_return", (1, 2))] * 2,
    *[("decide_on_return", PICKED, EITHER)] * 2,
    ("post_refund", PICKED, EITHER),
    *[("report_refund", PICKED, sorted(REPORTS), EITHER)] * 4,
]
_KEPT = """
SELECT 2 - coalesce(sum(i.quantity), 0)::int AS units FROM return_requests AS r
JOIN return_request_items AS i ON i.return_request_id = r.id WHERE r.order_id = $1 AND r.status = 'approved'
"""


class OrderWalker:
    """One order of two units. A step is a command, an event or a timer at any time, and returns the expected
    outcome.
    """

    def __init__(self, market: Market, changes: StateChanges) -> None:
        self.market, self.changes, self.story, self.sequences = market, changes, Story(market), count(10)

    async def run_step(self, name: str, *arguments: Any) -> None:
        before = await self.status()
        outcome = await getattr(self, name)(before, *arguments)
        assert await self.status() == (before if isinstance(outcome, Rejection) else outcome)
        assert await self.changes.forbidden() == []

    async def status(self) -> State:
        status: Any = await self.market.status_of(self.story.order)
        return status

    async def rows(self, table: str) -> list[Any]:
        return await self.market.fetch(f"SELECT * FROM {table} WHERE order_id = $1 ORDER BY id", self.story.id)

    async def send_command(self, before: State, trigger: Any) -> State | Rejection:
        response, outcome = await TRIGGERS[trigger](self.story), next_state(before, trigger)
        assert response.status_code == (409 if outcome is Rejection.FORBIDDEN else 200), response.text
        return outcome

    async def pay(self, before: State, with_stock: bool) -> State | Rejection:
        await self.market.fetch("UPDATE products SET stock = 5 WHERE vendor_id = $1", self.market.vendor_id)
        await (self.story.pay() if with_stock else self.story.pay_without_stock())
        has_units = with_stock or before == "Processing"
        return next_state(before, "escrow_held" if has_units else "escrow_held_without_stock")

    async def receive_event(self, before: State, trigger: Any) -> State | Rejection:
        outcome = next_state(before, trigger)
        try:
            await TRIGGERS[trigger](self.story)
        except NotYetKnown:
            assert outcome is Rejection.FORBIDDEN
        else:
            assert outcome is not Rejection.FORBIDDEN
        return outcome

    async def end_window(self, before: State, kind: str) -> State | Rejection:
        """Fire a timer of the current state, or one that another state left behind."""
        await self.market.fetch("DELETE FROM order_timers WHERE order_id = $1", self.story.id)
        values = (self.story.id, kind, self.market.clock.now())
        await self.market.fetch("INSERT INTO order_timers VALUES ($1, $2, $3)", *values)
        await fire_timers_once(self.market.dependencies)
        return next_state(before, TIMERS[kind])

    async def prepare_resolution(self, before: State, outcome: Any) -> State | Rejection:
        is_waiting = any(row["status"] == "prepared" for row in await self.rows("dispute_resolutions"))
        response = await self.story.prepare(outcome)
        is_allowed = not is_waiting and ORDER.allows(before, trigger_of(outcome))
        assert response.status_code == (201 if is_allowed else 409), response.text
        return UNCHANGED

    async def decide_on_resolution(self, before: State, picked: int, approves: bool) -> State | Rejection:
        resolutions = await self.rows("dispute_resolutions")
        if not resolutions:
            return UNCHANGED
        resolution = resolutions[picked % len(resolutions)]
        decided = DECISION.next_state(resolution["status"], "approved" if approves else "rejected")
        if approves:
            response = await self.story.approve_resolution(resolution["id"])
            outcome = next_state(before, trigger_of(resolution["outcome"]))
        else:
            path = f"/api/dispute-resolutions/{resolution['id']}/reject"
            checker = self.market.as_staff("finance_checker", stepped_up=True)
            response, outcome = await self.market.client.post(path, headers=checker), UNCHANGED
        is_refused = isinstance(decided, Rejection) or (approves and isinstance(outcome, Rejection))
        assert response.is_success == (not is_refused or decided is Rejection.REPEATED), response.text
        return UNCHANGED if is_refused else outcome

    async def request_return(self, before: State, quantity: int) -> State | Rejection:
        response = await self.story.request_return(quantity)
        assert response.status_code == 409 or ORDER.allows(before, "return_approved"), response.text
        return UNCHANGED

    async def decide_on_return(self, before: State, picked: int, approves: bool) -> State | Rejection:
        requests = await self.rows("return_requests")
        if not requests:
            return UNCHANGED
        request, verb = requests[picked % len(requests)], "approve" if approves else "reject"
        decided = RETURN.next_state(request["status"], "approved" if approves else "rejected")
        path, headers = f"/api/return-requests/{request['id']}/{verb}", self.market.as_merchant()
        response = await self.market.client.post(path, json={"reason": "random"}, headers=headers)
        is_refused = isinstance(decided, Rejection) or (approves and not ORDER.allows(before, "return_approved"))
        assert response.is_success == (not is_refused or decided is Rejection.REPEATED), response.text
        if is_refused or not approves:
            return UNCHANGED
        [kept] = await self.market.fetch(_KEPT, self.story.id)
        if kept["units"]:
            return next_state(before, "return_approved")
        has_failed = any(row["status"] == "failed" for row in await self.rows("order_refunds"))
        return "refund_pending" if has_failed else next_state(before, "everything_returned")

    async def post_refund(self, before: State, picked: int, is_empty: bool) -> State | Rejection:
        """Payments has posted it; with an empty escrow a delivered order is complete."""
        refunds = await self.rows("order_refunds")
        if not refunds:
            return UNCHANGED
        refund_id = refunds[picked % len(refunds)]["id"]
        event = escrow_refunded(self.story.order, refund_id, 1, remaining_minor=0 if is_empty else 1)
        await self.market.receive(event, sequence=next(self.sequences))
        return "paid" if is_empty and before == "delivered" else UNCHANGED

    async def report_refund(self, before: State, picked: int, trigger: Any, is_late: bool) -> State | Rejection:
        refunds = await self.rows("order_refunds")
        if not refunds:
            return UNCHANGED
        refund = refunds[picked % len(refunds)]
        event = REPORTS[trigger](self.story.order, refund["id"], refund["amount_minor"])
        await self.market.receive(event, sequence=0 if is_late else next(self.sequences))
        others_failed = any(one["status"] == "failed" and one["id"] != refund["id"] for one in refunds)
        is_repeated = trigger == "refund_settled" and (refund["status"] == "settled" or others_failed)
        return Rejection.STALE if is_late or is_repeated else next_state(before, trigger)


@pytest_asyncio.fixture(loop_scope="session")
async def changes(market: Market) -> AsyncIterator[StateChanges]:
    async with market.connected() as owner:
        changes = await StateChanges.recorded(owner, LIFECYCLES)
        await changes.refuse_others(*LIFECYCLES)
        yield changes


@pytest.mark.parametrize("seed", SEEDS)
async def test_an_order_follows_its_lifecycles(seed: int, market: Market, changes: StateChanges) -> None:
    async def start() -> OrderWalker:
        walker = OrderWalker(market, changes)
        await walker.story.create_sale()
        return walker

    await walk(start, STEPS, seed, walks=WALKS, length=LENGTH)
    assert len(changes.walked[ORDER]) >= 18
    assert changes.walked[RETURN] == RETURN.transitions
    assert changes.walked[DECISION] == {("prepared", "approved"), ("prepared", "rejected")}
    for line in (line for line in INVARIANTS if line.service == "orders"):
        assert await market.fetch(line.offending) == [], line.rule
