"""The table of transitions through the service's endpoints: each row, and each pair without a row (contract section 6)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from common.observability import telemetry
from common.primitives.ids import new_id
from common.primitives.lifecycles import Rejection
from contracts.payments import ChargeDisputed, EscrowHeld, EscrowReleased, RefundFailed, RefundSettled
from orders.domain.transitions import ORDER, STATES, next_state
from orders.timers import fire_timers_once

from .conftest import Market

COMPLAINT = {"reason": "never came", "details": "I waited."}
# Stock is reserved while an order waits for its payment, so that it cannot be sold out.
UNREACHABLE = {("Processing", "escrow_held_without_stock")}
ROWS = [
    (state, trigger) for trigger, row in ORDER.rules.items() for state in row.to if (state, trigger) not in UNREACHABLE
]


@dataclass
class Story:
    """One order, and everything that may happen to it."""

    market: Any
    order: dict[str, Any] = field(default_factory=dict)
    pin: str = "000000"

    @property
    def id(self) -> UUID:
        return UUID(self.order["id"])

    async def create_sale(self) -> None:
        self.order = await self.market.ordered(await self.market.sell(stock=5), 2)

    async def pay(self) -> None:
        await self.market.pay(self.order)
        if await self.market.status_of(self.order) == "paid_escrow":
            self.pin = await self.market.pin_of(self.order)

    async def pay_without_stock(self) -> None:
        await self.market.fetch(
            "UPDATE products SET stock = 0 WHERE id = $1::uuid", self.order["items"][0]["productId"]
        )
        await self.pay()

    async def release(self) -> None:
        await self.market.release(self.order)

    async def time_out(self) -> None:
        now = self.market.clock.now()
        await self.market.fetch("UPDATE order_timers SET due_at = $2 WHERE order_id = $1", self.id, now)
        await fire_timers_once(self.market.dependencies)

    async def cancel(self, headers: dict[str, str]) -> Any:
        return await self.market.post(self.order, "cancel", headers, {"reason": "no"})

    async def buyer_cancels(self) -> Any:
        return await self.cancel(self.market.as_buyer())

    async def vendor_cancels(self) -> Any:
        return await self.cancel(self.market.as_merchant())

    async def staff_cancels(self) -> Any:
        return await self.cancel(self.market.as_staff("support_agent"))

    async def dispatch(self) -> Any:
        return await self.market.post(self.order, "dispatch", self.market.as_merchant())

    async def verify(self) -> Any:
        return await self.market.verify(self.order, self.pin, headers=self.market.as_merchant())

    async def dispute(self) -> Any:
        return await self.market.post(self.order, "dispute", self.market.as_buyer(), COMPLAINT)

    async def prepare(self, outcome: str) -> Any:
        body = {"outcome": outcome} | ({"refundMinor": 1} if outcome == "split" else {})
        return await self.market.post(self.order, "resolve", self.market.as_staff("support_agent"), body)

    async def approve_resolution(self, resolution_id: Any) -> Any:
        return await self.market.approve_resolution(resolution_id)

    async def resolve(self, outcome: str) -> Any:
        return await self.approve_resolution((await self.prepare(outcome)).json()["data"]["resolutionId"])

    async def request_return(self, quantity: int) -> Any:
        body = {"items": [{"itemId": self.order["items"][0]["id"], "quantity": quantity}], "reason": "torn"}
        return await self.market.post(self.order, "return-requests", self.market.as_buyer(), body)

    async def approve_return(self, request_id: Any) -> Any:
        return await self.market.client.post(
            f"/api/return-requests/{request_id}/approve", headers=self.market.as_merchant()
        )

    async def return_items(self, quantity: int) -> Any:
        return await self.approve_return((await self.request_return(quantity)).json()["data"]["id"])

    async def open_chargeback(self) -> None:
        await self.market.receive(ChargeDisputed(**self.parties, amount_minor=1))

    async def end_refund(self, event: type[RefundSettled] | type[RefundFailed]) -> None:
        if await self.market.status_of(self.order) in ("delivered", "paid"):
            await self.return_items(1)
        [refund] = await self.market.fetch("SELECT id, amount_minor FROM order_refunds WHERE order_id = $1", self.id)
        await self.market.receive(
            event(refund_id=refund["id"], kind="order", amount_minor=refund["amount_minor"], order_id=self.id)
        )

    @property
    def parties(self) -> dict[str, UUID]:
        ids = {"order_id": "id", "buyer_id": "buyerId", "vendor_id": "vendorId"}
        return {name: UUID(self.order[field]) for name, field in ids.items()}


TRIGGERS: dict[str, Callable[[Story], Awaitable[Any]]] = {
    "buyer_cancels": Story.buyer_cancels,
    "vendor_cancels": Story.vendor_cancels,
    "staff_cancels": Story.staff_cancels,
    "vendor_dispatches": Story.dispatch,
    "pin_accepted": Story.verify,
    "buyer_disputes": Story.dispute,
    "resolved_for_buyer": lambda story: story.resolve("buyer"),
    "resolved_for_vendor": lambda story: story.resolve("split"),
    "return_approved": lambda story: story.return_items(1),
    "everything_returned": lambda story: story.return_items(2),
    "payment_window_ended": Story.time_out,
    "vendor_idle": Story.time_out,
    "pin_window_ended": Story.time_out,
    "escrow_held": Story.pay,
    "escrow_held_without_stock": Story.pay_without_stock,
    "escrow_fully_released": Story.release,
    "chargeback_opened": Story.open_chargeback,
    "refund_settled": lambda story: story.end_refund(RefundSettled),
    "refund_failed": lambda story: story.end_refund(RefundFailed),
}
# The transitions that bring an order into each state.
PATHS: dict[str, tuple[str, ...]] = {
    "Processing": (),
    "expired": ("payment_window_ended",),
    "cancelled": ("buyer_cancels",),
    "paid_escrow": ("escrow_held",),
    "dispatched": ("escrow_held", "vendor_dispatches"),
    "delivered": ("escrow_held", "vendor_dispatches", "pin_accepted"),
    "paid": ("escrow_held", "vendor_dispatches", "pin_accepted", "escrow_fully_released"),
    "disputed": ("escrow_held", "vendor_dispatches", "buyer_disputes"),
    "refund_pending": ("escrow_held", "vendor_cancels"),
    "refunded": ("escrow_held", "vendor_cancels", "refund_settled"),
}


async def reached(market: Market, state) -> Story:
    story = Story(market)
    await story.create_sale()
    for trigger in PATHS[state]:
        await TRIGGERS[trigger](story)
    assert await market.status_of(story.order) == state
    return story


async def everything(market: Market):
    """Everything that a command may change; the escrowed amount is payments' in every state."""
    tables = (
        "order_timers",
        "order_refunds",
        "products",
        "outbox",
        "delivery_pins",
        "order_disputes",
        "dispute_resolutions",
        "return_requests",
        "return_request_items",
    )
    found = {table: await market.fetch(f"SELECT {table}::text FROM {table} ORDER BY 1") for table in tables}
    found["orders"] = await market.fetch("SELECT id, status, revision, refunded_minor FROM orders ORDER BY 1")
    return found


