"""Finance quarantines a vendor's account, and two people release it."""

from operations.journey import Marketplace
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import open_shop

REASON = "<b>The bank</b> confirmed the owner by letter"


async def test_a_quarantined_account_is_released_by_two_users(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    shop = await open_shop(market, users)
    assert (await shop.set_account(market, shop.accounts[0]))[0] == 200
    payout = await market.request_payout(shop.owner, 10_000)
    maker = await visitor("maker")
    await maker.open(f"/payouts/{payout['id']}")
    await maker.click("Its bank account", "link")
    await maker.open_section("Quarantine the account…")
    await maker.fill("Reason", "The owner is not known at the bank")
    await maker.click("Quarantine")
    assert "is quarantined" in await maker.notice()
    await maker.check_page()
    await maker.open_section("Prepare a release…")
    await maker.fill("Reason", REASON)
    await maker.click("Prepare")
    assert "Another person approves it" in await maker.notice()
    assert await maker.page.locator("summary", has_text="Approve…").count() == 0
    await maker.check_page()

    checker = await visitor("checker")
    await checker.open("/")
    await checker.click("Releases of accounts to approve", "link")
    await checker.check_page()
    [release] = await market.get(
        "/api/bank-detail-releases", users.auditor, params={"vendorId": payout["vendorId"], "status": "prepared"}
    )
    await checker.page.locator(f"a[href='/bank-detail-releases/{release['id']}']").click()
    text = await checker.text()
    assert REASON in text
    assert "The owner is not known at the bank" in text
    await checker.open_section("Approve…")
    await checker.check_page()
    await checker.click("Approve")
    assert "The account is released" in await checker.notice()
    account = await market.get(f"/api/vendors/{payout['vendorId']}/bank-details", users.auditor)
    assert (account["quarantined"], account["verified"]) == (False, True)
    await maker.open(f"/vendors/{payout['vendorId']}/bank-details")
    assert await maker.page.locator("summary", has_text="Prepare a release…").count() == 0
    await maker.check_page()


async def test_the_auditor_reads_accounts_and_is_offered_no_form(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    shop = await open_shop(market, users)
    assert (await shop.set_account(market, shop.accounts[0]))[0] == 200
    vendor_id = (await market.request_payout(shop.owner, 10_000))["vendorId"]
    await market.post(f"/api/vendors/{vendor_id}/bank-details/quarantine", {"reason": "a test"}, users.maker)
    auditor = await visitor("auditor")
    for path in ("/bank-detail-releases", f"/vendors/{vendor_id}/bank-details"):
        await auditor.open(path)
        await auditor.check_page()
        assert await auditor.page.locator("main form[method=post]").count() == 0, path
    support = await visitor("support")
    assert (await support.open("/bank-detail-releases")).status == 403
