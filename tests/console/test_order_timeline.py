"""An order's timeline and ledgers, as support, an auditor and its vendor see them."""

from uuid import uuid4

from contracts.demo import ADA, BOLA
from operations.journey import Marketplace
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import a_product, delivered_order, paid_order


async def test_support_reads_each_step_of_an_order_and_never_its_pin(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    path = f"/api/orders/{order['id']}"
    pin = await market.delivery_pin(users.buyer, order["id"])
    wrong = f"{(int(pin) + 1) % 10 ** len(pin):0{len(pin)}d}"
    response = await market.http.post(
        f"{path}/verify-delivery",
        json={"pin": wrong},
        headers={**users.vendor.headers, "Idempotency-Key": str(uuid4())},
    )
    assert response.json()["code"] == "DELIVERY_PIN_INVALID"
    await market.dispatch(users.vendor, order["id"])
    await market.verify_delivery(users.vendor, order["id"], pin)
    await market.order_reaches(users.buyer, order["id"], "paid")
    support = await visitor("support")

    async def logged() -> list[str] | None:
        await support.open(f"/orders/{order['id']}")
        entries = await support.page.locator(".timeline li").all_inner_texts()
        return entries if any(": delivery PIN, " in entry for entry in entries) else None

    entries = await market.until("the message with the PIN is in the timeline", logged, 60, every=1)
    expected = (
        "Placed, by Chidi O. (the buyer)",
        "Payment of",
        "Charge: ",
        "Paid: the money is in escrow",
        "Delivery PIN issued",
        "Wrong delivery PIN entered, by Ada O. (the shop)",
        "Dispatched, by Ada O. (the shop)",
        "Delivered: the PIN was accepted, by Ada O. (the shop)",
        "Completed: the escrow is released",
    )
    places = [next(place for place, entry in enumerate(entries) if text in entry) for text in expected]
    assert places == sorted(places)
    stored = await market.get(f"{path}/timeline", users.support)
    instants = await support.page.locator(".timeline time").evaluate_all("all => all.map(one => one.dateTime)")
    assert {entry["occurredAt"] for entry in stored} <= set(instants)
    assert pin not in await support.page.content()
    assert await support.page.get_by_role("heading", name="Ledger of payments").count() == 0
    await support.check_page()


async def test_support_sees_the_purchase_of_an_order(visitor: Arrival, market: Marketplace, users: Users) -> None:
    products = [await a_product(market, of=shop) for shop in (ADA, BOLA)]
    purchase = await market.purchase(users.buyer, *(product["id"] for product in products))
    first, second = purchase["orders"]
    support = await visitor("support")
    await support.open(f"/orders/{first['id']}")
    assert f"Purchase {purchase['number']}" in await support.text()
    await support.check_page()
    await support.page.get_by_role("link", name=second["number"]).click()
    await support.page.wait_for_url(f"**/orders/{second['id']}")


async def test_an_auditor_sees_the_entries_of_both_ledgers(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await delivered_order(market, users)
    auditor = await visitor("auditor")

    async def credited() -> str | None:
        await auditor.open(f"/orders/{order['id']}")
        text = await auditor.text()
        return text if "escrow released" in text else None

    text = await market.until("the wallet is credited", credited, 30, every=1)
    assert "Ledger of wallets" in text
    for account in (f"wallet:{order['vendorId']}", f"escrow:{order['id']}"):
        assert await auditor.page.locator(f"main [title='{account}']").count()
    await auditor.check_page()


async def test_a_vendor_sees_the_steps_of_an_order(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    vendor = await visitor("vendor")
    await vendor.open(f"/orders/{order['id']}/fulfil")
    await vendor.click("Handed over")
    assert "Dispatched, by Ada O. (the shop)" in await vendor.page.locator(".timeline").inner_text()
    await vendor.check_page()


async def test_returns_are_part_of_a_vendors_shop_in_the_menu(visitor: Arrival) -> None:
    vendor, support = await visitor("vendor"), await visitor("support")
    await vendor.open("/today")
    menu = vendor.page.get_by_role("navigation", name="Screens")
    assert await menu.get_by_role("heading").all_text_contents() == ["Overview", "Shop", "Money", "Programs"]
    await menu.get_by_role("link", name="Returns").click()
    await vendor.page.wait_for_url("**/own-returns")
    assert await vendor.heading() == "Returns"
    await vendor.check_page()
    await support.open("/")
    assert (
        await support.page.get_by_role("link", name="Returns", exact=True).get_attribute("href") == "/return-requests"
    )
