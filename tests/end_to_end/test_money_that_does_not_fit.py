"""Charges that do not pay their order, and charges that are reported many times."""

import asyncio
from typing import Any

from campus_tools.launcher.system import System
from operations.journey import Marketplace, SignedInUser
from tests.end_to_end.steps import charge_success, placed_order, quarantined, signed

from .conftest import Users


async def test_one_kobo_too_little_is_quarantined_and_the_order_stays(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, amount=order["totalMinor"] - 1)
    charge = await quarantined(market, users, intent["reference"])
    assert charge["amountMinor"] == order["totalMinor"] - 1
    assert (await market.order(users.buyer, order["id"]))["status"] == "Processing"


async def test_finance_reads_the_order_of_a_quarantined_charge(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, amount=order["totalMinor"] - 1)
    await quarantined(market, users, intent["reference"])
    path = f"/api/orders/{order['id']}"

    async def shown_to(user: SignedInUser) -> dict[str, Any] | None:
        response = await market.http.get(path, headers=user.headers)
        return None if response.status_code == 404 else response.json()["data"]

    for colleague in (users.maker, users.checker):
        shown = await market.until("finance reads the order", lambda: shown_to(colleague), 60)  # noqa: B023
        assert (shown["number"], shown["totalMinor"]) == (order["number"], order["totalMinor"])
        assert [shown[name] for name in ("buyerName", "contact", "hubId", "deliveryNote")] == [None] * 4
        assert len(await market.get(f"{path}/items", colleague)) == len(order["items"])
        assert (await market.get(f"{path}/timeline", colleague))[0]["event"] == "placed"
        assert await market.get("/api/orders", colleague) == []
        for refused in ("/api/campus-orders", "/api/campus-orders/export"):
            assert (await market.http.get(refused, headers=colleague.headers)).status_code == 403


async def test_finance_finds_no_order_without_a_charge(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    for colleague in (users.maker, users.checker):
        response = await market.http.get(f"/api/orders/{order['id']}", headers=colleague.headers)
        assert response.status_code == 404


async def test_kobo_are_not_naira(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, amount=order["totalMinor"] // 100)
    await quarantined(market, users, intent["reference"])
    assert (await market.order(users.buyer, order["id"]))["status"] == "Processing"


async def test_the_same_number_of_another_currency_never_pays(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await market.pay(intent, currency="GHS")
    assert (await quarantined(market, users, intent["reference"]))["currency"] == "GHS"
    assert (await market.order(users.buyer, order["id"]))["status"] == "Processing"


async def test_fifty_identical_charges_at_once_have_one_effect_and_fifty_responses(
    system: System, market: Marketplace, users: Users
) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    # The gateway accepts the money and its own webhook is lost: the fifty that follow are the first.
    await market.sandbox.put("/control/faults", json={"charge_webhook": {"drop": True, "match": intent["reference"]}})
    await market.pay(intent)
    bearer = {"Authorization": f"Bearer {system.secrets['GATEWAY_SECRET_KEY']}"}
    paid = (await market.sandbox.get(f"/gateway/transaction/verify/{intent['reference']}", headers=bearer)).json()[
        "data"
    ]
    assert paid["status"] == "success"
    body = charge_success(intent["reference"], paid["amount"], paid["id"])
    responses = await asyncio.gather(
        *(
            market.http.post("/functions/v1/gateway-webhook", content=body, headers=signed(system, body))
            for _ in range(50)
        )
    )
    assert [response.status_code for response in responses] == [200] * 50
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    transactions = await market.get("/api/transactions", users.auditor, params={"limit": 100})
    of_order = [
        line for line in transactions if f"escrow:{order['id']}" in {entry["account"] for entry in line["entries"]}
    ]
    assert [line["type"] for line in of_order] == ["charge"]


async def test_a_webhook_without_a_good_signature_is_refused_in_the_specified_words(
    system: System, market: Marketplace
) -> None:
    body = charge_success("nobody", 1, 990_002)
    good = signed(system, body)["x-gateway-signature"]
    for signature in (None, "", good.upper(), good[:-1], good + "0", "0" * 128):
        headers = {} if signature is None else {"x-gateway-signature": signature}
        response = await market.http.post("/functions/v1/gateway-webhook", content=body, headers=headers)
        assert (response.status_code, response.json()) == (401, {"error": "Invalid signature"})


async def test_every_well_signed_body_gets_200(system: System, market: Marketplace) -> None:
    for body in (
        b"{}",
        b"[]",
        b"0",
        b'""',
        b"not json",
        b'{"event":"charge.success","data":{"metadata":[]}}',
        b'{"event":"\\u0000"}',
    ):
        response = await market.http.post("/functions/v1/gateway-webhook", content=body, headers=signed(system, body))
        assert response.status_code == 200, body
