"""A payout run: preview, dispatch, progress; one transfer fails and is reset, one comes back and is reconciled by two
people.
"""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest_asyncio

from campus_tools.launcher.system import System
from console.formats import naira
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.console.amounts import check_row
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import delivered_order, exception_of, move_transfer


@pytest_asyncio.fixture(loop_scope="session")
async def manual_bank(market: Marketplace) -> AsyncIterator[None]:
    """Yield the bank settles a transfer when the test says so."""
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual"})
    yield
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "auto"})


async def test_a_run_is_previewed_sent_and_watched_to_its_end(
    visitor: Arrival, system: System, market: Marketplace, users: Users, manual_bank: None
) -> None:
    before = (await market.wallet(users.vendor))["availableMinor"]
    await delivered_order(market, users)
    await market.wallet_reaches(users.vendor, before + 1)
    good = await market.request_payout(users.vendor, 40_000)
    bad = await market.request_payout(users.vendor, 30_000)
    maker = await visitor("maker")
    await maker.open("/payouts/run")
    await maker.check_page()
    for payout in (good, bad):
        await maker.page.locator(f"input[value='{payout['id']}']").check()
    await maker.click("Preview")
    text = await maker.text()
    assert "Nothing is sent yet" in text
    assert "₦700.00" in text
    assert (await market.get(f"/api/payouts/{good['id']}", users.auditor))["transfer"] is None
    await maker.check_page()
    await maker.open_section("Send these payouts…")
    await maker.click("Send ₦700.00")
    assert "The batch is sent" in await maker.notice()
    assert "0 of 2 transfers are decided" in await maker.text()
    await maker.check_page()

    sent = {one["id"]: one for one in await market.get("/api/payouts", users.auditor, params={"status": "pending"})}
    reference = {payout["id"]: sent[payout["id"]]["transfer"]["reference"] for payout in (good, bad)}
    await move_transfer(market, reference[good["id"]], "succeed")
    await move_transfer(market, reference[bad["id"]], "fail")
    # The page follows by itself.
    await maker.page.get_by_text("1 arrived, 1 with an exception for the people on call").wait_for(timeout=60_000)
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "auto"})
    await market.post(f"/api/payouts/{bad['id']}/reset", {"reason": "the bank's switch was down"}, users.ops)
    processed = await market.payout_reaches(users.vendor, bad["id"], "processed")
    assert processed["transfer"]["attempt"] == 2
    await maker.open(f"/payouts/{bad['id']}")
    assert "paid" in await maker.heading()
    await maker.check_page()
    await maker.open("/payout-batches")
    await maker.check_page()
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def _large_sale(market: Marketplace, users: Users) -> None:
    """Deliver an order whose share in the wallet is above the largest run of one person."""
    before = (await market.wallet(users.vendor))["availableMinor"]
    offered = {
        "name": f"Laptop {uuid4().hex[:8]}",
        "description": "New.",
        "category": "computers",
        "priceMinor": 60_000_000,
        "stock": 5,
    }
    product = await market.post("/api/products", offered, users.vendor)
    order = await market.checkout(users.buyer, product["id"])
    await market.pay(await market.pay_intent(users.buyer, order["id"]))
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")
    await market.dispatch(users.vendor, order["id"])
    await market.verify_delivery(users.vendor, order["id"], await market.delivery_pin(users.buyer, order["id"]))
    await market.wallet_reaches(users.vendor, before + 50_000_100)


