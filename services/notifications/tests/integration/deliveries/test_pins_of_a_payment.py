"""The PINs of the orders that one payment paid are in one text message (contract section 6.4)."""

import asyncio
from datetime import timedelta
from itertools import permutations
from uuid import UUID

import pytest

from common.database.errors import DatabaseUnavailable
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.orders import DeliveryPinIssued, OrderDelivered
from notifications.deliveries import timers
from notifications.deliveries.domain.pin_texts import PIN_TEXT_ORDERS_MAX, PIN_TEXT_WAIT
from notifications.deliveries.timers import advance_pins_once
from testkit.service_kit import OpenService

from ..conftest import Scenario
from ..providers import Providers

NUMBERS = ("CM-R80T-M2NG", "CM-7K3D-9QXW", "CM-4H2V-0BZE")
PINS = ("042917", "583016", "690244")
ORDERS = tuple(UUID(int=number) for number in (101, 102, 103))


def issued(scenario: Scenario, place: int, paid_orders: int = 2, *, issue: int = 1, pin: str | None = None, **more):
    sealed = scenario.encryptor.encrypt(pin or PINS[place], str(ORDERS[place]))
    return DeliveryPinIssued(
        order_id=ORDERS[place],
        buyer_id=scenario.buyer_id,
        pin_sealed=sealed,
        issue=issue,
        number=NUMBERS[place],
        **({"payment_reference": "pay-7", "paid_orders": paid_orders} | more),
    )


def delivered(scenario: Scenario, place: int) -> OrderDelivered:
    return OrderDelivered(
        order_id=ORDERS[place],
        buyer_id=scenario.buyer_id,
        vendor_id=scenario.vendor_id,
        delivered_at="2026-01-01T10:00:00.000Z",
        verified_by=new_id(),
    )


def texts(providers: Providers) -> list[str]:
    return [text["sms"] for text in providers.texts]


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
async def test_one_text_has_each_number_with_its_pin(
    scenario: Scenario, providers: Providers, order: tuple[int, ...]
) -> None:
    await scenario.project_users()
    for place in order:
        await scenario.receive(issued(scenario, place, 3))
        if place != order[-1]:
            assert await scenario.send_queued() == 0
    await scenario.send_queued()
    first, second, third = (f"your order {NUMBERS[place]} is {PINS[place]}" for place in order)
    assert texts(providers) == [
        f"Campus: your delivery PIN for {first}, for {second}, for {third}. "
        "Give each only when you have its goods in your hands."
    ]


