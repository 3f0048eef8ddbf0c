"""Support's day: orders, a dispute, tickets, returns and messages."""

import io
from uuid import uuid4

from PIL import Image

from campus_tools.launcher.system import System
from console.formats import naira
from operations.journey import Marketplace, SignedInUser
from tests.console.browser import IMAGES_ARE_LOADED, wait_until
from tests.console.conftest import Arrival
from tests.console.decisions import colleague
from tests.console.naughty import NAUGHTY, TEXT
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import delivered_order, newcomer, paid_order


def image() -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (320, 240), (20, 90, 60)).save(written, "JPEG")
    return written.getvalue()


async def upload(market: Marketplace, path: str, user: SignedInUser) -> None:
    response = await market.http.post(path, files={"file": ("photo.jpg", image(), "image/jpeg")}, headers=user.headers)
    response.raise_for_status()


async def test_support_prepares_a_split_with_the_evidence_of_both_sides(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    path = f"/api/orders/{order['id']}"
    await market.post(f"{path}/dispute", {"reason": "not_as_described", "details": f"Wrong colour {TEXT}"}, users.buyer)
    for side in (users.buyer, users.vendor):
        await upload(market, f"{path}/dispute/evidence", side)
    support = await visitor("support")
    await support.open("/")
    await support.click("Disputes to resolve", "link")
    await support.click(order["number"], "link")
    text = await support.text()
    assert all(naughty in text for naughty in NAUGHTY)
    assert await support.page.locator(".images img").count() == 2
    await support.page.locator(".images img").last.scroll_into_view_if_needed()
    await wait_until(support.page, IMAGES_ARE_LOADED)
    assert await support.page.evaluate("window.broken") is None
    await support.check_page()
    await support.page.get_by_label("Outcome").select_option("split")
    await support.fill("Shares when the buyer gets, in naira", "12.34")
    await support.click("Show the shares")
    plan = await market.get(f"/api/orders/{order['id']}/resolution-plan", users.support, params={"refundMinor": 1_234})
    shares = await support.page.get_by_role("region", name="Shares", exact=True).inner_text()
    for name in ("buyerMinor", "vendorMinor", "commissionMinor", "deliveryFeeMinor"):
        assert naira(plan[name]) in shares
    assert await support.page.get_by_label("Outcome").input_value() == "split"
    assert await support.page.get_by_label("Amount for the buyer, in naira").input_value() == "12.34"
    await support.fill("Why", "Half was broken")
    await support.fill("Amount for the buyer, in naira", "12.345")
    await support.click("Prepare the resolution")
    assert "such as 1,250.50" in await support.page.get_by_role("alert").inner_text()
    assert await support.page.get_by_label("Amount for the buyer, in naira").input_value() == "12.345"
    await support.page.get_by_label("Outcome").select_option("split")
    await support.fill("Amount for the buyer, in naira", "12.34")
    assert await support.page.get_by_label("Why", exact=True).input_value() == "Half was broken"
    await support.click("Prepare the resolution")
    assert "A finance checker decides on it" in await support.notice()
    (prepared,) = await market.get("/api/dispute-resolutions", users.checker, params={"orderId": order["id"]})
    assert (prepared["refundMinor"], prepared["status"], prepared["reason"]) == (1234, "prepared", "Half was broken")
    assert await support.page.get_by_role("button", name="Prepare the resolution").count() == 0
    await market.post(f"/api/dispute-resolutions/{prepared['id']}/approve", {"hash": prepared["hash"]}, users.checker)
    await support.open(f"/orders/{order['id']}")
    assert "Resolution approved" in await support.text()


async def test_support_replies_to_a_ticket_and_closes_it(visitor: Arrival, market: Marketplace, users: Users) -> None:
    requested = f"Where is it? {NAUGHTY[0]} {uuid4()}"
    ticket = await market.post("/api/support-tickets", {"subject": requested, "message": TEXT}, users.buyer)
    subject = ticket["subject"]
    await upload(market, f"/api/support-tickets/{ticket['id']}/attachments", users.buyer)
    support = await visitor("support")
    await support.open("/support-tickets?awaiting=answer")
    await support.click(subject, "link")
    assert subject in await support.heading()
    text = await support.text()
    # The API masks digits, which could be a PIN: the text as it stores it is compared.
    (stored,) = await market.get(f"/api/support-tickets/{ticket['id']}/messages", users.buyer)
    assert "<script>" in stored["text"]
    assert stored["text"] in text
    await wait_until(support.page, IMAGES_ARE_LOADED)
    await support.check_page()
    await support.click("Assign to me")
    assert await support.notice() == "The ticket is assigned."
    await support.click("Refund on its way", "link")
    assert "three working days" in await support.page.get_by_label("Text").input_value()
    await support.page.get_by_label("Text").fill(f"It is on its way {NAUGHTY[2]}")
    await support.click("Send the answer")
    assert await support.notice() == "The answer is sent."
    await support.page.get_by_label("Image").set_input_files(
        {"name": "receipt.jpg", "mimeType": "image/jpeg", "buffer": image()}
    )
    await support.click("Attach the image")
    assert await support.notice() == "The image is attached."
    await support.page.get_by_label("Priority").select_option("urgent")
    await support.click("Change the priority")
    assert await support.notice() == "The priority is changed."
    await support.fill("Note", "Called twice")
    await support.click("Keep the note")
    assert await support.notice() == "The note is kept. The customer does not see it."
    assert "Called twice" in await support.text()
    await support.check_page()
    await support.click("Close the ticket")
    output = await market.get(f"/api/support-tickets/{ticket['id']}/messages", users.buyer)
    (response,) = [one["text"] for one in output if one["author"] == "staff" and one["text"]]
    assert response.startswith("It is on its way </textarea><svg")
    assert (await market.get(f"/api/support-tickets/{ticket['id']}", users.buyer))["status"] == "closed"
    assert await support.page.evaluate("window.broken") is None


async def test_a_users_page_has_what_the_reader_may_see(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "Too late"}, users.buyer)
    ticket = await market.post("/api/support-tickets", {"subject": "Where is it?", "message": "Hello"}, users.buyer)

    async def refunded() -> bool | None:
        rows = await market.get("/api/refunds", users.support, params={"buyerId": order["buyerId"]})
        return order["id"] in [one["orderId"] for one in rows] or None

    await market.until("the refund to open", refunded, 30, every=0.5)
    admin = await visitor(users.campus)
    await admin.open(f"/campus-orders?q={users.buyer.email}")
    assert order["number"] in await admin.text()
    support = await visitor("support")
    await support.open(f"/search?q={users.buyer.email}")
    assert support.page.url.endswith(f"/users/{order['buyerId']}")
    column = await support.page.locator(".timeline").inner_text()
    for shown in (
        f"Order {order['number']}",
        naira(order["totalMinor"]),
        f"Ticket {ticket['number']}",
        f"Refund of {order['number']}",
        "Message ",
    ):
        assert shown in column
    assert "Payout" not in column
    await support.check_page()
    await support.click("Tickets", "link")
    assert ticket["number"] in await support.text()
    await support.open(f"/support-tickets/{ticket['id']}")
    await support.click("All about the customer", "link")
    await support.click(f"Order {order['number']}", "link")
    await support.click("All about the buyer", "link")
    assert f"Ticket {ticket['number']}" in await support.text()
    # A person without a role for orders and money has no such page.
    campus = await visitor("campus")
    assert (await campus.open(f"/users/{order['buyerId']}")).status == 403


