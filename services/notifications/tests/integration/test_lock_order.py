"""Transactions that meet over one PIN lock its rows in one order: the watch, then the deliveries by id."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from contracts.orders import DeliveryPinIssued
from notifications import store
from notifications.domain.deliveries import notification_id_of
from notifications.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.use_cases.deliveries.record_delivery_status import record_delivery_status
from notifications.use_cases.pins.advance_pin import advance_pin
from notifications.use_cases.pins.close_pin_watches import close_pin_watches
from notifications.use_cases.pins.watch_pin import watch_pin

QUEUE = "notifications.deliveries"
MEETINGS = 25
LOCKS = re.compile(r"\b(FOR UPDATE|UPDATE (pin_watches|notification_deliveries))\b")

Step = Callable[[Any], Awaitable[object]]


class Meeting:
    """Two transactions that each wait, with their first lock taken, until the other has its first lock too."""

    def __init__(self) -> None:
        self._barrier = asyncio.Barrier(2)

    def join(self, uow: Any) -> Any:
        return _Joined(uow, self._barrier)


class _Joined:
    """A unit of work that waits at the barrier after its first lock."""

    def __init__(self, uow: Any, barrier: asyncio.Barrier) -> None:
        self._uow, self._barrier, self._waited = uow, barrier, False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._uow, name)
        if name not in ("fetch", "fetch_row", "fetch_value", "execute"):
            return found

        async def run(statement: str, *values: Any) -> Any:
            result = await found(statement, *values)
            if not self._waited and LOCKS.search(statement):
                self._waited = True
                await self._barrier.wait()
            return result

        return run


async def run(story, step: Step, meeting: Meeting | None = None) -> None:
    async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await step(meeting.join(uow) if meeting else uow)


async def sent_pins(story) -> list[Any]:
    """One sent PIN for each meeting, of an order of its own."""
    orders = {}
    for _ in range(MEETINGS):
        order_id = new_id()
        sealed = story.encryptor.encrypt("042917", str(order_id))
        issued = DeliveryPinIssued(order_id=order_id, buyer_id=story.buyer_id, pin_sealed=sealed, issue=1)
        await story.service.hear(issued)
        orders[notification_id_of("delivery_pin", order_id, 1)] = order_id
    await story.service.work(QUEUE)
    rows = await story.deliveries()
    return [{**row, "order_id": orders[row["notification_id"]]} for row in rows]


def receipt(story, status) -> Callable[[Any], Step]:
    at = story.service.runtime.clock.now()
    return lambda row: lambda uow: record_delivery_status(uow, "sms", row["provider_message_id"], status, at)


def given_up(row) -> Step:
    return lambda uow: fail_delivery(uow, row["id"], "nobody took it")


def ended(row) -> Step:
    return lambda uow: close_pin_watches(uow, row["order_id"])


def reissued(story) -> Callable[[Any], Step]:
    delivery_context, issues = story.service.dependencies.delivery_context(), count(2)

    def step(row) -> Step:
        issue = next(issues)
        of_issue: UUID = notification_id_of("delivery_pin", row["order_id"], issue)
        return lambda uow: watch_pin(uow, delivery_context, of_issue, row["order_id"], issue, "sms")

    return step


@pytest.mark.parametrize("outcome", ["delivered", "failed", "given up"])
@pytest.mark.parametrize("end", ["used", "reissued"])
async def test_news_of_a_pins_delivery_and_the_end_of_the_pin_meet_without_a_deadlock(story, outside, outcome, end):
    await story.project_people()
    pins = await sent_pins(story)
    if outcome == "given up":
        await story.service.fetch("UPDATE notification_deliveries SET status = 'queued' RETURNING 1")
    delivery = given_up if outcome == "given up" else receipt(story, outcome)
    over = ended if end == "used" else reissued(story)
    for row in pins:
        meeting = Meeting()
        await asyncio.gather(run(story, delivery(row), meeting), run(story, over(row), meeting))
    assert {(row["status"], str(row["sealed"])) for row in await story.deliveries()} == {
        ("delivered" if outcome == "delivered" else "failed", "{}")
    }
    watches = await story.service.fetch("SELECT is_over, due_at FROM pin_watches WHERE issue = 1")
    assert {tuple(row) for row in watches} == {(True, None)}


async def test_all_that_may_happen_to_a_pin_at_once_ends_without_a_deadlock(story, outside):
    await story.project_people()
    pins = await sent_pins(story)
    over_again, dependencies, sequences = reissued(story), story.service.dependencies, count(10)
    for row in pins:
        sequence = next(sequences)
        steps = [
            receipt(story, "sent")(row),
            receipt(story, "delivered")(row),
            ended(row),
            over_again(row),
            given_up(row),
            lambda uow, row=row: advance_pin(uow, dependencies.delivery_context(), row["notification_id"]),
            lambda uow, sequence=sequence: store.erase_contact(uow, story.buyer_id, sequence),
        ]
        story.service.runtime.clock.advance(dependencies.pin_receipt)
        await asyncio.gather(*(run(story, step) for step in steps))
    assert {str(row["sealed"]) for row in await story.deliveries()} == {"{}"}
