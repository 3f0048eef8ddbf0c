"""Declined, quarantined, surcharged and revised payments as the buyer, finance and support see them
(contract section 7).
"""

import json

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.end_to_end.steps import charge_success, placed_order, quarantined, signed

from .conftest import Users


async def _found(market: Marketplace, what, path, user, match, **params):
    async def probe():
        rows = await market.get(path, user, params={"limit": 100, **params})
        return next((row for row in rows if match(row)), None)

    return await market.until(what, probe, 60)


async def _notified(market: Marketplace, user, order, word):
    return await _found(
        market,
        f"the notification {word}",
        "/api/notifications",
        user,
        lambda row: order["number"] in row["body"] and word in row["title"],
    )


async def test_a_declined_payment_shows_as_failed_and_another_attempt_pays(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, action="decline", reason="Insufficient Funds")
    failed = await _found(
        market,
        "the failed payment",
        "/api/payments",
        users.buyer,
        lambda row: row["reference"] == intent["reference"] and row["status"] == "failed",
    )
    assert failed["failureReason"] == "Insufficient Funds"
    assert "Insufficient Funds" in (await _notified(market, users.buyer, order, "declined"))["body"]
    again = await market.pay_intent(users.buyer, order["id"])
    assert again["reference"] != intent["reference"]
    await market.pay(again)
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")


async def test_a_quarantined_payment_alerts_finance_and_notifies_its_buyer(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, amount=order["totalMinor"] - 1)
    charge = await quarantined(market, users, intent["reference"])
    alert = await _found(
        market, "the alert", "/api/alerts", users.ops, lambda row: row["subject"] == charge["id"], status="open"
    )
    assert alert["severity"] == "SEV-2"
    assert await _notified(market, users.buyer, order, "too low")
    shown = await market.get(f"/api/quarantined-charges/{charge['id']}", users.support)
    assert shown["reason"] == "underpaid"


async def test_a_surcharge_above_its_bound_goes_back_and_the_buyer_sees_the_refund(
    market: Marketplace, users: Users
) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, amount=order["totalMinor"] + 1_000_000)
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    refund = await _found(market, "the refund", "/api/refunds", users.buyer, lambda row: True, orderId=order["id"])
    assert (refund["kind"], refund["amountMinor"], refund["decision"]) == ("overpayment", 1_000_000, None)
    assert await market.get("/api/refunds", users.other_buyer, params={"orderId": order["id"]}) == []


async def test_a_revised_charge_changes_nothing_and_is_alerted(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent)
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    bearer = {"Authorization": f"Bearer {system.secrets['GATEWAY_SECRET_KEY']}"}
    address = f"/gateway/transaction/verify/{intent['reference']}"
    paid = (await market.sandbox.get(address, headers=bearer)).json()["data"]
    body = charge_success(intent["reference"], paid["amount"] * 2, paid["id"])
    for raw in (body, json.dumps(json.loads(body), indent=1).encode()):
        response = await market.http.post("/functions/v1/gateway-webhook", content=raw, headers=signed(system, raw))
        assert response.status_code == 200
    key = f"charge.success:{paid['id']}"
    alert = await _found(market, "the alert", "/api/alerts", users.ops, lambda row: row["subject"] == key)
    assert alert["severity"] == "SEV-3"
    entries = await market.get("/api/transactions", users.auditor, params={"orderId": order["id"]})
    assert [line["type"] for line in entries] == ["charge"]