async def test_the_page_of_a_user_without_a_ticket_names_no_empty_contact(
    visitor: Arrival, market: Marketplace
) -> None:
    buyer = await newcomer(market)
    support = await visitor("support")
    await support.open(f"/users/{buyer.id}")
    assert "Mail address and phone are shown once the person has a ticket." in await support.text()
    await support.check_page()


async def test_support_prepares_a_reset_of_second_factors_that_waits_for_an_admin(
    visitor: Arrival, system: System, market: Marketplace, users: Users
) -> None:
    user_id, _ = await colleague(system, market, users, "support_agent")
    support = await visitor("support")
    await support.open(f"/users/{user_id}")
    await support.check_page()
    await support.open_section("Reset lost second factors")
    await support.fill("Reason", "Called back on the number of record")
    await support.click("Prepare the reset")
    assert "the person is notified" in await support.notice()
    await support.check_page()
    (reset,) = await market.get("/api/factor-resets", users.admin, params={"userId": user_id})
    assert (reset["status"], reset["reason"]) == ("prepared", "Called back on the number of record")
    admin = await visitor("admin")
    await admin.open("/factor-resets?awaiting=approval")
    assert "Called back on the number of record" in await admin.text()
    await admin.open(f"/factor-resets/{reset['id']}")
    assert "Can be approved from" in await admin.text()
    assert await admin.page.get_by_role("button", name="Remove the second factors").count() == 0
    await admin.open_section("Reject")
    await admin.click("Reject the reset")
    assert "The second factors stay" in await admin.notice()
    await admin.check_page()


