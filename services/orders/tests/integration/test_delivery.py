import asyncio
import re
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from contracts.orders import PIN_DELIVERY
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of, invalid_field_of

from .conftest import PIN_DELIVERY_KEY, Market
from .steps import another_pin


async def wrong_tries_of(market: Market, order):
    rows = await market.fetch("SELECT wrong_tries FROM delivery_pins WHERE order_id = $1", UUID(order["id"]))
    return rows[0]["wrong_tries"]


async def test_a_paid_order_has_a_pin_that_only_its_buyer_and_the_encrypted_event_hold(market: Market) -> None:
    order = await market.paid()
    pin = await market.pin_of(order)
    assert len(pin) == 6
    assert pin.isdecimal()
    event = (await market.published("orders.delivery_pin_issued.v1"))[0]
    assert event["issue"] == 1
    assert Encryptor(PIN_DELIVERY, PIN_DELIVERY_KEY).decrypt(event["pinSealed"], order["id"]) == pin
    kept = await market.fetch("SELECT delivery_pins::text AS kept FROM delivery_pins")
    events = await market.fetch("SELECT convert_from(payload, 'UTF8') AS payload FROM outbox")
    # Digits of a hash may equal the PIN by chance: search for the PIN as a word, or as bytes.
    readable = rf"(?<![0-9a-z_-]){pin}(?![0-9a-z_-])|{pin.encode().hex()}"
    assert re.search(readable, kept[0]["kept"], re.IGNORECASE) is None
    assert not any(f'"{pin}"' in event["payload"] for event in events)


async def test_the_pin_of_another_is_as_absent_as_that_of_no_order(market: Market) -> None:
    order = await market.paid(hubId=await market.hub())
    for headers in (
        market.as_merchant(),
        market.as_agent(order),
        market.as_staff("support_agent"),
        market.as_staff("auditor"),
        market.as_buyer(new_id()),
    ):
        shown = await market.client.get(f"/api/orders/{order['id']}/delivery-pin", headers=headers)
        reissued = await market.post(order, "delivery-pin/reissue", headers)
        assert [error_of(response) for response in (shown, reissued)] == [NOT_FOUND] * 2


@pytest.mark.parametrize("status", ["Processing", "cancelled", "expired", "refund_pending"])
async def test_a_missing_pin_is_409_with_a_reason_for_the_buyer_and_404_for_others(market: Market, status: str) -> None:
    order = await market.ordered()
    await market.fetch("UPDATE orders SET status = $2 WHERE id = $1", UUID(order["id"]), status)
    url = f"/api/orders/{order['id']}/delivery-pin"
    response = await market.client.get(url, headers=market.as_buyer())
    assert error_of(response) == CONFLICT
    assert ("refund_pending" if status == "refund_pending" else "not paid yet") in response.json()["detail"]
    for headers in (market.as_buyer(new_id()), market.as_merchant(), market.as_staff("support_agent")):
        assert error_of(await market.client.get(url, headers=headers)) == NOT_FOUND


@pytest.mark.parametrize("role", ["vendor", "hub_agent", "buyer"])
@pytest.mark.parametrize("dispatched", [False, True])
async def test_the_correct_pin_of_vendor_hub_agent_or_buyer_delivers(
    market: Market, role: str, dispatched: bool
) -> None:
    order = await market.paid(hubId=await market.hub())
    if dispatched:
        assert (await market.post(order, "dispatch", market.as_merchant())).status_code == 200
    headers = {
        "vendor": market.as_merchant(),
        "hub_agent": market.as_agent(order),
        "buyer": market.as_buyer(),
    }[role]
    assert data_of(await market.verify(order, await market.pin_of(order), headers=headers)) == {
        "id": order["id"],
        "status": "delivered",
        "deliveredAt": "2026-01-05T12:00:00.000Z",
    }
    event = (await market.published("orders.order_delivered.v1"))[0]
    assert (event["orderId"], event["deliveredAt"]) == (order["id"], "2026-01-05T12:00:00.000Z")


async def test_a_reader_without_verification_rights_counts_no_attempt(market: Market) -> None:
    order = await market.paid()
    response = await market.verify(order, await market.pin_of(order), headers=market.as_staff("auditor"))
    assert error_of(response) == FORBIDDEN
    agent = market.as_staff("hub_agent", market.campus_id, hub_id=new_id())
    assert (await market.verify(order, await market.pin_of(order), headers=agent)).status_code == 404
    assert (await wrong_tries_of(market, order), await market.status_of(order)) == (0, "paid_escrow")


