"""Concurrent transactions over one PIN lock its rows in one order: the watch, then the deliveries by id."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.event import Event
from contracts.orders import DeliveryPinIssued, OrderDelivered, OrderDispatched
from notifications.deliveries.domain.deliveries import notification_id_of
from notifications.deliveries.store.contacts import erase_contact, erase_messages
from notifications.deliveries.store.feed import save_streamed
from notifications.deliveries.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.deliveries.use_cases.deliveries.record_delivery_status import StatusReport, record_delivery_status
from notifications.deliveries.use_cases.pins.advance_pin import advance_pin
from notifications.deliveries.use_cases.pins.close_pin_watches import close_pin_watches
from notifications.deliveries.use_cases.pins.watch_pin import watch_pin
from testkit.events import provisioned
from testkit.lock_order import Transaction, assert_no_deadlock, handle_batch
from testkit.service_kit import OpenService

from .conftest import PHONE, OpenScenario, Scenario
from .providers import Providers

PIN_COUNT = 25
LOCKS = re.compile(r"\b(FOR UPDATE|UPDATE (pin_watches|notification_deliveries))\b")

Step = Callable[[Any], Awaitable[object]]


class Rendezvous:
    """Two transactions that each hold their first lock until the other holds its first lock too."""

    def __init__(self) -> None:
        self._barrier = asyncio.Barrier(2)

    def join(self, uow: Any) -> Any:
        return _WaitingUnitOfWork(uow, self._barrier)


class _WaitingUnitOfWork:
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


async def run(scenario: Scenario, step: Step, rendezvous: Rendezvous | None = None) -> None:
    async with scenario.unit_of_work() as uow:
        await step(rendezvous.join(uow) if rendezvous else uow)


async def sent_pins(scenario: Scenario) -> list[Any]:
    """One sent PIN for each rendezvous, each of its own order."""
    orders = {}
    for _ in range(PIN_COUNT):
        order_id = new_id()
        sealed = scenario.encryptor.encrypt("042917", str(order_id))
        issued = DeliveryPinIssued(order_id=order_id, buyer_id=scenario.buyer_id, pin_sealed=sealed, issue=1)
        await scenario.receive(issued)
        orders[notification_id_of("delivery_pin", order_id, 1)] = order_id
    await scenario.send_queued()
    rows = await scenario.deliveries()
    return [{**row, "order_id": orders[row["notification_id"]]} for row in rows]


def receipt(scenario: Scenario, status) -> Callable[[Any], Step]:
    at = scenario.clock.now()
    return lambda row: (
        lambda uow: record_delivery_status(uow, StatusReport("sms", row["provider_message_id"], status, at))
    )


def failed(row) -> Step:
    return lambda uow: fail_delivery(uow, row["id"], "rejected")


def closed(row) -> Step:
    return lambda uow: close_pin_watches(uow, row["order_id"])


def reissued(scenario: Scenario) -> Callable[[Any], Step]:
    deliveries, issues = scenario.dependencies.delivery_context(), count(2)

    def step(row) -> Step:
        issue = next(issues)
        of_issue: UUID = notification_id_of("delivery_pin", row["order_id"], issue)
        return lambda uow: watch_pin(uow, deliveries, of_issue, row["order_id"], issue, "sms")

    return step


@pytest.mark.parametrize("outcome", ["delivered", "failed", "exhausted"])
@pytest.mark.parametrize("end", ["used", "reissued"])
async def test_a_delivery_status_and_the_end_of_a_pin_do_not_deadlock(
    scenario: Scenario, providers: Providers, outcome: str, end: str
) -> None:
    await scenario.project_users()
    pins = await sent_pins(scenario)
    if outcome == "exhausted":
        await scenario.fetch("UPDATE notification_deliveries SET status = 'queued' RETURNING 1")
    delivery = failed if outcome == "exhausted" else receipt(scenario, outcome)
    end_pin = closed if end == "used" else reissued(scenario)
    for row in pins:
        rendezvous = Rendezvous()
        await asyncio.gather(run(scenario, delivery(row), rendezvous), run(scenario, end_pin(row), rendezvous))
    assert {(row["status"], str(row["sealed"])) for row in await scenario.deliveries()} == {
        ("delivered" if outcome == "delivered" else "failed", "{}")
    }
    watches = await scenario.fetch("SELECT is_over, due_at FROM pin_watches WHERE issue = 1")
    assert {tuple(row) for row in watches} == {(True, None)}


async def test_all_updates_of_a_pin_at_once_do_not_deadlock(
    scenario: Scenario, providers: Providers, clock: ManualClock, app: OpenService
) -> None:
    async def erase(uow: Any, sequence: int) -> None:
        await erase_contact(uow, scenario.buyer_id, sequence)
        await erase_messages(uow, scenario.buyer_id, [])

    await scenario.project_users()
    pins = await sent_pins(scenario)
    reissue, dependencies, sequences = reissued(scenario), app.dependencies, count(10)
    for row in pins:
        sequence = next(sequences)
        steps = [
            receipt(scenario, "sent")(row),
            receipt(scenario, "delivered")(row),
            closed(row),
            reissue(row),
            failed(row),
            lambda uow, row=row: advance_pin(uow, dependencies.delivery_context(), row["notification_id"]),
            lambda uow, sequence=sequence: erase(uow, sequence),
        ]
        clock.advance(dependencies.pin_receipt)
        await asyncio.gather(*(run(scenario, step) for step in steps))
    assert {str(row["sealed"]) for row in await scenario.deliveries()} == {"{}"}


async def test_all_pairs_of_batches_do_not_deadlock(scenario: Scenario, clock: ManualClock, app: OpenService) -> None:
    await scenario.project_users()
    buyers = [new_id() for _ in range(3)]
    for number, buyer_id in enumerate(buyers):
        await scenario.receive(provisioned(buyer_id, f"buyer{number}@unilag.edu.ng", phone=PHONE, phone_confirmed=True))
    orders = [(new_id(), buyer_id) for buyer_id in buyers]
    issues = count(1)

    def pin(order_id: UUID, buyer_id: UUID) -> DeliveryPinIssued:
        sealed = scenario.encryptor.encrypt("042917", str(order_id))
        return DeliveryPinIssued(order_id=order_id, buyer_id=buyer_id, pin_sealed=sealed, issue=next(issues))

    def step(order_id: UUID, buyer_id: UUID) -> list[Event]:
        # New orders each time: a notification that exists locks no feed.
        new_order = {"order_id": new_id(), "buyer_id": buyer_id, "vendor_id": scenario.vendor_id}
        delivered = {"delivered_at": "2026-01-01T10:00:00.000Z", "verified_by": buyer_id}
        return [OrderDispatched(**new_order), pin(order_id, buyer_id), OrderDelivered(**new_order, **delivered)]

    def batch(*positions: int) -> Transaction:
        return lambda: handle_batch(app, [event for position in positions for event in step(*orders[position])])

    async def stream() -> None:
        async with scenario.unit_of_work() as uow:
            await save_streamed(uow, [*reversed(buyers), scenario.owner_id], clock.now())

    async def record_receipts() -> None:
        await scenario.send_queued()
        for row in await scenario.deliveries():
            if row["channel"] == "sms" and row["provider_message_id"] is not None:
                await run(scenario, receipt(scenario, "delivered")(row))

    def profiles(buyers: list[UUID]) -> Transaction:
        return lambda: handle_batch(app, [provisioned(buyer_id, f"{buyer_id}@unilag.edu.ng") for buyer_id in buyers])

    transactions = {
        "profiles": profiles(buyers),
        "profiles in reverse": profiles(buyers[::-1]),
        "a batch": batch(0, 1, 2),
        "a batch in reverse": batch(2, 1, 0),
        "a batch of two": batch(2, 0),
        "receipts": record_receipts,
        "a stream": stream,
    }
    await assert_no_deadlock(transactions, rounds=4)


async def test_a_transaction_that_locks_in_another_order_is_found(open_scenario: OpenScenario) -> None:
    with pytest.raises(AssertionError, match=r"feeds [0-9a-f-]+ is locked after notification_deliveries"):
        async with open_scenario() as scenario:
            await scenario.project_users()
            await scenario.receive(scenario.dispatched())
            async with scenario.unit_of_work() as uow:
                await uow.execute("SELECT FROM notification_deliveries FOR UPDATE")
                await uow.execute("UPDATE feeds SET last = last")