def test_there_is_a_way_to_every_state_and_a_hand_for_every_trigger() -> None:
    assert set(PATHS) == set(STATES)
    assert set(TRIGGERS) == set(ORDER.rules)


async def test_the_running_service_makes_each_transition_of_the_table(market: Market) -> None:
    wrong = {}
    for state, trigger in ROWS:
        story = await reached(market, state)
        await TRIGGERS[trigger](story)
        status = await market.status_of(story.order)
        if status != ORDER.rules[trigger].to[state]:
            wrong[state, trigger] = status
    assert wrong == {}


COMMANDS = (
    "buyer_cancels",
    "vendor_cancels",
    "staff_cancels",
    "vendor_dispatches",
    "pin_accepted",
    "buyer_disputes",
)


async def test_every_command_that_is_no_row_is_409_or_obeyed_already_and_changes_nothing(market: Market) -> None:
    wrong = {}
    for state in STATES:
        story = await reached(market, state)
        before = await everything(market)
        for name, status, command in refused_commands(story, state):
            given = (await command()).status_code
            if given != status or await everything(market) != before:
                wrong[state, name] = given
    assert wrong == {}


def refused_commands(story, state):
    """Each command that the state forbids (409) or finds done already (200)."""
    for trigger in COMMANDS:
        verdict = next_state(state, trigger)
        if isinstance(verdict, Rejection):
            yield trigger, 200 if verdict is Rejection.REPEATED else 409, partial(TRIGGERS[trigger], story)
    if state != "disputed":
        for outcome in ("buyer", "vendor", "split"):
            yield f"prepare {outcome}", 409, partial(story.prepare, outcome)
    if state not in ("delivered", "paid"):
        for quantity in (1, 2):
            yield f"ask {quantity} back", 409, partial(story.request_return, quantity)
    if state not in ("paid_escrow", "dispatched"):
        market = story.market
        yield "reissue", 409, partial(market.post, story.order, "delivery-pin/reissue", market.as_buyer())


