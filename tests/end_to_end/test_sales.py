"""Sales equal both ledgers, kobo for kobo: commission, a refund before and after the release, and a split."""

import csv
import io
from typing import Any

from campus_tools.launcher.system import System
from contracts.demo import ADA
from operations.journey import Marketplace, SignedInUser
from payouts.domain.release_statements import RECEIVED_KINDS
from tests.end_to_end.steps import delivered_order, paid_order, placed_order
from tests.end_to_end.test_disputes_and_returns import books_agree, dispute, frozen, refunded_at_the_gateway

from .conftest import People

FIGURES = ("grossMinor", "commissionMinor", "refundedMinor", "netMinor", "deliveryFeeMinor", "lockedMinor")
OF_VENDOR = f"/api/vendors/{ADA.id}/sales"


async def all_rows(market: Marketplace, path: str, person: SignedInUser, **params: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    page = 1
    while shown := await market.get(path, person, params={**params, "limit": 100, "page": page}):
        rows, page = rows + shown, page + 1
    return rows


async def sums(market: Marketplace, person: SignedInUser, path: str = "/api/sales", **params: Any) -> dict[str, int]:
    rows = await all_rows(market, path, person, **params)
    return {name: sum(row[name] for row in rows) for name in FIGURES}


async def returned_after_the_release(market: Marketplace, people: People) -> None:
    order = await placed_order(market, people, 3)
    await market.pay(await market.pay_intent(people.buyer, order["id"]))
    await market.order_reaches(people.buyer, order["id"], "paid_escrow")
    pin = await market.delivery_pin(people.buyer, order["id"])
    await market.verify_delivery(people.vendor, order["id"], pin)
    await market.order_reaches(people.buyer, order["id"], "paid")
    [item] = order["items"]
    body = {"items": [{"itemId": item["id"], "quantity": 1}], "reason": "The zip is torn."}
    request = await market.post(f"/api/orders/{order['id']}/return-requests", body, people.buyer)
    approved = await market.post(f"/api/return-requests/{request['id']}/approve", {}, people.vendor)
    await refunded_at_the_gateway(market, people, order, item["unitPriceMinor"], approved["refundId"])


async def cancelled_after_the_payment(market: Marketplace, people: People) -> None:
    order = await paid_order(market, people)
    await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "Bought twice."}, people.buyer)
    await market.order_reaches(people.buyer, order["id"], "refunded")


async def split_by_staff(market: Marketplace, people: People) -> None:
    order = await paid_order(market, people)
    await dispute(market, people.buyer, order)
    await frozen(market, people, order)
    body = {"outcome": "split", "refundMinor": order["totalMinor"] // 3}
    prepared = await market.post(f"/api/orders/{order['id']}/resolve", body, people.support)
    url = f"/api/dispute-resolutions/{prepared['resolutionId']}/approve"
    await market.post(url, {"hash": prepared["hash"]}, people.checker)
    await market.order_reaches(people.buyer, order["id"], "paid")


async def test_sales_are_what_both_ledgers_say(system: System, market: Marketplace, people: People) -> None:
    before = await sums(market, people.vendor, OF_VENDOR)
    order = await delivered_order(market, people)
    await returned_after_the_release(market, people)
    await cancelled_after_the_payment(market, people)
    await split_by_staff(market, people)
    # The audit compares the sales of each order with its escrow, and the escrows with both ledgers.
    await books_agree(system, market)

    own = await sums(market, people.vendor, OF_VENDOR)
    assert own["grossMinor"] == sum(own[name] for name in FIGURES[1:])
    assert own["grossMinor"] - before["grossMinor"] >= 6 * order["totalMinor"] // 2
    for group in ("day", "week", "month", "product"):
        assert await sums(market, people.vendor, OF_VENDOR, groupBy=group) == own
    for group in ("campus", "vendor", "category", "day"):
        assert await sums(market, people.auditor, groupBy=group) == await sums(market, people.checker)

    accounts = {
        line["account"]: abs(line["balanceMinor"])
        for line in await all_rows(market, "/api/ledger/accounts", people.auditor)
    }
    whole = await sums(market, people.auditor)
    assert whole["commissionMinor"] == accounts["commission"]
    assert whole["deliveryFeeMinor"] == accounts.get("delivery_fee", 0)
    escrows = sum(minor for account, minor in accounts.items() if account.startswith("escrow:"))
    assert whole["lockedMinor"] == escrows
    assert own["netMinor"] == accounts[f"vendor_payable:{ADA.id}"]
    months = {row["key"] for row in await all_rows(market, OF_VENDOR, people.vendor, groupBy="month")}
    statements = [await market.get(f"/api/wallets/current/statements/{month}", people.vendor) for month in months]
    reached = sum(
        kind["netMinor"] for statement in statements for kind in statement["kinds"] if kind["kind"] in RECEIVED_KINDS
    )
    assert own["netMinor"] == reached


async def test_sales_are_a_file_through_the_edge(market: Marketplace, people: People) -> None:
    await delivered_order(market, people)
    headers = {**people.vendor.headers, "Accept": "text/csv"}
    response = await market.http.get(OF_VENDOR, params={"groupBy": "product"}, headers=headers)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    rows = list(csv.DictReader(io.StringIO(response.text, newline="")))
    shown = {row["key"]: row for row in await all_rows(market, OF_VENDOR, people.vendor, groupBy="product")}
    assert {row["key"]: row["grossMinor"] for row in rows} == {
        key: str(row["grossMinor"]) for key, row in shown.items()
    }
    for path in (OF_VENDOR, "/api/sales"):
        refused = await market.http.get(path, headers=people.buyer.headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
