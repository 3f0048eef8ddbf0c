"""The appearance of the console: light and dark, and its parts on a phone."""

import re
from typing import Final, get_args

import pytest
from playwright.async_api import expect

from console.formats import naira
from console.pages.everyone.waiting_work import WORK
from contracts.work import WorkKindName
from operations.journey import Marketplace
from tests.console.browser import NARROW
from tests.console.conftest import Arrival
from tests.console.decisions import short_charge
from tests.end_to_end.steps import paid_order
from tests.running_system import Users

GROUND: Final = "getComputedStyle(document.body).backgroundColor"
DARK, LIGHT = "rgb(16, 21, 19)", "rgb(255, 255, 255)"


async def test_the_chosen_colors_stay_on_every_later_page(visitor: Arrival) -> None:
    at_console = await visitor("support")
    await at_console.open("/")
    assert await at_console.page.evaluate(GROUND) == LIGHT
    await at_console.click("Change between light and dark")
    assert await at_console.page.evaluate(GROUND) == DARK
    await at_console.open("/support-tickets")
    assert await at_console.page.evaluate(GROUND) == DARK
    await at_console.check_page()
    await at_console.click("Change between light and dark")
    await at_console.open("/")
    assert await at_console.page.evaluate(GROUND) == LIGHT
    # What the device has needs no cookie.
    assert "console-theme" not in {one["name"] for one in await at_console.context.cookies()}


async def test_without_a_choice_the_colors_are_those_of_the_device(visitor: Arrival) -> None:
    at_console = await visitor("support")
    await at_console.page.emulate_media(color_scheme="dark")
    await at_console.open("/")
    assert await at_console.page.evaluate(GROUND) == DARK


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("document.querySelector('h1').style.color = '#bbb'", "color-contrast"),
        ("document.querySelector('h1').style.color = '#444'", "color-contrast"),
        ("document.querySelector('main').append(document.createElement('button'))", "button-name"),
    ],
    ids=["pale in light colors", "pale in dark colors", "without a name"],
)
async def test_a_page_with_a_fault_does_not_pass_the_checks(visitor: Arrival, fault: str, rule: str) -> None:
    at_console = await visitor("support")
    await at_console.open("/")
    await at_console.check_accessibility()
    await at_console.page.evaluate(fault)
    with pytest.raises(AssertionError, match=rule):
        await at_console.check_accessibility()


async def test_another_value_of_the_cookie_changes_nothing(visitor: Arrival) -> None:
    at_console = await visitor("support")
    cookie = {"name": "console-theme", "value": 'x"onload=', "url": at_console.console_url}
    await at_console.context.add_cookies([cookie])  # type: ignore[list-item]
    await at_console.open("/")
    assert await at_console.page.evaluate(GROUND) == LIGHT
    assert await at_console.page.locator("html").get_attribute("data-theme") is None


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
    at_console = await visitor("support")
    await at_console.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await at_console.open("/")
    link = at_console.page.get_by_role("navigation", name="Screens").get_by_role("link", name="Tickets")
    await expect(link).to_be_hidden()
    await at_console.click("Menu")
    await expect(link).to_be_visible()
    await at_console.check_accessibility()
    await link.click()
    assert await at_console.heading() == "Tickets"


async def test_keys_search_go_and_open_and_never_act_in_a_field(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    await paid_order(market, users)
    at_console = await visitor("support")
    page = at_console.page
    await at_console.open("/")
    await page.keyboard.press("/")
    await expect(page.get_by_label("Search", exact=True)).to_be_focused()
    await page.keyboard.type("go?jk/")
    assert await page.get_by_label("Search", exact=True).input_value() == "go?jk/"
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await page.keyboard.press("Escape")
    await page.locator("main").focus()
    await page.keyboard.press("g")
    await page.keyboard.press("o")
    await page.wait_for_url("**/campus-orders")
    for key in ("j", "j", "k"):
        await page.keyboard.press(key)
    await expect(page.locator("main tbody tr").first).to_be_focused()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/orders/*")
    assert "Order CM-" in await at_console.heading()


async def test_the_list_of_keys_has_the_screens_of_the_role_only(visitor: Arrival) -> None:
    at_console = await visitor("support")
    await at_console.open("/")
    await at_console.page.keyboard.press("?")
    keys = at_console.page.get_by_role("dialog", name="Keys")
    await expect(keys.get_by_text("Tickets")).to_be_visible()
    await expect(keys.get_by_text("Signing keys")).to_have_count(0)
    await at_console.check_accessibility()
    await at_console.page.keyboard.press("Escape")
    await expect(keys).to_be_hidden()


async def test_waiting_for_me_shows_count_first_items_and_the_sums_of_the_ledger(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    await short_charge(market, users)
    maker = await visitor("maker")

    async def agrees() -> bool | None:
        # Events of other tests may still be posted between the two.
        await maker.open("/")
        shown = await maker.page.get_by_label("Money").locator("li", has_text="In escrow").inner_text()
        lines = await market.get("/api/ledger/trial-balance", users.maker)
        escrow = sum(one["balanceMinor"] for one in lines if (one["kind"], one["currency"]) == ("escrow", "NGN"))
        return naira(abs(escrow)) in shown or None

    assert await market.until("the sum of the ledger", agrees, market.wait_seconds_max)
    card = maker.page.locator(".work-cards > li", has_text="Quarantined charges to prepare")
    await expect(card.locator("li").first).to_be_visible()
    assert await card.locator("li").count() <= 3
    (count,) = [
        one["count"]
        for one in await market.get("/api/work", users.maker)
        if one["kind"] == "quarantined_charges_to_prepare"
    ]
    await expect(card.locator("h2 .badge")).to_have_text(str(count))
    await maker.check_page()
    support = await visitor("support")
    await support.open("/")
    await expect(support.page.get_by_label("Money")).to_have_count(0)


async def test_new_work_is_announced_in_place(visitor: Arrival, market: Marketplace, users: Users) -> None:
    await short_charge(market, users)
    maker = await visitor("maker")
    await maker.open("/")
    badge = maker.page.locator("[data-count='quarantined_charges_to_prepare']")
    before, cards = int(await badge.inner_text()), await maker.page.locator(".work-cards").inner_text()
    link = maker.page.get_by_role("link", name="new: show")
    await expect(link).to_be_hidden()
    await short_charge(market, users)
    await expect(link).to_be_visible(timeout=30_000)
    assert int(await badge.inner_text()) > before
    # Counts alone have changed.
    shown = await maker.page.locator(".work-cards").inner_text()
    assert re.sub(r"[0-9]+", "", shown) == re.sub(r"[0-9]+", "", cards)
    await maker.check_page()
    await link.click()
    await expect(link).to_be_hidden()


def test_every_kind_of_work_has_its_name_and_its_list() -> None:
    assert set(WORK) == set(get_args(WorkKindName))