async def test_a_large_run_is_sent_by_a_second_approver(
    visitor: Arrival, system: System, market: Marketplace, users: Users, manual_bank: None
) -> None:
    await _large_sale(market, users)
    payout = await market.request_payout(users.vendor, 50_000_100)
    maker = await visitor("maker")
    await maker.open("/payouts/run")
    await maker.page.locator(f"input[value='{payout['id']}']").check()
    await maker.click("Preview")
    assert "A run of this size needs a second person" in await maker.text()
    await maker.check_page()
    await maker.open_section("Prepare for approval…")
    await maker.click("Prepare ₦500,001.00")
    assert "Another person of finance approves and sends it" in await maker.notice()
    preview = urlsplit(maker.page.url).path
    checker = await visitor("checker")
    await checker.open("/")
    assert "Payout runs to approve" in await checker.text()
    await checker.open(preview)
    await checker.check_page()
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert "The batch is sent" in await checker.notice()
    sent = await market.get(f"/api/payouts/{payout['id']}", users.auditor)
    assert sent["transfer"]["status"] == "pending"
    await maker.open(preview)
    assert "approved" in (await maker.text()).lower()
    await move_transfer(market, sent["transfer"]["reference"], "succeed")
    await market.payout_reaches(users.vendor, payout["id"], "processed")


async def test_a_list_that_changed_before_its_approval_is_not_sent(
    visitor: Arrival, system: System, market: Marketplace, users: Users, manual_bank: None
) -> None:
    await _large_sale(market, users)
    large = await market.request_payout(users.vendor, 50_000_100)
    before = (await market.wallet(users.vendor))["availableMinor"]
    await delivered_order(market, users)
    await market.wallet_reaches(users.vendor, before + 20_000)
    small = await market.request_payout(users.vendor, 20_000)
    maker = await visitor("maker")
    await maker.open("/payouts/run")
    for payout in (large, small):
        await maker.page.locator(f"input[value='{payout['id']}']").check()
    await maker.click("Preview")
    await maker.open_section("Prepare for approval…")
    await maker.click("Prepare ₦500,201.00")
    checker = await visitor("checker")
    await checker.open(urlsplit(maker.page.url).path)
    for payout in (large, small):
        account = (payout["vendorName"], payout["accountName"], payout["bankName"], f"…{payout['accountLast4']}")
        await check_row(checker, payout["number"], *account, naira(payout["amountMinor"]), "today")
    await market.post(f"/api/payouts/{small['id']}/cancel", {}, users.vendor)
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert (await checker.notice()).startswith("Nothing was sent. This is the present list")
    await check_row(checker, large["number"], "₦500,001.00")
    await check_row(checker, small["number"], "it is no longer pending")
    assert "A run of this size needs a second person" in await checker.text()
    await maker.page.reload()
    assert "The list changed before the approval, so nothing was sent." in await maker.text()
    await maker.check_page()
    shown = [await market.get(f"/api/payouts/{payout['id']}", users.auditor) for payout in (large, small)]
    assert [one["transfer"] for one in shown] == [None, None]
    await maker.open(f"/payouts?number={small['number']}")
    await check_row(maker, small["number"], "cancelled", "not sent")
    # What is left is sent by two people, and leaves no large amount in the wallet for other tests.
    await maker.open("/payouts/run")
    await maker.page.locator(f"input[value='{large['id']}']").check()
    await maker.click("Preview")
    await maker.open_section("Prepare for approval…")
    await maker.click("Prepare ₦500,001.00")
    await checker.open(urlsplit(maker.page.url).path)
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert "The batch is sent" in await checker.notice()
    sent = await market.get(f"/api/payouts/{large['id']}", users.auditor)
    await move_transfer(market, sent["transfer"]["reference"], "succeed")
    await market.payout_reaches(users.vendor, large["id"], "processed")
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def test_a_second_click_sends_one_batch(
    visitor: Arrival, market: Marketplace, users: Users, manual_bank: None
) -> None:
    await delivered_order(market, users)
    payout = await market.request_payout(users.vendor, 10_000)
    maker = await visitor("maker", javascript=False)
    await maker.open("/payouts/run")
    await maker.page.locator(f"input[value='{payout['id']}']").check()
    await maker.click("Preview")
    await maker.open_section("Send these payouts…")
    before = (await market.http.get("/api/payout-batches", headers=users.auditor.headers)).json()["meta"]["total"]
    await maker.page.get_by_role("button", name="Send ₦100.00").dblclick()
    assert "The batch is sent" in await maker.notice()
    after = (await market.http.get("/api/payout-batches", headers=users.auditor.headers)).json()["meta"]["total"]
    assert after == before + 1
    await maker.click("Reload", "link")
    assert "0 of 1 transfers are decided" in await maker.text()
    shown = await market.get(f"/api/payouts/{payout['id']}", users.auditor)
    await move_transfer(market, shown["transfer"]["reference"], "succeed")
    await market.payout_reaches(users.vendor, payout["id"], "processed")


