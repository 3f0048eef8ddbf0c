"""Receipts, remittances and commission invoices through the edge (contract section 8.8)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from operations.journey import Marketplace, SignedInUser

from .conftest import Users
from .steps import delivered_order

PDF = "application/pdf"
LAGOS_TIME = timedelta(hours=1)


async def _document(market: Marketplace, path: str, user: SignedInUser, accept: str = PDF) -> httpx.Response:
    return await market.http.get(path, headers={**user.headers, "Accept": accept})


async def _check_document(market: Marketplace, path: str, user: SignedInUser, other: SignedInUser) -> None:
    """Check that bytes and number are the same each time, and that another user has no such document."""
    first, second = [await _document(market, path, user) for _ in range(2)]
    assert (first.status_code, first.headers["content-type"]) == (200, PDF), first.text
    assert first.content == second.content
    assert first.content.startswith(b"%PDF-")
    page = await _document(market, path, user, "text/html")
    number = first.headers["x-document-number"]
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["x-document-number"] == number
    assert number in page.text
    assert (await _document(market, path, other)).status_code == 404


async def _paid_purchase(market: Marketplace, users: Users) -> dict[str, Any]:
    """Return a purchase of the orders of two vendors that one charge paid."""
    found = await market.products(inStock="true", limit=100)
    products = {one["vendorId"]: one["id"] for one in found if not one["options"]}
    purchase = dict(await market.purchase(users.buyer, *list(products.values())[:2]))
    await market.pay(await market.pay_purchase_intent(users.buyer, purchase["id"]))
    for order in purchase["orders"]:
        await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    return purchase


async def test_orders_and_purchases_have_a_receipt_for_their_buyer(market: Marketplace, users: Users) -> None:
    purchase = await _paid_purchase(market, users)
    await _check_document(market, f"/api/purchases/{purchase['id']}/receipt", users.buyer, users.other_buyer)
    order = purchase["orders"][0]
    await _check_document(market, f"/api/orders/{order['id']}/receipt", users.buyer, users.other_buyer)


async def test_a_processed_payout_has_a_remittance_for_vendor_and_finance(market: Marketplace, users: Users) -> None:
    await delivered_order(market, users)
    wallet = await market.wallet_reaches(users.vendor, 1)
    payout = await market.request_payout(users.vendor, wallet["availableMinor"])
    await market.dispatch_payouts(users.maker, [payout["id"]])
    await market.payout_reaches(users.vendor, payout["id"], "processed")
    path = f"/api/payouts/{payout['id']}/remittance"
    await _check_document(market, path, users.vendor, users.other_vendor)
    assert (await _document(market, path, users.maker)).status_code == 200


async def test_a_month_that_is_not_over_has_no_invoice(market: Marketplace, users: Users) -> None:
    profile = await market.get("/api/profiles/current", users.vendor)
    month = f"{datetime.now(UTC) + LAGOS_TIME:%Y-%m}"
    for user in (users.vendor, users.maker):
        response = await _document(market, f"/api/vendors/{profile['vendorId']}/invoices/{month}", user)
        assert (response.status_code, response.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