async def test_one_order_of_a_payment_keeps_its_text(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(issued(scenario, 0, payment_reference=None, paid_orders=None))
    await scenario.send_queued()
    assert texts(providers) == [
        f"Campus: your delivery PIN for your order {NUMBERS[0]} is {PINS[0]}. "
        "Give it only when you have the goods in your hands."
    ]


async def test_a_missing_pin_delays_the_others_by_three_seconds(
    scenario: Scenario, providers: Providers, clock: ManualClock
) -> None:
    await scenario.project_users()
    await scenario.receive(issued(scenario, 0))
    assert await scenario.send_queued() == 0
    clock.advance(PIN_TEXT_WAIT)
    await scenario.send_queued()
    await scenario.receive(issued(scenario, 1))
    await scenario.send_queued()
    assert [PINS[0] in text for text in texts(providers)] == [True, False]
    assert texts(providers)[1] == texts(providers)[0].replace(NUMBERS[0], NUMBERS[1]).replace(PINS[0], PINS[1])


async def test_a_repeated_pin_is_in_one_text_once(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    for place in (0, 0, 1, 0, 1):
        await scenario.receive(issued(scenario, place))
    await scenario.send_queued()
    await scenario.receive(issued(scenario, 1))
    await scenario.send_queued()
    assert [text.count(PINS[0]) + text.count(PINS[1]) for text in texts(providers)] == [2]


async def test_concurrent_pins_share_one_text(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await asyncio.gather(*(scenario.receive(issued(scenario, place, 3)) for place in range(3)))
    await scenario.send_queued()
    assert [all(pin in text for pin in PINS) for text in texts(providers)] == [True]


async def test_each_order_has_its_own_entry_in_the_feed(scenario: Scenario) -> None:
    await scenario.project_users()
    for place in range(2):
        await scenario.receive(issued(scenario, place))
    items = (await scenario.feed()).json()["data"]
    assert {item["subject"]["orderId"] for item in items} == {str(order_id) for order_id in ORDERS[:2]}
    assert {(item["template"], item["title"]) for item in items} == {("delivery_pin", "Delivery PIN sent")}


async def test_a_new_pin_has_a_text_of_its_own(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(issued(scenario, 0))
    await scenario.receive(issued(scenario, 0, issue=2, pin="318842", payment_reference=None, paid_orders=None))
    await scenario.send_queued()
    # The first PIN is obsolete before its text was sent.
    await scenario.receive(issued(scenario, 1))
    await scenario.send_queued()
    assert [("318842" in text, PINS[0] in text, PINS[1] in text) for text in texts(providers)] == [
        (True, False, False),
        (False, False, True),
    ]


async def test_the_use_of_one_pin_deletes_it_and_keeps_the_others(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    for place in range(2):
        await scenario.receive(issued(scenario, place))
    await scenario.send_queued()
    await scenario.receive(delivered(scenario, 0))
    [text] = [row for row in await scenario.deliveries() if row["channel"] == "sms"]
    assert (text["status"], set(text["sealed"])) == ("sent", {f"pin:{ORDERS[1]}"})
    await scenario.receive(delivered(scenario, 1))
    [text] = [row for row in await scenario.deliveries() if row["channel"] == "sms"]
    assert (text["status"], text["sealed"]) == ("sent", {})


async def test_pins_without_a_receipt_use_the_next_channel_one_by_one(
    full_scenario: Scenario, providers: Providers, clock: ManualClock
) -> None:
    scenario = full_scenario
    await scenario.project_users()
    for place in range(2):
        await scenario.receive(issued(scenario, place))
    await scenario.send_queued()
    await scenario.receive(delivered(scenario, 0))
    clock.advance(timedelta(minutes=2))
    assert await advance_pins_once(scenario.app.dependencies) == 1
    [forwarded] = [row for row in await scenario.deliveries() if row["channel"] == "messaging"]
    assert forwarded["payload"]["orderNumber"] == NUMBERS[1]
    assert set(forwarded["sealed"]) == {"pin"}


async def test_an_outage_of_the_database_ends_a_round_of_pins(
    full_scenario: Scenario, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, advanced = full_scenario, list[UUID]()

    async def end_connection(uow: UnitOfWork, _: object, notification_id: UUID) -> None:
        advanced.append(notification_id)
        await uow.fetch("SELECT pg_terminate_backend(pg_backend_pid())")

    await scenario.project_users()
    for place in range(2):
        await scenario.receive(issued(scenario, place))
    await scenario.send_queued()
    clock.advance(timedelta(minutes=2))
    monkeypatch.setattr(timers, "advance_pin", end_connection)
    with pytest.raises(DatabaseUnavailable):
        await advance_pins_once(scenario.app.dependencies)
    assert len(advanced) == 1


async def test_the_log_of_each_order_shows_the_text(scenario: Scenario) -> None:
    await scenario.project_users()
    for place in range(2):
        await scenario.receive(issued(scenario, place))
    await scenario.send_queued()
    staff = scenario.headers(new_id(), roles=["auditor"])
    for order_id in ORDERS[:2]:
        path = "/api/notification-delivery-logs"
        logs = (await scenario.client.get(path, params={"orderId": str(order_id)}, headers=staff)).json()["data"]
        assert [(row["template"], row["channel"], row["status"]) for row in logs] == [("delivery_pin", "sms", "sent")]


async def test_a_full_text_starts_another_one(scenario: Scenario, providers: Providers, app: OpenService) -> None:
    await scenario.project_users()
    orders = [new_id() for _ in range(PIN_TEXT_ORDERS_MAX + 1)]
    for order_id in orders:
        sealed = scenario.encryptor.encrypt("12345678", str(order_id))
        await scenario.receive(
            DeliveryPinIssued(
                order_id=order_id,
                buyer_id=scenario.buyer_id,
                pin_sealed=sealed,
                issue=1,
                number=NUMBERS[0],
                payment_reference="pay-8",
                paid_orders=len(orders),
            )
        )
    await scenario.send_queued()
    counts = [(text.count("is 12345678"), len(text), text.endswith("hands.")) for text in texts(providers)]
    assert counts == [(9, 448, True), (1, 118, True)]


async def test_concurrent_events_of_a_payment_send_no_used_pin(scenario: Scenario) -> None:
    await scenario.project_users()

    def pin(order_id: UUID, reference: str) -> DeliveryPinIssued:
        sealed = scenario.encryptor.encrypt(PINS[0], str(order_id))
        payment = {"payment_reference": reference, "paid_orders": 3, "number": NUMBERS[0]}
        return DeliveryPinIssued(order_id=order_id, buyer_id=scenario.buyer_id, pin_sealed=sealed, issue=1, **payment)

    def used(order_id: UUID) -> OrderDelivered:
        parties = {"order_id": order_id, "buyer_id": scenario.buyer_id, "vendor_id": scenario.vendor_id}
        return OrderDelivered(**parties, delivered_at="2026-01-01T10:00:00.000Z", verified_by=new_id())

    for number in range(20):
        orders, reference = [new_id() for _ in range(3)], f"pay-{number}"
        await scenario.receive(pin(orders[0], reference))
        events = (pin(orders[1], reference), used(orders[0]), pin(orders[2], reference))
        await asyncio.gather(*(scenario.receive(event) for event in events))
        await asyncio.gather(*(scenario.receive(used(order_id)) for order_id in orders[1:]))
    texts_of_pins = [row for row in await scenario.deliveries() if row["channel"] == "sms"]
    assert len(texts_of_pins) >= 20
    assert {str(row["sealed"]) for row in texts_of_pins} == {"{}"}
