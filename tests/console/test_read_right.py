"""Pages that a tired person reads right: names in place of ids, numbers that are found, states and amounts in words."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pypdfium2
import pytest
import pytest_asyncio

from console.formats import naira
from operations.journey import Marketplace
from tests.console.browser import NARROW, Visitor
from tests.console.conftest import Arrival
from tests.console.decisions import short_charge
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import Shop, delivered_order, exception_of, move_transfer, open_shop, paid_order

AMOUNT_MINOR = 125_050
TAILS_OF_IDS = """[...document.querySelectorAll("main td, main dd")]
    .filter((one) => /^[0-9a-f]{8}$/.test(one.innerText.trim())).map((one) => one.innerText)"""
CUT_TABLES = """[...document.querySelectorAll("main .scroll")]
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.getAttribute("aria-label"))"""
FINANCE_LISTS = (
    "/payouts",
    "/payout-batches",
    "/reconciliations",
    "/bank-detail-releases",
    "/refunds",
    "/quarantined-charges",
    "/chargebacks",
    "/dispute-resolutions",
    "/payout-exceptions",
)


@pytest_asyncio.fixture(loop_scope="session")
async def manual_bank(market: Marketplace) -> AsyncIterator[None]:
    """Transfers settle when a test says so."""
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual"})
    yield
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "auto"})


@pytest_asyncio.fixture(loop_scope="session")
async def shop(market: Marketplace, users: Users) -> Shop:
    opened = await open_shop(market, users)
    assert (await opened.set_account(market, opened.accounts[0]))[0] == 200
    return opened


async def payee_of(market: Marketplace, users: Users, payout_id: str) -> tuple[Any, list[str]]:
    """Return the payout as finance reads it, and the texts that each page about it shows."""
    payout = await market.get(f"/api/payouts/{payout_id}", users.auditor)
    names = [payout["number"], payout["vendorName"], payout["accountName"], payout["bankName"]]
    assert all(names)
    return payout, [*names, f"…{payout['accountLast4']}", naira(payout["amountMinor"])]


async def shows(one: Visitor, texts: list[str]) -> None:
    text = await one.text()
    assert [expected for expected in texts if expected not in text] == []


async def test_a_run_names_who_is_paid_at_preview_confirmation_and_result(
    visitor: Arrival, market: Marketplace, users: Users, shop: Shop, manual_bank: None
) -> None:
    requested = await market.request_payout(shop.owner, AMOUNT_MINOR)
    _, texts = await payee_of(market, users, requested["id"])
    maker = await visitor("maker")
    await maker.open("/payouts/run")
    await shows(maker, texts)
    await maker.page.locator(f"input[value='{requested['id']}']").check()
    await maker.click("Preview")
    batch = await market.get(f"/api/payout-batches/{maker.page.url.rpartition('/')[2]}", users.auditor)
    [line] = batch["transfers"]
    await shows(maker, [*texts, naira(line["feeMinor"]), "today"])
    await maker.check_page()
    await maker.open_section("Send these payouts…")
    confirmation = await maker.page.locator("details[open]").inner_text()
    assert [expected for expected in texts if expected not in confirmation and expected != line["vendorName"]] == []
    await maker.click(f"Send {naira(AMOUNT_MINOR)}")
    await shows(maker, [*texts, naira(line["feeMinor"]), "Sent by", "you"])
    assert await maker.page.evaluate(CUT_TABLES) == []
    await maker.check_page()
    sent = await market.get(f"/api/payouts/{requested['id']}", users.auditor)
    await move_transfer(market, sent["transfer"]["reference"], "succeed")
    await market.payout_reaches(shop.owner, requested["id"], "processed")


async def test_money_that_came_back_is_not_shown_as_paid(
    visitor: Arrival, market: Marketplace, users: Users, shop: Shop, manual_bank: None
) -> None:
    requested = await market.request_payout(shop.owner, AMOUNT_MINOR)
    batch = await market.dispatch_payouts(users.maker, [requested["id"]])
    reference = batch["transfers"][0]["reference"]
    await move_transfer(market, reference, "succeed")
    await market.payout_reaches(shop.owner, requested["id"], "processed")
    await move_transfer(market, reference, "reverse")
    exception = await exception_of(market, users, requested["id"])
    # Staff who find another cause change nothing about where the money is.
    finding = {"severity": "SEV-3", "cause": "unclassified", "note": "The bank names no reason."}
    await market.post(f"/api/payout-exceptions/{exception['id']}/classify", finding, users.ops)
    maker = await visitor("maker")
    await maker.open(f"/payout-exceptions/{exception['id']}")
    await shows(maker, ["came back", f"{naira(AMOUNT_MINOR)} waits for two people of finance"])
    await shows(maker, ["Not for your role: staff on call may do it."])
    assert await maker.page.get_by_text("arrived", exact=True).count() == 0
    for one, path in ((maker, "/payouts"), (await visitor(shop.owner), "/wallet/payouts")):
        await one.open(path)
        row = one.page.get_by_role("row").filter(has_text=requested["number"])
        assert "came back" in await row.inner_text()
        assert await row.locator("[title=reversed]").count() >= 1
        await one.open(f"{path}/{requested['id']}")
        assert "came back" in await one.heading()
        text = await one.text()
        assert f"The bank sent {naira(AMOUNT_MINOR)} back on" in text
        assert f"{naira(AMOUNT_MINOR)} waits for two people of finance" in text
        assert "The bank confirmed it" not in text
        assert await one.page.get_by_text("arrived", exact=True).count() == 0
        await one.check_page()
    # Audits of other tests find an undecided return.
    path = f"/api/payouts/{requested['id']}/reconciliations"
    prepared = await market.post(path, {"reason": "the bank sent it back"}, users.maker)
    await market.post(f"/api/reconciliations/{prepared['id']}/approve", {"hash": prepared["hash"]}, users.checker)
    one = await visitor(shop.owner)
    await one.open(f"/wallet/payouts/{requested['id']}")
    text = await one.text()
    assert "the amount was credited to the wallet on" in text
    assert "waits for two people" not in text


async def test_a_failed_transfer_shows_the_banks_reason_and_links_the_bank_details(
    visitor: Arrival, market: Marketplace, users: Users, shop: Shop, manual_bank: None
) -> None:
    requested = await market.request_payout(shop.owner, AMOUNT_MINOR)
    batch = await market.dispatch_payouts(users.maker, [requested["id"]])
    reference = batch["transfers"][0]["reference"]
    await market.sandbox.post(f"/control/transfers/{reference}/fail", json={"reason": "Account is dormant"})
    await exception_of(market, users, requested["id"])
    one = await visitor(shop.owner)
    await one.open(f"/wallet/payouts/{requested['id']}")
    text = await one.text()
    assert "The bank's reason: Account is dormant" in text
    assert "Our staff look into it." in text
    assert "on its way" not in text
    await one.click("Check the bank details", "link")
    assert await one.heading() == "Bank details"
    maker = await visitor("maker")
    await maker.open(f"/search?q={reference}")
    assert maker.page.url.endswith(f"/payouts/{requested['id']}")
    await move_transfer(market, reference, "succeed")
    await market.payout_reaches(shop.owner, requested["id"], "processed")


@pytest.mark.parametrize("path", FINANCE_LISTS)
async def test_no_list_of_money_shows_a_part_of_an_id_or_cuts_a_column(
    visitor: Arrival, market: Marketplace, users: Users, path: str
) -> None:
    await short_charge(market, users)
    one = await visitor("auditor")
    await one.open(path)
    assert await one.page.evaluate(TAILS_OF_IDS) == []
    assert await one.page.evaluate(CUT_TABLES) == []
    await one.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert await one.page.evaluate(CUT_TABLES) == []


async def test_finance_finds_orders_and_payouts_by_number_and_name(
    visitor: Arrival, market: Marketplace, users: Users, shop: Shop
) -> None:
    order = await paid_order(market, users)
    requested = await market.request_payout(shop.owner, AMOUNT_MINOR)
    payout, _ = await payee_of(market, users, requested["id"])
    maker = await visitor("maker")
    for typed in (order["number"], order["number"].lower().replace("-", " "), order["number"][:-1], order["id"]):
        await maker.open("/")
        await maker.fill("Search", typed)
        await maker.page.keyboard.press("Enter")
        await maker.page.get_by_role("heading", name=f"Order {order['number']}").wait_for()
    [payment] = await market.get("/api/payments", users.maker, params={"orderId": order["id"]})
    await maker.open(f"/search?q={payment['reference']}")
    assert maker.page.url.endswith(f"/payments/{payment['id']}")
    for typed in (payout["number"], payout["number"][:-1], payout["id"]):
        await maker.open(f"/search?q={typed}")
        assert naira(AMOUNT_MINOR) in await maker.heading()
    await maker.open("/payouts")
    await maker.page.locator("#filter-vendorName").fill(payout["vendorName"][:-2])
    await maker.click("Filter")
    assert payout["number"] in await maker.text()
    await maker.open(f"/transactions?orderId={order['number']}")
    assert "charge" in await maker.page.get_by_role("region", name="Transactions").inner_text()
    await market.post(f"/api/payouts/{requested['id']}/cancel", {}, shop.owner)


async def test_a_filter_without_a_match_shows_its_form_with_the_reason(visitor: Arrival) -> None:
    maker = await visitor("maker")
    for path in ("/refunds", "/transactions", "/chargebacks"):
        await maker.open(f"{path}?orderId=CM-0000-0000")
        assert await maker.page.locator("#filter-orderId").input_value() == "CM-0000-0000"
        assert "no order that you may see has the number" in await maker.text()
        await maker.check_page()


async def test_a_role_reads_that_it_may_not_see_what_it_searches(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    one = await visitor("ops")
    await one.open(f"/search?q={order['number']}")
    assert "You may not see orders" in await one.text()
    support = await visitor("support")
    await support.open("/search?q=PO-0000-0000")
    assert "You may not see payouts" in await support.text()


async def test_an_id_is_copied_by_one_click(visitor: Arrival, market: Marketplace, users: Users) -> None:
    charge = await short_charge(market, users)
    maker = await visitor("maker")
    await maker.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await maker.open(f"/quarantined-charges/{charge['id']}")
    await maker.click("Copy the id")
    await maker.page.get_by_role("button", name="Copied").wait_for()
    assert await maker.page.evaluate("navigator.clipboard.readText()") == charge["id"]


async def test_a_refused_amount_is_shown_in_naira(visitor: Arrival, shop: Shop) -> None:
    one = await visitor(shop.owner)
    await one.open("/wallet/payouts")
    await one.fill("Amount in naira", "90000000")
    await one.click("Request the payout")
    message = await one.page.get_by_role("alert").inner_text()
    assert not re.search(r"kobo|Minor|\^\[", message), message


async def test_a_printed_page_names_its_reader_without_the_menu(visitor: Arrival) -> None:
    maker = await visitor("maker")
    await maker.open("/payouts")
    assert not await maker.page.locator(".printed").is_visible()
    await maker.page.emulate_media(media="print")
    assert "Printed by" in await maker.page.locator(".printed").inner_text()
    for part in (".menu", ".top", ".filters"):
        assert not await maker.page.locator(part).is_visible()


async def test_a_list_of_nine_columns_is_printed_across_the_sheet_with_whole_words(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    before = (await market.wallet(users.vendor))["availableMinor"]
    await delivered_order(market, users)
    await market.wallet_reaches(users.vendor, before + 1)
    payout = await market.request_payout(users.vendor, 20_000)
    maker = await visitor("maker")
    await maker.open(f"/payouts?number={payout['number']}")
    with pypdfium2.PdfDocument(await maker.page.pdf(prefer_css_page_size=True)) as printed:
        width, height = printed[0].get_size()
        text = printed[0].get_textpage().get_text_range()
    assert width > height
    for shown in (payout["number"], payout["vendorName"], payout["bankName"], "₦200.00", "Printed by", "Page 1 of 1"):
        assert shown in text
    await market.post(f"/api/payouts/{payout['id']}/cancel", {}, users.vendor)