async def test_five_wrong_attempts_in_total_lock_the_pin(market: Market) -> None:
    order = await market.paid(hubId=await market.hub())
    pin = await market.pin_of(order)
    callers = [market.as_merchant(), market.as_buyer(), market.as_agent(order)]
    for turn in range(5):
        response = await market.verify(order, another_pin(pin), headers=callers[turn % 3])
        assert error_of(response) == (400, "DELIVERY_PIN_INVALID")
        assert response.json()["attemptsRemaining"] == 4 - turn
    locked = await market.verify(order, pin)
    assert error_of(locked) == (429, "RATE_LIMIT_EXCEEDED")
    # The vendor has 72 hours from the payment; nothing changes before.
    assert locked.headers["retry-after"] == str(72 * 3600)
    assert locked.json()["detail"].endswith("The buyer can have the PIN reissued, 3 times more.")
    assert await market.status_of(order) == "paid_escrow"


@pytest.mark.parametrize("typed", ["048 213", "-048213", " 048213", "048213\n", "\uff10\uff14\uff18213"], ids=ascii)
async def test_a_pin_that_is_not_only_ascii_digits_is_422_and_no_attempt(market: Market, typed: str) -> None:
    order = await market.paid()
    assert invalid_field_of(await market.verify(order, typed)) == (422, "pin")
    assert await wrong_tries_of(market, order) == 0


async def test_parallel_guesses_never_exceed_five(market: Market) -> None:
    order = await market.paid(hubId=await market.hub())
    pin = await market.pin_of(order)
    callers = [market.as_merchant(), market.as_buyer(), market.as_agent(order)]
    responses = await asyncio.gather(
        *(market.verify(order, another_pin(pin), headers=callers[turn % 3]) for turn in range(30))
    )
    assert sorted(response.status_code for response in responses) == [400] * 5 + [429] * 25
    remaining = sorted(response.json()["attemptsRemaining"] for response in responses if response.status_code == 400)
    assert remaining == [0, 1, 2, 3, 4]
    assert await wrong_tries_of(market, order) == 5


async def test_a_reissue_opens_the_lock_and_shuts_the_old_pin_three_times_at_most(market: Market) -> None:
    order = await market.paid()
    first = await market.pin_of(order)
    for _ in range(5):
        await market.verify(order, another_pin(first))
    pins = [first]
    for left in (2, 1, 0):
        issued = data_of(await market.post(order, "delivery-pin/reissue", market.as_buyer()))
        assert (issued["attemptsRemaining"], issued["reissuesRemaining"]) == (5, left)
        assert issued["pin"] == await market.pin_of(order)
        pins.append(issued["pin"])
    assert error_of(await market.post(order, "delivery-pin/reissue", market.as_buyer())) == CONFLICT
    assert [event["issue"] for event in await market.published("orders.delivery_pin_issued.v1")] == [
        1,
        2,
        3,
        4,
    ]
    for old in set(pins[:-1]) - {pins[-1]}:
        assert (await market.verify(order, old)).status_code == 400
    assert (await market.verify(order, pins[-1])).status_code == 200


async def test_the_right_pin_again_is_a_success_without_effect_also_when_paid(market: Market) -> None:
    order = await market.paid()
    pin = await market.pin_of(order)
    assert (await market.verify(order, pin)).status_code == 200
    again = await market.verify(order, pin, headers=market.as_merchant())
    assert (again.status_code, again.json()["data"]["status"]) == (200, "delivered")
    await market.release(order)
    paid = await market.verify(order, pin)
    assert (paid.status_code, paid.json()["data"]["status"]) == (200, "paid")
    assert len(await market.published("orders.order_delivered.v1")) == 1
    assert (await market.verify(order, another_pin(pin))).status_code == 400


async def test_one_key_is_one_attempt(market: Market) -> None:
    order = await market.paid()
    pin, key = await market.pin_of(order), uuid4()
    responses = await asyncio.gather(*(market.verify(order, another_pin(pin), key=key) for _ in range(10)))
    assert {(response.status_code, response.json()["attemptsRemaining"]) for response in responses} == {(400, 4)}
    assert await wrong_tries_of(market, order) == 1
    assert invalid_field_of(await market.verify(order, pin, key=key)) == (422, "Idempotency-Key")
    assert await market.status_of(order) == "paid_escrow"
    right = uuid4()
    responses = [await market.verify(order, pin, key=right) for _ in range(3)]
    assert [response.status_code for response in responses] == [200] * 3
    assert len(await market.published("orders.order_delivered.v1")) == 1


