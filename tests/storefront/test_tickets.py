"""A buyer's questions to staff: asked from an order, answered, read live, closed and opened again."""

from playwright.async_api import expect

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import order_id_in, photo

SUBJECT = "Where do I collect it?"
REPLY = "At the main hub, from 8 to 18."


async def test_a_question_about_an_order_shows_its_reply_live(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    product = (await market.products(q="jollof rice", inStock="true", limit=1))[0]
    order = await market.checkout(buyer, product["id"])
    support = await market.sign_in_with_two_factors("support@campus.example", "SUPPORT")
    at_shop = await shopper(buyer, path=f"/orders/{order['id']}")
    page = at_shop.page
    await at_shop.click("Ask our staff about this order", "link")
    await expect(page.get_by_text(f"About your order {order['number']}")).to_be_visible()
    await at_shop.fill("Subject", SUBJECT)
    await at_shop.fill("Your question", "The page shows no hub.")
    await at_shop.check_page()
    await at_shop.click("Send")
    await page.wait_for_url("**/tickets/*")
    await expect(page.get_by_role("status").filter(has_text="Waiting for our staff")).to_be_visible()
    ticket = await market.get(f"/api/support-tickets/{order_id_in(page.url)}", buyer)
    assert (ticket["subject"], ticket["orderNumber"]) == (SUBJECT, order["number"])
    name, content, media_type = photo()
    chosen = {"name": name, "mimeType": media_type, "buffer": content}
    await page.get_by_label("Add a photo").set_input_files(chosen)  # type: ignore[arg-type]
    await expect(page.get_by_role("img", name="From you")).to_be_visible()

    await market.post(f"/api/support-tickets/{ticket['id']}/messages", {"text": REPLY}, support)
    await expect(page.get_by_text(REPLY)).to_be_visible()
    await expect(page.get_by_role("status").filter(has_text="Answered")).to_be_visible()
    await at_shop.check_page()
    await at_shop.click("My question is answered")
    await expect(page.get_by_role("status").filter(has_text="Closed")).to_be_visible()
    await at_shop.fill("Your message", "It is closed on Sunday.")
    await at_shop.click("Send")
    await expect(page.get_by_text("It is closed on Sunday.", exact=True)).to_be_visible()
    await expect(page.get_by_role("status").filter(has_text="Waiting for our staff")).to_be_visible()


async def test_the_account_lists_the_questions_with_what_is_new(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    at_shop = await shopper(buyer, path="/account")
    page = at_shop.page
    await at_shop.click("Questions to our staff", "link")
    await expect(page.get_by_text("No questions yet")).to_be_visible()
    await expect(page.get_by_role("link", name="Account")).to_have_attribute("aria-current", "page")
    ticket = await market.post("/api/support-tickets", {"subject": SUBJECT, "message": "Hello"}, buyer)
    support = await market.sign_in_with_two_factors("support@campus.example", "SUPPORT")
    await market.post(f"/api/support-tickets/{ticket['id']}/messages", {"text": REPLY}, support)
    await page.reload()
    row = page.get_by_role("listitem").filter(has_text=ticket["number"])
    await expect(row).to_contain_text("1 new")
    await at_shop.check_page()
    await at_shop.click(SUBJECT, "link")
    await expect(page.get_by_text(REPLY)).to_be_visible()
    await at_shop.open("/tickets")
    await expect(row).to_contain_text("Answered")
    await expect(row).not_to_contain_text("new")
