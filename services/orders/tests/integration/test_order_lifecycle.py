"""The table of transitions through the service's endpoints: each row, and each pair without a row
(contract section 6).
"""

import asyncio
from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

from common.observability import telemetry
from common.primitives.ids import new_id
from common.primitives.lifecycles import Rejection
from contracts.payments import ChargeDisputed, EscrowHeld, EscrowReleased, RefundFailed, RefundSettled
from orders.domain.transitions import ORDER, STATES, next_state
from orders.timers import fire_timers_once

from .conftest import Market
from .order_story import PATHS, TRIGGERS, reached

# Stock is reserved while an order waits for its payment, so that it cannot be sold out.
UNREACHABLE = {("Processing", "escrow_held_without_stock")}
ROWS = [
    (state, trigger) for trigger, row in ORDER.rules.items() for state in row.to if (state, trigger) not in UNREACHABLE
]


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
                "INSERT INTO dispute_resolutions (id, order_id, outcome, refund_minor, status, prepared_by, "
                "prepared_at) "
                f"VALUES ($1, $2, '{outcome}', {refund}, 'prepared', gen_random_uuid(), now())"
            )
            yield "dispute_resolutions", "id", prepared, story.approve_resolution
    if state not in ("delivered", "paid"):
        for quantity in (1, 2):
            requested = (
                "WITH request AS (INSERT INTO return_requests (id, order_id, buyer_id, vendor_id, reason, "
                "status, created_at) "
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
