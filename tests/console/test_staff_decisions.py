"""Support and a finance checker decide on a delivery PIN and on goodwill; a vendor cancels one item."""

from uuid import uuid4

from console.formats import naira
from contracts.demo import ADA
from operations.journey import Marketplace
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import paid_order


async def test_support_and_a_checker_reissue_a_pin_beyond_the_limit(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    path = f"/api/orders/{order['id']}/delivery-pin"
    for _ in range(3):
        await market.post(f"{path}/reissue", {}, users.buyer)
    old = (await market.get(path, users.buyer))["pin"]
    support = await visitor("support")
    await support.open(f"/orders/{order['id']}")
    await support.open_section("Reissue the PIN")
    await support.fill("How the buyer was identified", "Called back on the proven number")
    await support.click("Prepare the reissue")
    assert "A finance checker decides" in await support.notice()
    await support.check_page()
    checker = await visitor("checker")
    (reissue,) = await market.get("/api/pin-reissues", users.support, params={"orderId": order["id"]})
    await checker.open(f"/pin-reissues/{reissue['id']}")
    assert "Called back on the proven number" in await checker.text()
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert "A new PIN is sent to the buyer" in await checker.notice()
    await checker.check_page()
    new = (await market.get(path, users.buyer))["pin"]
    assert new != old
    assert new not in await checker.text()


async def test_support_and_a_checker_give_goodwill_with_its_posting_shown(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    before = (await market.get("/api/balance", users.buyer))["availableMinor"]
    support = await visitor("support")
    await support.open(f"/orders/{order['id']}")
    await support.open_section("Give goodwill")
    await support.fill("Amount of goodwill, in naira", "12.50")
    await support.fill("What went wrong", "The parcel was two days late by our fault")
    await support.click("Prepare the goodwill refund")
    assert "A finance checker decides" in await support.notice()
    checker = await visitor("checker")
    (goodwill,) = await market.get("/api/goodwill-refunds", users.support, params={"orderId": order["id"]})
    await checker.open(f"/goodwill-refunds/{goodwill['id']}")
    shown = await checker.page.get_by_role("region", name="Posting of the goodwill refund").inner_text()
    assert ("goodwill expense" in shown, shown.count("₦12.50")) == (True, 2)
    await checker.check_page()
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert "The buyer's balance has the amount" in await checker.notice()
    assert (await market.get("/api/balance", users.buyer))["availableMinor"] == before + 1_250


async def test_a_vendor_cancels_one_item_of_a_paid_order(visitor: Arrival, market: Marketplace, users: Users) -> None:
    found = await market.products(vendorId=str(ADA.id), inStock="true", limit=100)
    first, second = [product for product in found if product["stock"] > 5 and not product["options"]][:2]
    items = [{"productId": product["id"], "quantity": 1} for product in (first, second)]
    order = await market.post("/api/orders/checkout", {"items": items}, users.buyer, key=uuid4())
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    vendor = await visitor("vendor")
    await vendor.open(f"/orders/{order['id']}/fulfil")
    await vendor.open_section("Cancel one item")
    await vendor.page.get_by_label("Item", exact=True).select_option(second["name"])
    await vendor.fill("Why it is missing", "Sold out at the counter")
    await vendor.check_page()
    await vendor.click("Cancel the item")
    assert "Hand over the rest" in await vendor.notice()
    [cancelled] = await market.get(f"/api/orders/{order['id']}/return-requests", users.buyer)
    assert (cancelled["cancelsLines"], cancelled["refundMinor"]) == (True, second["priceMinor"])
    shown = await vendor.text()
    assert "One item cancelled" in shown
    assert await vendor.page.locator("s").inner_text() == second["name"]
    seen = await market.get(f"/api/orders/{order['id']}", users.vendor)
    assert f"{naira(seen['vendorShareMinor'])} is held for you" in shown
    # One item is left, which is not cancelled alone.
    assert await vendor.page.get_by_text("Cancel one item").count() == 0
    support = await visitor("support")
    await support.open(f"/orders/{order['id']}")
    shown = await support.text()
    assert f"{second['name']} cancelled: Sold out at the counter" in shown
    assert "Item cancelled" in shown
    await support.check_page()
