"""A vendor's money: what the pages show equals the API to the kobo."""

import csv
import io
from datetime import UTC, datetime

import httpx
import pytest
import pytest_asyncio

from console.formats import day, naira
from console.money import arrival_words
from operations.journey import Marketplace
from tests.console.browser import NARROW, Visitor
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import Shop, open_shop, paid_order


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shops() -> dict[str, Shop]:
    """Return the shop of this module's tests: what others sell does not change its figures."""
    return {}


@pytest_asyncio.fixture(loop_scope="session")
async def shop(shops: dict[str, Shop], market: Marketplace, users: Users) -> Shop:
    if "shop" not in shops:
        shops["shop"] = await open_shop(market, users)
        status, _ = await shops["shop"].set_account(market, shops["shop"].accounts[0])
        assert status == 200
    return shops["shop"]


async def _download(one: Visitor, path: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of the console, loaded with the browser's cookie."""
    (cookie,) = await one.context.cookies()
    async with httpx.AsyncClient(base_url=one.console_url, trust_env=False) as http:
        response = await http.get(path, headers={"Cookie": f"{cookie['name']}={cookie['value']}"})
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))


async def test_the_wallet_shows_every_kobo_of_the_api(visitor: Arrival, market: Marketplace, shop: Shop) -> None:
    one = await visitor(shop.owner)
    await one.open("/wallet")
    wallet = await market.wallet(shop.owner)
    text = await one.text()
    for name in ("lockedMinor", "availableMinor", "inTransitMinor"):
        assert naira(wallet[name]) in text
    (line,) = await market.get("/api/wallets/current/statement", shop.owner, params={"kind": "release"})
    assert line["netMinor"] == line["grossMinor"] - line["commissionMinor"] - line["deliveryFeeMinor"]
    await one.open("/wallet?kind=release")
    row = await one.page.get_by_role("region", name="Movements of the wallet").locator("tbody tr").inner_text()
    for amount_minor in (line["grossMinor"], -line["commissionMinor"], line["netMinor"], line["balanceMinor"]):
        assert naira(amount_minor) in row
    await one.check_page()
    newest, *_ = await _download(one, "/wallet?format=csv")
    assert round(float(newest["Balance"]) * 100) == wallet["availableMinor"]


