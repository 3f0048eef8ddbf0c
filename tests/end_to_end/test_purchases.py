"""One payment for a cart of two vendors, through the edge and the payment gateway."""

from uuid import uuid4

import pytest

from campus_tools.launcher.system import System
from contracts.demo import ADA, BOLA
from operations.audit import findings_of
from operations.journey import Marketplace, StepFailed
from tests.end_to_end.steps import a_product

from .conftest import Users


async def products_of_both(market: Marketplace) -> list[str]:
    return [(await a_product(market, of=shop))["id"] for shop in (BOLA, ADA)]


async def test_one_charge_pays_the_orders_of_two_vendors(market: Marketplace, users: Users, system: System) -> None:
    key = uuid4()
    products = await products_of_both(market)
    purchase = await market.purchase(users.buyer, *products, key=key)
    assert [order["vendorId"] for order in purchase["orders"]] == [str(BOLA.id), str(ADA.id)]
    assert (await market.purchase(users.buyer, *products, key=key))["id"] == purchase["id"]
    with pytest.raises(StepFailed) as hidden:
        await market.get(f"/api/purchases/{purchase['id']}", users.vendor)
    assert hidden.value.status == 404

    intent = await market.pay_purchase_intent(users.buyer, purchase["id"])
    assert intent["amountMinor"] == purchase["totalMinor"] == sum(order["totalMinor"] for order in purchase["orders"])
    await market.pay(intent)
    paid = [await market.order_reaches(users.buyer, order["id"], "paid_escrow") for order in purchase["orders"]]
    assert (await market.get(f"/api/purchases/{purchase['id']}", users.buyer))["status"] == "paid"
    pins = {await market.delivery_pin(users.buyer, order["id"]) for order in paid}
    assert all(len(pin) == 6 for pin in pins)

    # Each order lives by itself: one is refunded, and the other delivered and released.
    refunded, kept = paid
    await market.post(f"/api/orders/{refunded['id']}/cancel", {"reason": "Too late"}, users.buyer)
    await market.order_reaches(users.buyer, refunded["id"], "refunded")
    await market.dispatch(users.vendor, kept["id"])
    await market.verify_delivery(users.vendor, kept["id"], await market.delivery_pin(users.buyer, kept["id"]))
    assert (await market.order_reaches(users.buyer, kept["id"], "paid"))["refundedMinor"] == 0
    assert await findings_of(system.secrets, market.sandbox) == []


async def test_texts_name_each_order_of_a_purchase_with_its_pin(market: Marketplace) -> None:
    phone = f"+234806{uuid4().int % 10**7:07}"
    buyer = await market.sign_up(f"pins.{uuid4().hex}@unilag.edu.ng", "Tobi Alabi", phone)
    await market.prove_number(buyer, phone)
    purchase = await market.purchase(buyer, *await products_of_both(market))
    await market.pay(await market.pay_purchase_intent(buyer, purchase["id"]))
    orders = [await market.order_reaches(buyer, order["id"], "paid_escrow") for order in purchase["orders"]]
    named = {f"{order['number']} is {await market.delivery_pin(buyer, order['id'])}" for order in orders}

    # On a slow machine a PIN may arrive after the text of the other one: then it has a text of its own.
    async def complete() -> bool | None:
        texts = "\n".join(one["text"] for one in await market.messages(phone, "sms"))
        return all(pin in texts for pin in named) or None

    await market.until("the PINs by text", complete, 60)
