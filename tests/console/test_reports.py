"""Reports of users: the queue of support, the conversation of a reported message, and the decision."""

from operations.journey import Marketplace
from tests.console.browser import IMAGES_ARE_LOADED, wait_until
from tests.console.conftest import Arrival
from tests.console.vendor_steps import opened_conversation
from tests.end_to_end.conftest import Users
from tests.storefront.shopper import photo


async def test_support_reads_the_conversation_of_a_report_and_hides_its_message(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    _, conversation = await opened_conversation(market, users, "Rude words <b>here</b>")
    path = f"/api/conversations/{conversation['id']}"
    added = await market.http.post(f"{path}/images", files={"file": photo()}, headers=users.buyer.headers)
    image_id = added.json()["data"]["id"]
    message = await market.post(f"{path}/messages", {"text": "Look at this", "imageId": image_id}, users.buyer)
    body = {"subject": {"kind": "message", "id": message["id"]}, "reason": "Insults"}
    report = await market.post("/api/reports", body, users.vendor)

    support = await visitor("support")
    await support.open("/reports?kind=message&status=open")
    await support.check_page()
    await support.page.locator(f'a[href="/reports/conversations/{conversation["id"]}"]').first.click()
    await support.page.wait_for_url(f"**/reports/conversations/{conversation['id']}")
    text = await support.text()
    assert "Rude words <b>here</b>" in text
    assert "Look at this" in text
    assert await support.page.locator(".thread img").count() == 1
    await wait_until(support.page, IMAGES_ARE_LOADED)
    await support.check_page()

    await support.open("/reports?kind=message&status=open")
    await support.page.get_by_label("Report", exact=True).select_option(report["id"])
    await support.page.get_by_label("Decision", exact=True).select_option("hide")
    await support.fill("Reason, shown to the vendor or the author (optional)", "Insults are not allowed.")
    await support.page.get_by_role("button", name="Decide", exact=True).click()
    assert await support.notice() == "The report is decided: hidden."
    shown = (await market.get(f"{path}/messages", users.vendor))[0]
    assert (shown["text"], shown["hidden"], shown["imageId"]) == ("", True, None)
