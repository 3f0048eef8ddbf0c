"""Takedowns of products: who may, what buyers, vendors and staff see, and reports of the same product."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import pytest

from common.primitives.ids import new_id
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of

from .conftest import Market
from .steps import approve_vendor

REASON = {"reason": "The photo shows another product."}


@pytest.fixture
def admin(market: Market) -> dict[str, str]:
    return market.as_staff("campus_admin", market.campus_id)


async def delist(market: Market, product_id: UUID, headers: dict[str, str]) -> httpx.Response:
    return await market.client.post(f"/api/products/{product_id}/delist", json=REASON, headers=headers)


async def restore(market: Market, takedown: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    path = f"/api/product-takedowns/{takedown['id']}/restore"
    return await market.client.post(path, json={"reason": "The photo is corrected."}, headers=headers)


async def status_of(market: Market, product_id: UUID, headers: dict[str, str] | None = None) -> int:
    return (await market.client.get(f"/api/products/{product_id}", headers=headers or {})).status_code


async def reported(market: Market, product_id: UUID) -> str:
    body = {"subject": {"kind": "product", "id": str(product_id)}, "reason": "It is a copy."}
    response = await market.client.post("/api/reports", json=body, headers=market.as_buyer(new_id()))
    return str(data_of(response, 201)["id"])


async def decide(market: Market, report_id: str, outcome: str) -> None:
    headers = market.as_staff("support_agent")
    body = {"outcome": outcome, "reason": "A copy."}
    data_of(await market.client.post(f"/api/reports/{report_id}/decide", json=body, headers=headers))


async def test_a_delisted_product_is_hidden_with_its_reason(market: Market, admin: dict[str, str]) -> None:
    product_id = await market.sell(name="Rice")
    takedown = data_of(await delist(market, product_id, admin), 201)
    assert (takedown["productId"], takedown["productName"], takedown["restoredAt"]) == (str(product_id), "Rice", None)
    assert await status_of(market, product_id) == 404
    own = data_of(await market.client.get(f"/api/products/{product_id}", headers=market.as_merchant()))
    assert own["hiddenBecause"] == REASON["reason"]
    assert await status_of(market, product_id, admin) == 200
    assert await status_of(market, product_id, market.as_staff("campus_admin", new_id())) == 404
    [event] = await market.published("orders.product_delisted.v1")
    assert (event["productId"], event["name"], event["reason"]) == (str(product_id), "Rice", REASON["reason"])
    assert (await market.published("orders.product_changed.v1"))[-1]["removed"]


async def test_a_restored_product_is_shown_again(market: Market, admin: dict[str, str]) -> None:
    product_id = await market.sell()
    takedown = data_of(await delist(market, product_id, admin), 201)
    restored = data_of(await restore(market, takedown, admin))
    assert restored["restoredBecause"] == "The photo is corrected."
    assert await status_of(market, product_id) == 200
    assert data_of(await restore(market, takedown, admin)) == restored
    assert len(await market.published("orders.product_relisted.v1")) == 1
    again = data_of(await delist(market, product_id, admin), 201)
    assert again["id"] != takedown["id"]


async def test_only_the_admin_of_the_campus_delists(market: Market, admin: dict[str, str]) -> None:
    product_id = await market.sell()
    other = market.as_staff("campus_admin", new_id())
    assert error_of(await delist(market, product_id, other)) == NOT_FOUND
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        assert error_of(await delist(market, product_id, headers)) == FORBIDDEN
    takedown = data_of(await delist(market, product_id, admin), 201)
    assert error_of(await restore(market, takedown, other)) == NOT_FOUND
    assert await status_of(market, product_id) == 404


async def test_no_admin_delists_a_product_of_the_own_vendor(market: Market) -> None:
    await approve_vendor(market)
    product_id = await market.sell()
    owner = market.headers(market.merchant_id, roles=("campus_admin",), campus_id=market.campus_id, stepped_up=True)
    assert error_of(await delist(market, product_id, owner)) == FORBIDDEN


async def test_a_hidden_product_and_a_draft_cannot_be_delisted(market: Market, admin: dict[str, str]) -> None:
    product_id = await market.sell()
    responses = await asyncio.gather(*(delist(market, product_id, admin) for _ in range(3)))
    assert sorted(response.status_code for response in responses) == [201, 409, 409]
    assert error_of(await delist(market, product_id, admin)) == CONFLICT
    assert error_of(await delist(market, await market.sell(draft=True), admin)) == NOT_FOUND
    assert error_of(await delist(market, new_id(), admin)) == NOT_FOUND


async def test_a_decision_on_a_report_and_a_takedown_each_hide_the_product(
    market: Market, admin: dict[str, str]
) -> None:
    product_id = await market.sell()
    report_id = await reported(market, product_id)
    takedown = data_of(await delist(market, product_id, admin), 201)
    await decide(market, report_id, "hide")
    data_of(await restore(market, takedown, admin))
    assert await status_of(market, product_id) == 404
    await decide(market, report_id, "dismiss")
    assert await status_of(market, product_id) == 200


async def test_the_dismissal_of_a_report_keeps_an_open_takedown(market: Market, admin: dict[str, str]) -> None:
    product_id = await market.sell()
    report_id = await reported(market, product_id)
    takedown = data_of(await delist(market, product_id, admin), 201)
    await decide(market, report_id, "hide")
    await decide(market, report_id, "dismiss")
    own = data_of(await market.client.get(f"/api/products/{product_id}", headers=market.as_merchant()))
    assert own["hiddenBecause"] == REASON["reason"]
    data_of(await restore(market, takedown, admin))
    assert await status_of(market, product_id) == 200


async def test_takedowns_are_listed_for_the_campus_and_for_staff(market: Market, admin: dict[str, str]) -> None:
    first, second = await market.sell(), await market.sell()
    takedowns = [data_of(await delist(market, product_id, admin), 201) for product_id in (first, second)]
    data_of(await restore(market, takedowns[0], admin))

    async def listed(headers: dict[str, str], **query: Any) -> list[str]:
        found = data_of(await market.client.get("/api/product-takedowns", params=query, headers=headers))
        return [each["id"] for each in found if each["productId"] in (str(first), str(second))]

    newest = [takedown["id"] for takedown in reversed(takedowns)]
    for headers in (admin, market.as_staff("support_agent"), market.as_staff("auditor")):
        assert await listed(headers) == newest
    assert await listed(market.as_staff("campus_admin", new_id())) == []
    assert await listed(admin, open="true") == [takedowns[1]["id"]]
    assert await listed(admin, productId=str(first)) == [takedowns[0]["id"]]
    page = await market.client.get("/api/product-takedowns", params={"limit": 1}, headers=admin)
    cursor = page.json()["meta"]["next_cursor"]
    assert [page.json()["data"][0]["id"], *(await listed(admin, cursor=cursor))] == newest