async def test_a_decision_that_the_state_has_overtaken_is_409_and_changes_nothing(market: Market) -> None:
    """A resolution or a return request that waits while its order moves on."""
    wrong = {}
    for state in STATES:
        story = await reached(market, state)
        for table, column, statement, approve in overtaken_decisions(story, state):
            row_id = new_id()
            await market.fetch_as_owner(statement, row_id, story.id)
            before = await everything(market)
            status = (await approve(row_id)).status_code
            if status != 409 or await everything(market) != before:
                wrong[state, statement] = status
            await market.fetch_as_owner(f"DELETE FROM {table} WHERE {column} = $1", row_id)
    assert wrong == {}


def overtaken_decisions(story, state):
    """Return what may wait for a decision when it is over: the table, its column, how it is written down, its
    approval.
    """
    if state != "disputed":
        for outcome, refund in (("buyer", story.order["totalMinor"]), ("vendor", 0), ("split", 1)):
            prepared = (
                "INSERT INTO dispute_resolutions (id, order_id, outcome, refund_minor, status, prepared_by, prepared_at) "
                f"VALUES ($1, $2, '{outcome}', {refund}, 'prepared', gen_random_uuid(), now())"
            )
            yield "dispute_resolutions", "id", prepared, story.approve_resolution
    if state not in ("delivered", "paid"):
        for quantity in (1, 2):
            requested = (
                "WITH request AS (INSERT INTO return_requests (id, order_id, buyer_id, vendor_id, reason, status, created_at) "
                "SELECT $1, id, buyer_id, vendor_id, 'torn', 'requested', now() FROM orders WHERE id = $2) "
                f"INSERT INTO return_request_items SELECT $1, id, {quantity} FROM order_items WHERE order_id = $2"
            )
            yield "return_request_items", "return_request_id", requested, story.approve_return


EVENTS = {"escrow_held": EscrowHeld, "escrow_fully_released": EscrowReleased, "chargeback_opened": ChargeDisputed}
TIMERS = {"payment_window": "payment_window_ended", "vendor_idle": "vendor_idle", "pin_window": "pin_window_ended"}


async def test_stale_events_are_ignored_and_counted_in_every_state(market: Market) -> None:
    wrong, ignored = [], 0

    async def expect_ignored(state, label, repeat):
        counter = telemetry.STALE_EVENTS.labels(label)._value
        before, counted = await everything(market), counter.get()
        await repeat()
        if counter.get() != counted + 1 or await everything(market) != before:
            wrong.append((state, label))

    for state in STATES:
        story = await reached(market, state)
        for trigger, event in EVENTS.items():
            if next_state(state, trigger) is Rejection.STALE:
                await expect_ignored(state, event.TYPE, partial(TRIGGERS[trigger], story))
                ignored += 1
        for kind, trigger in TIMERS.items():
            if next_state(state, trigger) is Rejection.STALE:
                await expect_ignored(state, kind, partial(outlive, story, kind))
                ignored += 1
    assert wrong == []
    assert ignored > len(STATES)