async def test_one_key_of_a_caller_cannot_serve_two_orders(market: Market) -> None:
    first, second = await market.paid(), await market.paid()
    key = uuid4()
    assert (await market.verify(first, await market.pin_of(first), key=key)).status_code == 200
    response = await market.verify(second, await market.pin_of(second), key=key)
    assert invalid_field_of(response) == (422, "Idempotency-Key")
    assert await market.status_of(second) == "paid_escrow"


async def test_one_key_for_two_orders_at_once_delivers_one_of_them(market: Market) -> None:
    orders = [await market.paid(), await market.paid()]
    key, pins = uuid4(), [await market.pin_of(order) for order in orders]
    responses = await asyncio.gather(
        *(market.verify(order, pin, key=key) for order, pin in zip(orders, pins, strict=True))
    )
    assert sorted(response.status_code for response in responses) == [200, 422]
    assert sorted([await market.status_of(order) for order in orders]) == ["delivered", "paid_escrow"]


@pytest.mark.parametrize(
    "pin", ["123", "123456789", "12345a", "\u0661\u0662\u0663\u0664\u0665\u0666", "", " 123", 123456]
)
async def test_a_malformed_pin_is_422_and_counts_no_attempt(market: Market, pin) -> None:
    order = await market.paid()
    assert invalid_field_of(await market.verify(order, pin)) == (422, "pin")
    assert await wrong_tries_of(market, order) == 0


async def test_four_and_eight_digits_are_well_formed_and_wrong(market: Market) -> None:
    order = await market.paid()
    assert [(await market.verify(order, pin)).status_code for pin in ("1234", "12345678")] == [400, 400]


async def test_other_states_are_409_and_count_no_attempt(market: Market) -> None:
    order = await market.paid()
    pin = await market.pin_of(order)
    for status in ("Processing", "expired", "cancelled", "disputed", "refund_pending", "refunded"):
        await market.fetch("UPDATE orders SET status = $2 WHERE id = $1", UUID(order["id"]), status)
        for shown in (pin, another_pin(pin)):
            assert error_of(await market.verify(order, shown)) == CONFLICT
        assert (await market.post(order, "delivery-pin/reissue", market.as_buyer())).status_code == 409
    assert await wrong_tries_of(market, order) == 0


@pytest.mark.parametrize("status", ["delivered", "paid", "refund_pending", "refunded"])
async def test_a_pin_that_was_used_or_opens_nothing_any_more_is_shown_to_no_user(market: Market, status: str) -> None:
    order = await market.paid()
    await market.fetch("UPDATE orders SET status = $2 WHERE id = $1", UUID(order["id"]), status)
    url = f"/api/orders/{order['id']}/delivery-pin"
    response = await market.client.get(url, headers=market.as_buyer())
    assert (response.status_code, response.json()["code"], "pin" in response.json()) == (
        409,
        "CONCURRENCY_CONFLICT",
        False,
    )
    for headers in (market.as_merchant(), market.as_staff("support_agent")):
        assert (await market.client.get(url, headers=headers)).status_code == 404


async def test_without_a_key_nothing_is_verified(market: Market) -> None:
    order = await market.paid()
    body = {"pin": await market.pin_of(order)}
    response = await market.post(order, "verify-delivery", market.as_buyer(), body)
    assert invalid_field_of(response) == (422, "Idempotency-Key")
    assert await market.status_of(order) == "paid_escrow"


async def test_a_verification_that_fails_before_its_commit_changes_nothing(market: Market) -> None:
    order = await market.paid()
    pin = await market.pin_of(order)
    async with market.crashing():
        assert (await market.verify(order, pin)).status_code == 500
    assert await market.status_of(order) == "paid_escrow"
    assert (await market.verify(order, pin)).status_code == 200


async def test_the_pin_of_a_settled_order_is_forgotten_after_half_a_year_and_no_other(market: Market) -> None:
    settled, dispatched = await market.paid(), await market.paid()
    for order in (settled, dispatched):
        await market.post(order, "dispatch", market.as_merchant())
    pin, key = await market.pin_of(settled), uuid4()
    assert (await market.verify(settled, pin, key=key)).status_code == 200
    await market.release(settled)
    assert await market.status_of(settled) == "paid"
    market.clock.advance(timedelta(days=179))
    assert await market.remove_old() == 0
    market.clock.advance(timedelta(days=2))
    assert await market.remove_old() == 1
    kept = await market.fetch("SELECT order_id FROM delivery_pins")
    assert [str(row["order_id"]) for row in kept] == [dispatched["id"]]
    # The try stays bound to its key for good.
    assert (await market.verify(settled, pin, key=key)).status_code == 200