async def test_what_will_be_paid_adds_up_to_what_is_held(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    one = await visitor("vendor")

    async def held() -> bool | None:
        await one.open("/wallet/expected")
        wallet = await market.wallet(users.vendor)
        return naira(wallet["lockedMinor"]) in await one.text() or None

    await market.until("the held amount on the page", held, 30, every=0.5)
    row = one.page.get_by_role("row").filter(has_text=order["number"])
    share = order["subtotalMinor"] - (await market.order(users.vendor, order["id"]))["commissionMinor"]
    assert naira(share) in await row.inner_text()
    assert "when the PIN is entered" in await row.inner_text()
    await one.check_page()


async def test_a_payout_is_requested_once_and_cancelled(visitor: Arrival, market: Marketplace, shop: Shop) -> None:
    before = await market.wallet(shop.owner)
    one = await visitor(shop.owner, javascript=False)
    await one.open("/wallet/payouts")
    await one.fill("Amount in naira", "1,000.50")
    await one.page.get_by_role("button", name="Request the payout").dblclick()
    assert (await one.notice()).startswith("The payout is requested.")
    assert await one.heading() == "Payout of ₦1,000.50 pending"
    wallet = await market.wallet(shop.owner)
    assert (wallet["inTransitMinor"] - before["inTransitMinor"], wallet["availableMinor"]) == (
        100_050,
        before["availableMinor"] - 100_050,
    )
    pending = await market.get("/api/payouts", shop.owner, params={"status": "pending"})
    # Another test of the shop may have requested ₦200.
    (payout,) = [one for one in pending if one["amountMinor"] == 100_050]
    reaches = f"by {day(payout['arrival']['day'])}"
    assert reaches in await one.text()
    await one.open("/wallet")
    oldest = min(pending, key=lambda one: one["createdAt"])
    assert f"at your bank {arrival_words(oldest['arrival'])}" in await one.text()
    await one.open(f"/wallet/payouts/{payout['id']}")
    await one.open_section("Cancel the payout")
    await one.click("Cancel the payout")
    assert (await one.notice()).startswith("The payout is cancelled.")
    shown = await one.text()
    assert "You cancelled it before it was sent. The amount is in the wallet again." in shown
    assert "never sent" in shown
    assert await market.wallet(shop.owner) == before


async def test_a_payout_above_the_wallet_is_refused_with_what_was_typed(visitor: Arrival, shop: Shop) -> None:
    one = await visitor(shop.owner)
    await one.open("/wallet/payouts")
    await one.fill("Amount in naira", "90000000")
    await one.click("Request the payout")
    assert "req_" in await one.page.get_by_role("alert").inner_text()
    assert await one.page.get_by_label("Amount in naira").input_value() == "90000000"
    await one.check_page()


async def test_a_remainder_that_no_transfer_can_pay_is_given_up(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    shop = await open_shop(market, users)
    one = await visitor(shop.owner)
    await one.open("/wallet")
    assert "Give up the small remainder" not in await one.text()
    status, _ = await shop.set_account(market, shop.accounts[0])
    assert status == 200
    available_minor = (await market.wallet(shop.owner))["availableMinor"]
    payout = await market.request_payout(shop.owner, available_minor - 5_050)
    await market.dispatch_payouts(users.maker, [payout["id"]])
    await market.payout_reaches(shop.owner, payout["id"], "processed")
    await one.open(f"/wallet/payouts/{payout['id']}")
    assert "The bank confirmed it." in await one.text()
    await one.open("/wallet")
    await one.open_section("Give up the small remainder")
    await one.check_page()
    await one.click("Give up ₦50.50")
    assert await one.notice() == "The remainder is given up."
    assert (await market.wallet(shop.owner))["availableMinor"] == 0


async def test_a_remittance_opens_for_its_vendor_and_for_finance(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    shop = await open_shop(market, users)
    status, _ = await shop.set_account(market, shop.accounts[0])
    assert status == 200
    payout = await market.request_payout(shop.owner, (await market.wallet(shop.owner))["availableMinor"])
    await market.dispatch_payouts(users.maker, [payout["id"]])
    await market.payout_reaches(shop.owner, payout["id"], "processed")
    for user, path in ((shop.owner, "/wallet/payouts"), (users.maker, "/payouts")):
        one = await visitor(user)
        await one.open(f"{path}/{payout['id']}")
        await one.check_page()
        link = await one.page.get_by_role("link", name="Remittance (PDF)").get_attribute("href")
        file = await one.context.request.get(f"{one.console_url}{link}")
        assert (file.status, file.headers["content-type"]) == (200, "application/pdf")
        assert (await file.body()).startswith(b"%PDF-")


async def test_a_month_without_commission_has_no_invoice(visitor: Arrival, shop: Shop) -> None:
    one = await visitor(shop.owner)
    await one.open("/wallet/statements")
    await one.check_page()
    await one.click("Open the invoice (PDF)")
    assert await one.heading() == "There is no such invoice"
    await one.check_page()


async def test_the_statement_of_the_month_ends_with_the_balance(
    visitor: Arrival, market: Marketplace, shop: Shop
) -> None:
    one = await visitor(shop.owner)
    await one.open("/wallet/statements")
    month = await one.page.get_by_label("Month", exact=True).input_value()
    statement = await market.get(f"/api/wallets/current/statements/{month}", shop.owner)
    text = await one.text()
    assert naira(statement["closingBalanceMinor"]) in text
    await one.check_page()
    rows = await _download(one, f"/wallet/statements/csv?month={month}")
    assert len(rows) == statement["lines"]
    link = await one.page.get_by_role("link", name="PDF", exact=True).get_attribute("href")
    file = await one.context.request.get(f"{one.console_url}{link}")
    assert (file.status, file.headers["content-type"]) == (200, "application/pdf")
    assert (await file.body()).startswith(b"%PDF-")
    assert (await one.open("/wallet/statements?month=2026-13")).status == 422


async def test_bank_details_need_a_second_factor_and_show_four_digits(
    visitor: Arrival, market: Marketplace, shop: Shop
) -> None:
    one = await visitor(shop.owner)
    await one.open("/bank-details")
    await one.fill("Account number", shop.accounts[1])
    await one.page.get_by_label("Bank", exact=True).select_option(label="Guaranty Trust Bank")
    await one.click("Save the account")
    assert await one.notice() == "The account is saved and verified."
    text = await one.text()
    assert f"…{shop.accounts[1][-4:]}" in text
    assert shop.accounts[1] not in await one.page.content()
    await one.check_page()
    # The bank knows this account by another name.
    await one.fill("Account number", "0690123456")
    await one.page.get_by_label("Bank", exact=True).select_option(label="Access Bank")
    await one.click("Save the account")
    assert await one.notice() == "Nothing was changed: the bank did not confirm this account."
    text = await one.text()
    assert "The account …3456 at Access Bank was not saved: the account's name lacks" in text
    account = await market.get(shop.path, shop.owner)
    assert (account["accountLast4"], account["verified"]) == (shop.accounts[1][-4:], True)
    await one.check_page()
    await one.fill("Account number", "123")
    await one.page.get_by_label("Bank", exact=True).select_option(label="Guaranty Trust Bank")
    await one.page.get_by_label("Account number").evaluate("input => input.removeAttribute('pattern')")
    await one.click("Save the account")
    assert await one.page.get_by_role("alert").count() == 1


async def test_a_vendor_without_a_recent_second_factor_is_prompted_for_it(
    visitor: Arrival, market: Marketplace
) -> None:
    one = await visitor(await market.sign_in("vendor@unilag.edu.ng"))
    await one.open("/wallet/payouts")
    await one.page.get_by_label("All that is available").select_option("weekly")
    await one.page.get_by_label("Day, for once a week").select_option("friday")
    await one.click("Save the schedule")
    assert await one.heading() == "Confirm that it is you"
    await one.check_page()


async def test_a_schedule_shows_the_next_payout(visitor: Arrival, market: Marketplace, shop: Shop) -> None:
    one = await visitor(shop.owner)
    await one.open("/wallet/payouts")
    await one.page.get_by_label("All that is available").select_option("weekly")
    await one.page.get_by_label("Day, for once a week").select_option("friday")
    await one.fill("Only above, in naira", "500")
    await one.click("Save the schedule")
    assert await one.notice() == "The schedule is saved."
    path = shop.path.replace("bank-details", "payout-schedule")
    schedule = await market.get(path, shop.owner)
    assert (schedule["frequency"], schedule["weekday"], schedule["minimumMinor"]) == ("weekly", "friday", 50_000)
    assert datetime.fromisoformat(schedule["nextAt"]) > datetime.now(UTC)
    assert await one.page.locator(f"time[datetime='{schedule['nextAt']}']").count() == 1


async def test_the_sales_report_equals_the_api(visitor: Arrival, market: Marketplace, shop: Shop) -> None:
    one = await visitor(shop.owner)
    path = shop.path.replace("bank-details", "sales")

    async def shown() -> bool | None:
        await one.open("/sales-report?groupBy=product")
        (sold,) = await market.get(path, shop.owner, params={"groupBy": "product"})
        text = await one.text()
        return (naira(sold["grossMinor"]) in text and naira(sold["netMinor"]) in text and sold["netMinor"] > 0) or None

    await market.until("the sales on the page", shown, 30, every=0.5)
    assert await one.page.locator(".figure", has_text="Paid by buyers").count() == 1
    await one.check_page()
    assert "Puff puff" in await one.text()
    for path in ("/sales-report", "/sales-report?groupBy=week", "/sales-report?groupBy=month"):
        await one.open(path)
        assert await one.page.get_by_role("region", name="Sales").locator("tbody tr").count() >= 1
    (row,) = await _download(one, "/sales-report?groupBy=product&format=csv")
    assert row["Product"] == "Puff puff"


@pytest.mark.parametrize(
    "path",
    ["/wallet", "/wallet/expected", "/wallet/payouts", "/wallet/statements", "/bank-details", "/products", "/today"],
)
async def test_staff_do_not_open_a_vendors_screens(visitor: Arrival, path: str) -> None:
    one = await visitor("support")
    assert (await one.open(path)).status == 403


async def test_a_vendor_requests_a_payout_by_keyboard_alone(visitor: Arrival, market: Marketplace, shop: Shop) -> None:
    one = await visitor(shop.owner)
    await one.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await one.open("/wallet/payouts")
    keyboard = one.page.keyboard
    for _ in range(40):
        await keyboard.press("Tab")
        if await one.page.evaluate("document.activeElement.id") == "field-amountMinor":
            break
    await keyboard.press("Control+A")
    await keyboard.type("200")
    await keyboard.press("Enter")
    await one.page.get_by_role("heading", name="Payout of ₦200.00").wait_for()
    payouts = await market.get("/api/payouts", shop.owner)
    assert [payout["amountMinor"] for payout in payouts if payout["status"] == "pending"] == [20_000]