async def outlive(story, kind):
    """Make a timer of a former state of the order due."""
    now = story.market.clock.now()
    await story.market.fetch("INSERT INTO order_timers VALUES ($1, $2, $3)", story.id, kind, now)
    await fire_timers_once(story.market.dependencies)


async def test_the_event_of_an_unexpected_refund_keeps_the_status(market: Market) -> None:
    for event in (RefundSettled, RefundFailed):
        for state in ("paid_escrow", "dispatched", "disputed"):
            story, refund_id = await reached(market, state), new_id()
            await market.fetch(
                "INSERT INTO order_refunds VALUES ($1, $2, 1, 'test', 'posted', true, now())", refund_id, story.id
            )
            await market.receive(event(refund_id=refund_id, kind="order", amount_minor=1, order_id=story.id))
            assert await market.status_of(story.order) == state


ORDERS = 200
DAYS = 60


async def test_sixty_days_of_timers_fire_each_in_its_time_and_once(market: Market) -> None:
    """Two hundred orders are abandoned at every point of their lifecycle, six hours at a time."""
    product = await market.sell(stock=ORDERS)
    paths = {
        "unpaid": (timedelta(minutes=15), "expired"),
        "idle": (timedelta(hours=72), "refund_pending"),
        "unproven": (timedelta(days=14), "disputed"),
        "done": (None, "delivered"),
    }
    began, kinds = market.clock.now(), list(paths)

    async def abandon(number):
        order = await market.ordered(product)
        kind = kinds[number % len(kinds)]
        if kind != "unpaid":
            await market.pay(order)
        if kind == "unproven":
            await market.post(order, "dispatch", market.as_merchant())
        if kind == "done":
            await market.verify(order, await market.pin_of(order), key=uuid4(), headers=market.as_merchant())
        return kind, order

    left = []
    for start in range(0, ORDERS, 8):
        left += await asyncio.gather(*(abandon(number) for number in range(start, start + 8)))
    by_kind = {kind: [UUID(order["id"]) for its, order in left if its == kind] for kind in kinds}
    assert await market.stock_of(product) == 0
    moved_at: dict[str, timedelta] = {}
    step, moved = timedelta(hours=6), 0
    while market.clock.now() < began + timedelta(days=DAYS):
        market.clock.advance(step)
        moved += await fire_timers_once(market.dependencies)
        for kind, (_, end) in paths.items():
            rows = await market.fetch("SELECT DISTINCT status FROM orders WHERE id = ANY ($1::uuid[])", by_kind[kind])
            if [row["status"] for row in rows] == [end]:
                moved_at.setdefault(kind, market.clock.now() - began)
    due = {kind: -(-length // step) * step for kind, (length, _) in paths.items() if length is not None}
    assert moved_at == {**due, "done": step}
    assert moved == ORDERS * 3 // 4
    assert await market.fetch("SELECT 1 FROM order_timers") == []
    # What was not handed over is for sale again: the unpaid and the idle ones.
    assert await market.stock_of(product) == ORDERS // 2
    for event in ("order_expired", "refund_requested", "order_disputed"):
        orders = [line["orderId"] for line in await market.published(f"orders.{event}.v1")]
        assert len(orders) == len(set(orders)) == ORDERS // 4


async def test_a_price_that_changes_during_the_checkout_is_never_charged_unseen(market: Market) -> None:
    for _ in range(20):
        product = await market.sell(price_minor=100_000, stock=1)

        async def change_price(product=product):
            await market.fetch("UPDATE products SET price_minor = 200000 WHERE id = $1", product)

        placed, _ = await asyncio.gather(market.checkout(product, expectedTotalMinor=100_000), change_price())
        assert placed.status_code in (201, 409)
        if placed.status_code == 201:
            assert placed.json()["data"]["totalMinor"] == 100_000
        else:
            assert await market.stock_of(product) == 1
    totals = await market.fetch("SELECT DISTINCT total_amount FROM orders")
    assert [row["total_amount"] for row in totals] in ([], [100_000])
