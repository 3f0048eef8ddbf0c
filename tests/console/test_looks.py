"""The looks of the console: light and dark, and its parts on a phone."""

from typing import Final

from playwright.async_api import expect

from tests.console.browser import NARROW
from tests.console.conftest import Arrival

GROUND: Final = "getComputedStyle(document.body).backgroundColor"
DARK, LIGHT = "rgb(16, 21, 19)", "rgb(255, 255, 255)"


async def test_the_chosen_colors_stay_on_every_later_page(visitor: Arrival) -> None:
    at_desk = await visitor("support")
    await at_desk.open("/")
    assert await at_desk.page.evaluate(GROUND) == LIGHT
    await at_desk.click("Change between light and dark")
    assert await at_desk.page.evaluate(GROUND) == DARK
    await at_desk.open("/support-tickets")
    assert await at_desk.page.evaluate(GROUND) == DARK
    await at_desk.check_page()
    await at_desk.click("Change between light and dark")
    await at_desk.open("/")
    assert await at_desk.page.evaluate(GROUND) == LIGHT
    # What the device has needs no cookie.
    assert "console-theme" not in {one["name"] for one in await at_desk.context.cookies()}


async def test_without_a_choice_the_colors_are_those_of_the_device(visitor: Arrival) -> None:
    at_desk = await visitor("support")
    await at_desk.page.emulate_media(color_scheme="dark")
    await at_desk.open("/")
    assert await at_desk.page.evaluate(GROUND) == DARK


async def test_another_value_of_the_cookie_changes_nothing(visitor: Arrival) -> None:
    at_desk = await visitor("support")
    cookie = {"name": "console-theme", "value": 'x"onload=', "url": at_desk.console_url}
    await at_desk.context.add_cookies([cookie])  # type: ignore[list-item]
    await at_desk.open("/")
    assert await at_desk.page.evaluate(GROUND) == LIGHT
    assert await at_desk.page.locator("html").get_attribute("data-theme") is None


async def test_a_vendor_has_the_main_screens_under_the_thumb(visitor: Arrival) -> None:
    at_shop = await visitor("vendor")
    await at_shop.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await at_shop.open("/today")
    bar = at_shop.page.get_by_role("navigation", name="Main screens")
    assert await bar.get_by_role("link").all_inner_texts() == ["Today", "Orders", "Products", "Wallet"]
    await bar.get_by_role("link", name="Wallet").click()
    assert await at_shop.heading() == "Wallet"
    await expect(bar.get_by_role("link", name="Wallet")).to_have_attribute("aria-current", "page")
    await at_shop.check_page()


async def test_the_menu_of_a_phone_opens_over_the_page(visitor: Arrival) -> None:
    at_desk = await visitor("support")
    await at_desk.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await at_desk.open("/")
    link = at_desk.page.get_by_role("navigation", name="Screens").get_by_role("link", name="Tickets")
    await expect(link).to_be_hidden()
    await at_desk.click("Menu")
    await expect(link).to_be_visible()
    await at_desk.check_accessibility()
    await link.click()
    assert await at_desk.heading() == "Tickets"
