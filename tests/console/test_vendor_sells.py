"""A vendor's day: the order, the hand-over, the buyer's PIN, the money."""

import httpx

from campus_tools.launcher.system import System
from console.formats import naira
from contracts.demo import AKOKA_HUB
from operations.journey import Marketplace
from tests.console.browser import NARROW, Visitor
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import delivered_order, paid_order


def _another(pin: str, number: int) -> str:
    """Return a PIN of the same length that is wrong."""
    return f"{(int(pin) + number) % 10 ** len(pin):0{len(pin)}d}"


async def _choose_image(one: Visitor) -> None:
    image = await one.page.screenshot(type="png", clip={"x": 0, "y": 0, "width": 64, "height": 48})
    await one.page.get_by_label("Image", exact=True).set_input_files(
        {"name": "parcel.png", "mimeType": "image/png", "buffer": image}
    )


async def test_a_vendor_sells_dispatches_and_enters_the_pin_on_a_phone(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    one = await visitor("vendor")
    await one.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await one.open("/today")
    await one.click(order["number"], "link")
    assert "Pack it" in await one.text()
    await one.click("Handed over")
    assert (await one.notice()).startswith("The order is handed over.")
    await one.click("Enter the buyer's PIN", "link")
    await one.fill("PIN of the buyer", "\u202a" + "-".join(await market.delivery_pin(users.buyer, order["id"])))
    await one.click("Confirm the delivery")
    assert (await one.notice()).startswith("The PIN is right.")
    await market.order_reaches(users.vendor, order["id"], "paid")
    share = order["subtotalMinor"] - (await market.order(users.vendor, order["id"]))["commissionMinor"]

    async def credited() -> bool | None:
        await one.page.reload()
        return await one.page.get_by_role("region", name="Lines of the wallet").count() == 1 or None

    await market.until("the wallet's line on the page", credited, 30, every=0.5)
    assert naira(share) in await one.page.get_by_role("region", name="Lines of the wallet").inner_text()
    await one.check_page()


async def test_new_orders_appear_without_a_reload(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    await one.open("/today")
    order = await paid_order(market, users)
    await one.page.get_by_role("link", name=order["number"]).wait_for()
    await one.check_page()


async def test_a_wrong_pin_shows_the_attempts_left_and_a_locked_one_the_way_out(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    pin = await market.delivery_pin(users.buyer, order["id"])
    one = await visitor("vendor")
    await one.open(f"/orders/{order['id']}/deliver")
    for number in range(1, 6):
        wrong = _another(pin, number)
        await one.fill("PIN of the buyer", wrong)
        await one.click("Confirm the delivery")
        text = await one.text()
        assert "DELIVERY_PIN_INVALID" in text
        assert wrong not in await one.page.content()
        if number < 5:
            assert f"{5 - number} attempt" in text
            assert await one.page.get_by_label("PIN of the buyer").input_value() == ""
    assert "The PIN is locked after five wrong attempts" in text
    await one.check_page()
    await one.open(f"/orders/{order['id']}/deliver")
    await one.fill("PIN of the buyer", pin)
    await one.click("Confirm the delivery")
    assert "The PIN is locked" in await one.text()
    await market.post(f"/api/orders/{order['id']}/delivery-pin/reissue", {}, users.buyer)
    await one.open(f"/orders/{order['id']}/deliver")
    await one.fill("PIN of the buyer", await market.delivery_pin(users.buyer, order["id"]))
    await one.click("Confirm the delivery")
    assert (await one.notice()).startswith("The PIN is right.")


async def test_characters_are_no_pin_and_cost_no_attempt(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    one = await visitor("vendor")
    await one.open(f"/orders/{order['id']}/deliver")
    await one.page.get_by_label("PIN of the buyer").evaluate("input => input.removeAttribute('pattern')")
    await one.fill("PIN of the buyer", "abcdef")
    await one.click("Confirm the delivery")
    assert "type the digits of the buyer's message" in await one.text()
    shown = await market.get(f"/api/orders/{order['id']}/delivery-pin", users.buyer)
    assert shown["attemptsRemaining"] == 5


async def test_a_double_click_on_the_pin_delivers_once(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    # Without the script, the browser sends both clicks.
    one = await visitor("vendor", javascript=False)
    await one.open(f"/orders/{order['id']}/deliver")
    await one.fill("PIN of the buyer", await market.delivery_pin(users.buyer, order["id"]))
    await one.page.get_by_role("button", name="Confirm the delivery").dblclick()
    assert (await one.notice()).startswith("The PIN is right.")
    await market.order_reaches(users.vendor, order["id"], "paid")

    async def lines() -> list[object] | None:
        parameters = {"orderId": order["id"]}
        return list(await market.get("/api/wallets/current/statement", users.vendor, params=parameters)) or None

    assert len(await market.until("the wallet's line", lines, 30)) == 1


async def test_the_back_button_and_a_second_dispatch_have_no_second_effect(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    one = await visitor("vendor")
    await one.open(f"/orders/{order['id']}/fulfil")
    fields = {
        name: await one.page.locator(f"form[action$=dispatch] input[name={name}]").get_attribute("value")
        for name in ("_csrf", "_key")
    }
    await one.click("Handed over")
    assert (await one.notice()).startswith("The order is handed over.")
    revision = (await market.order(users.vendor, order["id"]))["revision"]
    await one.page.go_back()
    # The page that the browser kept would send the same form again.
    (cookie,) = await one.context.cookies()
    async with httpx.AsyncClient(base_url=one.console_url, trust_env=False) as http:
        headers = {"Cookie": f"{cookie['name']}={cookie['value']}", "Origin": one.console_url}
        again = await http.post(f"/orders/{order['id']}/dispatch", data=fields, headers=headers)
    assert again.status_code == 303
    assert (await market.order(users.vendor, order["id"]))["revision"] == revision


async def test_an_order_of_another_vendor_is_not_found(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    one = await visitor("other_vendor")
    for path in ("fulfil", "deliver"):
        assert (await one.open(f"/orders/{order['id']}/{path}")).status == 404
        assert order["number"] not in await one.page.content()
    await one.check_page()


async def test_a_vendor_cancels_a_paid_order_and_the_buyer_is_refunded(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    one = await visitor("vendor")
    await one.open(f"/orders/{order['id']}")
    assert one.page.url.endswith("/fulfil")
    await one.open_section("Cancel the order")
    await one.fill("Reason", "Sold out in the shop")
    await one.click("Cancel the order")
    assert await one.notice() == "The order is cancelled."
    await market.order_reaches(users.buyer, order["id"], "refund_pending", "refunded")


async def test_a_vendor_adds_evidence_to_a_dispute(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    complaint = {"reason": "<img src=x onerror=alert(1)>", "details": "Never came\n{{7*7}}"}
    await market.post(f"/api/orders/{order['id']}/dispute", complaint, users.buyer)
    one = await visitor("vendor")
    await one.open(f"/orders/{order['id']}/fulfil")
    text = await one.text()
    assert complaint["reason"] in text
    assert "{{7*7}}" in text
    await _choose_image(one)
    await one.click("Add the image")
    assert await one.notice() == "The image is added. Support sees it."
    image = one.page.get_by_role("img", name="Evidence 1 of the vendor")
    assert await image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 64
    await one.check_page()


async def test_a_hub_agent_enters_the_pin(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users, hubId=str(AKOKA_HUB.id))
    await market.dispatch(users.vendor, order["id"])
    one = await visitor("hub")
    await one.open("/parcels")
    await one.check_page()
    await one.page.get_by_role("form", name=f"Arrival of {order['number']}").get_by_role("button").click()
    assert await one.notice() == f"{order['number']} is at your hub. The buyer is notified."
    assert (await market.order(users.buyer, order["id"]))["arrivedAt"] is not None
    await one.open(f"/orders?q={order['number']}")
    await one.click(order["number"], "link")
    assert "What you are paid" not in await one.text()
    await one.click("Enter the buyer's PIN", "link")
    await one.fill("PIN of the buyer", await market.delivery_pin(users.buyer, order["id"]))
    await one.click("Confirm the delivery")
    assert (await one.notice()).startswith("The PIN is right.")


async def test_a_return_of_the_own_order_links_to_its_decision(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await delivered_order(market, users)
    line = {"itemId": order["items"][0]["id"], "quantity": 1}
    body = {"items": [line], "reason": "Broken"}
    request = await market.post(f"/api/orders/{order['id']}/return-requests", body, users.buyer)
    one = await visitor("vendor")
    await one.open(f"/orders/{order['id']}/fulfil")
    assert await one.page.locator(f"a[href='/return-requests/{request['id']}']").count() == 1


async def test_the_pin_of_an_interrupted_form_is_never_shown(
    visitor: Arrival, market: Marketplace, users: Users, system: System
) -> None:
    order = await paid_order(market, users)
    pin = await market.delivery_pin(users.buyer, order["id"])
    vendor = await market.sign_in("vendor@unilag.edu.ng")
    one = await visitor(vendor)
    await one.open(f"/orders/{order['id']}/deliver")
    await one.fill("PIN of the buyer", pin)
    (await market.http.post("/api/auth/logout", json={}, headers=vendor.headers)).raise_for_status()
    await one.click("Confirm the delivery")
    assert await one.heading() == "Sign in again"
    assert pin not in await one.page.content()
