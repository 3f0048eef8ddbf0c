"""Two members of staff reissue a delivery PIN beyond the buyer's limit (contract section 6)."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import pytest

from common.primitives.ids import new_id
from orders.domain.pin_reissues import REISSUE_LIFE
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of, invalid_field_of

from .conftest import Market
from .steps import another_pin

REISSUES = "/api/pin-reissues"
REASON = "Called back on the proven number, named both items"


async def locked_order(market: Market) -> dict[str, Any]:
    """Return a paid order whose four PINs are used up, the last one by five wrong attempts."""
    order: dict[str, Any] = await market.paid()
    for _ in range(3):
        data_of(await market.post(order, "delivery-pin/reissue", market.as_buyer()))
    await lock(market, order)
    return order


async def lock(market: Market, order: dict[str, Any]) -> None:
    pin = await market.pin_of(order)
    for _ in range(5):
        await market.verify(order, another_pin(pin))


async def prepare(
    market: Market, order: dict[str, Any], headers: dict[str, str] | None = None, reason: str = REASON
) -> httpx.Response:
    body = {"orderId": order["id"], "reason": reason}
    headers = headers or market.as_staff("support_agent", stepped_up=True)
    return await market.client.post(REISSUES, json=body, headers=headers)


async def decide(
    market: Market, reissue: dict[str, Any], verb: str = "approve", headers: dict[str, str] | None = None
) -> httpx.Response:
    body = {"hash": reissue["hash"]} if verb == "approve" else {"reason": "The caller was not the buyer"}
    headers = headers or market.as_staff("finance_checker", stepped_up=True)
    return await market.client.post(f"{REISSUES}/{reissue['id']}/{verb}", json=body, headers=headers)


async def test_an_approved_reissue_sends_the_buyer_a_new_pin_that_staff_never_read(market: Market) -> None:
    order = await locked_order(market)
    old = await market.pin_of(order)
    assert "support can" in (await market.verify(order, old)).json()["detail"]
    reissue = data_of(await prepare(market, order), 201)
    assert (reissue["status"], reissue["orderNumber"], reissue["reason"]) == ("prepared", order["number"], REASON)
    assert await market.pin_of(order) == old
    approved = await decide(market, reissue)
    assert (data_of(approved)["status"], old in approved.text) == ("approved", False)
    pin = await market.pin_of(order)
    assert pin not in approved.text
    event = (await market.published("orders.delivery_pin_issued.v1"))[-1]
    assert (event["issue"], event["buyerId"]) == (5, order["buyerId"])
    timeline = data_of(await market.client.get(f"/api/orders/{order['id']}/timeline", headers=market.as_buyer()))
    assert timeline[-1]["event"] == "pin_issued"
    assert error_of(await market.post(order, "delivery-pin/reissue", market.as_buyer())) == CONFLICT
    assert data_of(await decide(market, reissue)) == data_of(approved)
    assert await market.pin_of(order) == pin
    assert data_of(await market.verify(order, pin))["status"] == "delivered"


async def test_only_an_exhausted_pin_of_an_undelivered_order_is_reissued(market: Market) -> None:
    order = await market.paid()
    assert error_of(await prepare(market, order)) == CONFLICT
    assert error_of(await prepare(market, await market.ordered())) == CONFLICT
    await lock(market, order)
    reissue = data_of(await prepare(market, order), 201)
    # The buyer reissues the PIN in the meantime: the decision has no cause any more.
    data_of(await market.post(order, "delivery-pin/reissue", market.as_buyer()))
    assert error_of(await decide(market, reissue)) == CONFLICT
    assert data_of(await market.verify(order, await market.pin_of(order)))["status"] == "delivered"
    assert error_of(await decide(market, reissue)) == CONFLICT
    assert data_of(await decide(market, reissue, "reject"))["status"] == "rejected"


async def test_neither_the_maker_nor_a_party_decides(market: Market) -> None:
    order = await locked_order(market)
    both = ("support_agent", "finance_checker")
    buyer = market.headers(UUID(order["buyerId"]), roles=both, stepped_up=True)
    assert error_of(await prepare(market, order, buyer)) == FORBIDDEN
    maker = market.headers(new_id(), roles=both, stepped_up=True)
    reissue = data_of(await prepare(market, order, maker), 201)
    outsiders = (maker, buyer, market.as_staff("support_agent", stepped_up=True), market.as_buyer())
    for headers in outsiders:
        for verb in ("approve", "reject"):
            assert error_of(await decide(market, reissue, verb, headers)) == FORBIDDEN
    assert error_of(await decide(market, {**reissue, "hash": "0" * 64})) == CONFLICT
    assert invalid_field_of(await prepare(market, order, reason="short")) == (422, "reason")
    assert error_of(await decide(market, {"id": new_id(), "hash": "0" * 64})) == NOT_FOUND


async def test_an_order_has_one_prepared_reissue_which_expires(market: Market) -> None:
    order = await locked_order(market)
    responses = await asyncio.gather(*(prepare(market, order) for _ in range(3)))
    assert sorted(response.status_code for response in responses) == [201, 409, 409]
    [reissue] = [data_of(response, 201) for response in responses if response.status_code == 201]
    market.clock.advance(REISSUE_LIFE)
    assert error_of(await decide(market, reissue)) == CONFLICT
    shown = data_of(await market.client.get(f"{REISSUES}/{reissue['id']}", headers=market.as_staff("support_agent")))
    assert shown["status"] == "expired"
    assert data_of(await prepare(market, order), 201)["id"] != reissue["id"]


async def test_the_second_reissue_of_an_order_raises_an_alert(market: Market) -> None:
    order, other = [await locked_order(market) for _ in range(2)]
    data_of(await decide(market, data_of(await prepare(market, other), 201)))
    data_of(await decide(market, data_of(await prepare(market, order), 201), "reject"))
    raised = []
    for _ in range(2):
        data_of(await decide(market, data_of(await prepare(market, order), 201)))
        raised.append([alert["severity"] for alert in await market.published("operations.alert_raised.v1")])
        await lock(market, order)
    assert raised == [[], ["SEV-3"]]


@pytest.mark.parametrize("role", ["support_agent", "finance_checker", "auditor"])
async def test_staff_list_reissues_and_the_checker_finds_the_waiting_ones(market: Market, role: str) -> None:
    order = await locked_order(market)
    reissue = data_of(await prepare(market, order), 201)
    headers = market.as_staff(role)
    query = {"orderId": order["id"]}
    found = data_of(await market.client.get(REISSUES, params=query, headers=headers))
    assert [one["id"] for one in found] == [reissue["id"]]
    waiting = data_of(await market.client.get(REISSUES, params={**query, "awaiting": "approval"}, headers=headers))
    assert [one["id"] for one in waiting] == [reissue["id"]]
    assert error_of(await market.client.get(REISSUES, headers=market.as_buyer())) == FORBIDDEN
    work = data_of(await market.client.get("/api/work", headers=headers))
    kinds = [one["kind"] for one in work]
    assert ("pin_reissues_to_approve" in kinds) == (role == "finance_checker")