async def test_a_ticket_is_assigned_to_a_colleague_by_name(
    visitor: Arrival, system: System, market: Marketplace, users: Users
) -> None:
    colleague_id, _ = await colleague(system, market, users, "support_agent")
    (member,) = await market.get("/api/staff-names", users.support, params={"id": colleague_id})
    ticket = await market.post("/api/support-tickets", {"subject": "Where is it?", "message": "Hello"}, users.buyer)
    support = await visitor("support")

    async def assigned() -> bool | None:
        # Refused until notifications has received the colleague's role.
        await support.open(f"/support-tickets/{ticket['id']}")
        await support.page.get_by_label("Colleague").select_option(member["id"])
        await support.click("Assign to a colleague")
        return await support.page.get_by_role("status").count() > 0 or None

    await market.until("the role to arrive", assigned, 30, every=0.5)
    assert await support.notice() == "The ticket is assigned."
    assert member["name"] in await support.page.locator(".facts").inner_text()
    assert (await market.get(f"/api/support-tickets/{ticket['id']}", users.support))["assigneeId"] == colleague_id
    await support.check_page()


async def test_support_approves_a_return(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await delivered_order(market, users)
    items = [{"itemId": order["items"][0]["id"], "quantity": 1}]
    requested = await market.post(
        f"/api/orders/{order['id']}/return-requests", {"items": items, "reason": TEXT[:200]}, users.buyer
    )
    support = await visitor("support")
    await support.open(f"/return-requests/{requested['id']}")
    await support.check_page()
    await support.open_section("Approve the return")
    await support.click("Approve and refund")
    assert "the refund is on its way" in await support.notice()
    assert (await market.get(f"/api/return-requests/{requested['id']}", users.buyer))["status"] == "approved"


async def test_support_sends_a_message_again_and_never_sees_the_pin(
    visitor: Arrival, system: System, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    pin = await market.delivery_pin(users.buyer, order["id"])
    support = await visitor("support")
    await support.open(f"/orders/{order['id']}")
    assert pin not in await support.text()

    async def logged() -> bool | None:
        await support.open("/notification-delivery-logs?channel=sms")
        return await support.page.get_by_role("link", name="delivery PIN").count() > 0 or None

    await market.until("the message with the PIN is logged", logged, 60, every=1)
    await support.check_page()
    await support.page.get_by_role("link", name="delivery PIN").first.click()
    assert pin not in await support.page.content()
    await support.page.get_by_role("button", name="Send again by sms").first.click()
    assert await support.notice() == "The message is sent again."


async def test_every_page_of_support_passes_the_checks(visitor: Arrival) -> None:
    support = await visitor("support")
    for path in (
        "/",
        "/campus-orders",
        "/support-tickets",
        "/return-requests",
        "/reviews",
        "/search?q=nothing",
        "/me",
        "/me/actions",
    ):
        response = await support.open(path)
        assert response.status == 200, path
        await support.check_page()


async def test_support_reads_the_own_actions_and_their_orders(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "the vendor is ill"}, users.support)
    support = await visitor("support")
    await support.open("/me")
    await support.click("My actions", "link")
    row = support.page.locator("tr", has=support.page.locator(f"a[href='/orders/{order['id']}']"))
    assert "order cancelled" in await row.inner_text()
    await support.check_page()
    await support.fill("Number or id", order["number"].lower())
    await support.click("Filter")
    assert await support.page.locator("main tbody tr").count() == 1
    assert "order cancelled" in await support.text()
    for typed, why in (
        ("CM-0000-0000", "no order that you may see has the number"),
        ("PO-0000-0000", "you may not see payouts"),
        (f"po-{0:032x}", "you may not see payouts"),
        ("the vendor", "type the number of an order or payout"),
    ):
        await support.open(f"/me/actions?subjectId={typed}")
        assert why in await support.text()


async def test_a_list_is_filtered_by_its_address_and_given_as_csv(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    support = await visitor("support")
    await support.open(f"/campus-orders?q={order['number']}")
    assert await support.page.locator("tbody tr").count() == 1
    async with support.page.expect_download() as waited:
        await support.click("CSV", "link")
    rows = (await (await waited.value).path()).read_text(encoding="utf-8-sig").splitlines()
    assert rows[0] == '"Order","Status","Total","Buyer","Vendor","Placed"'
    assert rows[1].startswith(f'"{order["number"]}","paid_escrow",{order["totalMinor"] / 100:.2f},')
    assert len(rows) == 2
