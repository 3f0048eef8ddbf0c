"""A forgotten password: the mail as its owner reads it, its link, its code, and links that work no more."""

import re
from urllib.parse import urlsplit

from playwright.async_api import expect

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import Shopper

NEW_PASSWORD = "a new long password 7"
LINK = re.compile(r"Choose a new password: (http\S+/forgotten-password#[A-Za-z0-9_-]{40,})")


async def request_mail(at_shop: Shopper, email: str) -> None:
    await at_shop.fill("Mail address", email)
    await at_shop.click("Send the mail")
    await expect(at_shop.page.get_by_role("status").filter(has_text=email)).to_contain_text("a mail is on its way")


async def links_in(market: Marketplace, email: str, count: int) -> list[str]:
    """Return the links of the mails about a new password, newest first, once there are so many."""

    async def mailed() -> list[str] | None:
        texts = [str(mail["text"]) for mail in await market.messages(email, "email")]
        links = [found[1] for text in texts if (found := LINK.search(text))]
        return links if len(links) >= count else None

    return await market.until("the mails", mailed, 60)


async def choose_password(at_shop: Shopper, link: str) -> None:
    target = urlsplit(link)
    await at_shop.open("/")
    await at_shop.open(f"{target.path}#{target.fragment}")
    await at_shop.fill("New password", NEW_PASSWORD)
    await at_shop.click("Change the password")


async def test_the_link_of_a_mail_changes_the_password_once(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    at_shop = await shopper(path="/sign-in?next=%2Fsaved")
    page = at_shop.page
    await at_shop.click("Forgotten password", "link")
    await page.wait_for_url("**/forgotten-password?next=*")
    await at_shop.check_page()
    await request_mail(at_shop, buyer.email)
    await at_shop.check_page()
    (link,) = await links_in(market, buyer.email, 1)
    await choose_password(at_shop, link)
    await expect(page.get_by_role("status").filter(has_text="Your password is changed")).to_be_visible()
    assert "#" not in page.url
    await page.locator("main").get_by_role("link", name="Sign in").click()
    await at_shop.fill("Mail address", buyer.email)
    await at_shop.fill("Password", NEW_PASSWORD)
    await page.locator("main").get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("link", name="Account")).to_be_visible()
    await choose_password(at_shop, link)
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("is wrong, was used before, or is too old. Have another mail sent.")
    await at_shop.check_page()
    await at_shop.click("Send another mail")
    await request_mail(at_shop, buyer.email)


async def test_a_wrong_code_keeps_the_form_and_a_pasted_code_may_have_spaces(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    at_shop = await shopper(path="/forgotten-password")
    await request_mail(at_shop, buyer.email)
    await at_shop.fill("Code of the mail", "not-the-code")
    await at_shop.fill("New password", NEW_PASSWORD)
    await at_shop.click("Change the password")
    await expect(at_shop.page.get_by_role("alert")).to_contain_text("The code of the mail is wrong")
    code = urlsplit((await links_in(market, buyer.email, 1))[0]).fragment
    await at_shop.fill("Code of the mail", f" {code[:20]} {code[20:]}\n")
    await at_shop.click("Change the password")
    await expect(at_shop.page.get_by_role("status").filter(has_text="Your password is changed")).to_be_visible()
