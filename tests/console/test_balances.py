"""Support and finance read a purchase's payment, a buyer's balance, and decide on a large withdrawal."""

from typing import Any
from uuid import uuid4

from contracts.demo import ADA, BOLA
from operations.journey import Marketplace, SignedInUser
from tests.console.conftest import Arrival
from tests.end_to_end.steps import a_product, stepped_up

LARGE_MINOR = 5_000_001
"""Just above the amount that two people decide."""


async def refunded_purchase(market: Marketplace) -> tuple[SignedInUser, dict[str, Any]]:
    """Return a new buyer with two factors, and a paid purchase of two vendors whose first order is in the balance."""
    email = f"wealthy.{uuid4().hex}@unilag.edu.ng"
    await market.sign_up(email, "Tobi Alabi", f"+234803{uuid4().int % 10**7:07d}")
    buyer = await stepped_up(market, email)
    costly = await a_product(market, of=BOLA, at_least_minor=100_000)
    other = await a_product(market, of=ADA)
    quantity = -(-LARGE_MINOR // costly["priceMinor"])
    items = [{"productId": costly["id"], "quantity": quantity}, {"productId": other["id"], "quantity": 1}]
    purchase = await market.post("/api/purchases", {"items": items}, buyer, key=uuid4())
    await market.pay(await market.pay_purchase_intent(buyer, purchase["id"]))
    for order in purchase["orders"]:
        await market.order_reaches(buyer, order["id"], "paid_escrow")
    cancelled = next(order for order in purchase["orders"] if order["vendorId"] == costly["vendorId"])
    await market.post(f"/api/orders/{cancelled['id']}/cancel", {"reason": "Too late", "refundTo": "balance"}, buyer)
    await market.order_reaches(buyer, cancelled["id"], "refunded")
    return buyer, {**purchase, "cancelled": cancelled}


async def test_staff_read_a_purchase_and_decide_on_a_large_withdrawal(visitor: Arrival, market: Marketplace) -> None:
    buyer, purchase = await refunded_purchase(market)
    cancelled = purchase["cancelled"]
    support = await visitor("support")
    await support.open(f"/orders/{cancelled['id']}")
    assert purchase["number"] in await support.text()
    await support.page.get_by_role("region", name="Payments").get_by_role("link").click()
    text = await support.text()
    for shown in ("Orders that it paid", "paid the orders", *(order["number"] for order in purchase["orders"])):
        assert shown in text
    await support.check_page()
    await support.open(f"/orders/{cancelled['id']}")
    await support.click("Balance of the buyer", "link")
    available = await market.get("/api/balance", buyer)
    assert f"{available['availableMinor'] / 100:,.2f}" in await support.text()
    await support.check_page()

    account = {"bank_code": "058", "account_number": "0123456789", "account_name": "Tobi Alabi"}
    await market.sandbox.put("/control/accounts", json=account)
    requested = {"amountMinor": LARGE_MINOR, "accountNumber": "0123456789", "bankCode": "058"}
    withdrawal = await market.post("/api/balance/withdrawals", requested, buyer, key=uuid4())
    assert withdrawal["status"] == "waiting"
    path = f"/withdrawals/{withdrawal['id']}"
    maker = await visitor("maker")
    await maker.open("/withdrawals?status=waiting")
    await maker.check_page()
    await maker.open(path)
    await maker.open_section("Prepare a decision…")
    form = maker.page.get_by_role("form", name="Prepare a decision…")
    await form.get_by_label("Reason").fill("the holder is the buyer")
    await maker.click("Prepare")
    assert "Another person approves it" in await maker.notice()
    checker = await visitor("checker")
    await checker.open(path)
    for shown in (
        "Tobi Alabi",
        "…6789 at Guaranty Trust Bank",
        "pay: it is sent to the bank",
        "the holder is the buyer",
    ):
        assert shown in await checker.text()
    await checker.check_page()
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert "sent to the bank" in await checker.notice()

    async def paid() -> bool | None:
        found = await market.get(f"/api/balance/withdrawals/{withdrawal['id']}", buyer)
        return found["status"] == "paid" or None

    await market.until("the withdrawal to be paid", paid, 60)