async def test_a_payout_that_came_back_is_reconciled_by_two_users(
    visitor: Arrival, system: System, market: Marketplace, users: Users, manual_bank: None
) -> None:
    await delivered_order(market, users)
    payout = await market.request_payout(users.vendor, 20_000)
    batch = await market.dispatch_payouts(users.maker, [payout["id"]])
    reference = batch["transfers"][0]["reference"]
    await move_transfer(market, reference, "succeed")
    await market.payout_reaches(users.vendor, payout["id"], "processed")
    await move_transfer(market, reference, "reverse")
    await exception_of(market, users, payout["id"])
    maker = await visitor("maker")
    await maker.open(f"/payouts/{payout['id']}")
    await maker.open_section("Prepare a reconciliation…")
    await maker.fill("Reason", "the bank sent it back")
    await maker.click("Prepare")
    assert "reversal" in await maker.heading()
    assert await maker.page.locator("summary", has_text="Approve…").count() == 0
    path = maker.page.url.removeprefix(maker.console_url)
    checker = await visitor("checker")
    await checker.open(path)
    wallet = (await market.wallet(users.vendor))["availableMinor"]
    assert "the bank sent it back" in await checker.text()
    await checker.check_page()
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert await checker.notice() == "The reconciliation is posted."
    assert (await market.wallet(users.vendor))["availableMinor"] == wallet + 20_000
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def test_several_payouts_are_held_with_the_result_of_each(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    before = (await market.wallet(users.vendor))["availableMinor"]
    await delivered_order(market, users)
    await market.wallet_reaches(users.vendor, before + 1)
    payouts = [await market.request_payout(users.vendor, 20_000 + amount) for amount in range(3)]
    checker = await visitor("checker", javascript=False)
    await checker.open("/payouts/hold?vendorName=Ada")
    await checker.check_width()
    for payout in payouts[:2]:
        await checker.page.locator(f"input[value='{payout['id']}']").check()
    await checker.fill("Reason", "the bank asked for a document")
    # Cancelled after the page was opened: the other one is held all the same.
    await market.post(f"/api/payouts/{payouts[1]['id']}/cancel", {}, users.vendor)
    await checker.click("Hold the chosen payouts")
    assert (await checker.notice()).startswith("1 of 2 payouts is held.")
    results = {
        payout["number"]: await checker.page.get_by_role("row").filter(has_text=payout["number"]).inner_text()
        for payout in payouts[:2]
    }
    assert "held: no run sends it" in results[payouts[0]["number"]]
    assert "not held:" in results[payouts[1]["number"]]
    states = [await market.get(f"/api/payouts/{payout['id']}", users.vendor) for payout in payouts]
    assert [state["hold"] is not None for state in states] == [True, False, False]
    await checker.open("/payouts/hold")
    text = await checker.text()
    assert (payouts[0]["number"] in text, payouts[2]["number"] in text) == (False, True)
    await checker.open("/payouts")
    for payout, state in zip(payouts, ("held", "cancelled", "pending"), strict=True):
        await check_row(checker, payout["number"], state)
    at_shop = await visitor("vendor")
    await at_shop.open(f"/wallet/payouts/{payouts[0]['id']}")
    assert "no day yet: finance holds it" in await at_shop.text()
    await market.post(f"/api/payouts/{payouts[0]['id']}/release", {"reason": "it has arrived"}, users.checker)
    for payout in (payouts[0], payouts[2]):
        await market.post(f"/api/payouts/{payout['id']}/cancel", {}, users.vendor)
