"""Sales equal both ledgers, kobo for kobo: commission, a refund before and after the release, and a split."""

import csv
import io
from typing import Any

from campus_tools.launcher.system import System
from contracts.demo import ADA
from operations.journey import Marketplace, SignedInUser
from payouts.domain.release_statements import RECEIVED_KINDS
from tests.end_to_end.steps import (
    delivered_order,
    dispute_order,
    frozen,
    ledgers_agree,
    paid_order,
    placed_order,
    refunded_at_the_gateway,
)

from .conftest import Users

FIGURES = ("grossMinor", "commissionMinor", "refundedMinor", "netMinor", "deliveryFeeMinor", "lockedMinor")
OF_VENDOR = f"/api/vendors/{ADA.id}/sales"


async def all_rows(market: Marketplace, path: str, user: SignedInUser, **params: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    page = 1
    while shown := await market.get(path, user, params={**params, "limit": 100, "page": page}):
        rows, page = rows + shown, page + 1
    return rows


async def sums(market: Marketplace, user: SignedInUser, path: str = "/api/sales", **params: Any) -> dict[str, int]:
    rows = await all_rows(market, path, user, **params)
    return {name: sum(row[name] for row in rows) for name in FIGURES}


async def returned_after_the_release(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users, 3)
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    pin = await market.delivery_pin(users.buyer, order["id"])
    await market.verify_delivery(users.vendor, order["id"], pin)
    await market.order_reaches(users.buyer, order["id"], "paid")
    [item] = order["items"]
    body = {"items": [{"itemId": item["id"], "quantity": 1}], "reason": "The zip is torn."}
    request = await market.post(f"/api/orders/{order['id']}/return-requests", body, users.buyer)
    approved = await market.post(f"/api/return-requests/{request['id']}/approve", {}, users.vendor)
    await refunded_at_the_gateway(market, users, order, item["unitPriceMinor"], approved["refundId"])


async def cancelled_after_the_payment(market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "Bought twice."}, users.buyer)
    await market.order_reaches(users.buyer, order["id"], "refunded")


async def split_by_staff(market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    await dispute_order(market, users.buyer, order)
    await frozen(market, users, order)
    body = {"outcome": "split", "refundMinor": order["totalMinor"] // 3}
    prepared = await market.post(f"/api/orders/{order['id']}/resolve", body, users.support)
    url = f"/api/dispute-resolutions/{prepared['resolutionId']}/approve"
    await market.post(url, {"hash": prepared["hash"]}, users.checker)
    await market.order_reaches(users.buyer, order["id"], "paid")


async def test_sales_are_the_sums_of_both_ledgers(system: System, market: Marketplace, users: Users) -> None:
    before = await sums(market, users.vendor, OF_VENDOR)
    order = await delivered_order(market, users)
    await returned_after_the_release(market, users)
    await cancelled_after_the_payment(market, users)
    await split_by_staff(market, users)
    # The audit compares the sales of each order with its escrow, and the escrows with both ledgers.
    await ledgers_agree(system, market)

    own = await sums(market, users.vendor, OF_VENDOR)
    assert own["grossMinor"] == sum(own[name] for name in FIGURES[1:])
    assert own["grossMinor"] - before["grossMinor"] >= 6 * order["totalMinor"] // 2
    for group in ("day", "week", "month", "product"):
        assert await sums(market, users.vendor, OF_VENDOR, groupBy=group) == own
    for group in ("campus", "vendor", "category", "day"):
        assert await sums(market, users.auditor, groupBy=group) == await sums(market, users.checker)

    accounts = {
        line["account"]: abs(line["balanceMinor"])
        for line in await all_rows(market, "/api/ledger/accounts", users.auditor)
    }
    whole = await sums(market, users.auditor)
    assert whole["commissionMinor"] == accounts["commission"]
    assert whole["deliveryFeeMinor"] == accounts.get("delivery_fee", 0)
    escrows = sum(minor for account, minor in accounts.items() if account.startswith("escrow:"))
    assert whole["lockedMinor"] == escrows
    assert own["netMinor"] == accounts[f"vendor_payable:{ADA.id}"]
    months = {row["key"] for row in await all_rows(market, OF_VENDOR, users.vendor, groupBy="month")}
    statements = [await market.get(f"/api/wallets/current/statements/{month}", users.vendor) for month in months]
    received = [kind for month in statements for kind in month["kinds"] if kind["kind"] in RECEIVED_KINDS]
    parts = ("netMinor", "commissionMinor", "deliveryFeeMinor")
    assert {name: own[name] for name in parts} == {name: sum(kind[name] for kind in received) for name in parts}
    for kind in received:
        assert kind["grossMinor"] == sum(kind[name] for name in parts), kind


async def test_sales_are_a_file_through_the_edge(market: Marketplace, users: Users) -> None:
    await delivered_order(market, users)
    headers = {**users.vendor.headers, "Accept": "text/csv"}
    response = await market.http.get(OF_VENDOR, params={"groupBy": "product"}, headers=headers)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))
    shown = {row["key"]: row for row in await all_rows(market, OF_VENDOR, users.vendor, groupBy="product")}
    assert {row["key"]: row["grossMinor"] for row in rows} == {
        key: str(row["grossMinor"]) for key, row in shown.items()
    }
    for path in (OF_VENDOR, "/api/sales"):
        refused = await market.http.get(path, headers=users.buyer.headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
