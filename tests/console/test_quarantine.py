"""A quarantined charge is decided by two people who see what is posted."""

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.console.browser import short_reference
from tests.console.conftest import Arrival
from tests.console.decisions import enter_code, post_as, prepared_return, second_checker, short_charge
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import refund_reaches
from tests.running_system import with_old_factor


async def test_a_quarantined_charge_is_returned_by_two_users(
    visitor: Arrival, system: System, market: Marketplace, users: Users
) -> None:
    charge = await short_charge(market, users)
    maker = await visitor("maker")
    await maker.open("/quarantined-charges?awaiting=preparation")
    await maker.click(short_reference(charge["reference"]), "link")
    # The order's number arrives in payments by an event.
    heading = await maker.heading()
    assert heading.startswith("Quarantined charge")
    assert "CM-" in heading or charge["reference"] in heading
    text = await maker.text()
    assert "below the order's total" in text
    assert await maker.page.locator(f"main [title='quarantine:{charge['reference']}']").count()
    assert "₦50.00 Cr" in text
    await maker.open_section("Prepare a decision…")
    await maker.fill("Reason", "less than the order's total")
    await maker.click("Prepare")
    assert "Another person approves it" in await maker.notice()
    await maker.check_page()

    # The checker's second factor is an hour old: it is asked for again, and nothing is typed twice.
    once_more = await market.sign_in_with_two_factors("checker@campus.example", "CHECKER")
    checker = await visitor(await with_old_factor(system, market, once_more))
    await checker.open("/")
    await checker.click("Quarantined charges to approve", "link")
    await checker.click(short_reference(charge["reference"]), "link")
    assert "less than the order's total" in await checker.text()
    await checker.check_page()
    await checker.open_section("Approve…")
    await checker.click("Approve")
    assert await checker.heading() == "Confirm that it is you"
    await enter_code(checker, system, "CHECKER", "Confirm")
    assert await checker.notice() == "The charge goes back to its payer."
    assert "returned" in await checker.heading()
    await checker.check_page()

    decided = await market.get(f"/api/quarantined-charges/{charge['id']}", users.auditor)
    refund = await refund_reaches(market, users, decided["refundId"], "settled")
    assert refund["amountMinor"] == 5_000
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []


async def test_finance_opens_the_order_of_a_quarantined_charge_without_its_buyer(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    charge = await short_charge(market, users)
    order = await market.order(users.buyer, charge["orderId"])
    maker = await visitor("maker")

    async def opened() -> bool | None:
        await maker.open(f"/quarantined-charges/{charge['id']}")
        await maker.click("Its order", "link")
        return True if order["number"] in await maker.heading() else None

    await market.until("the order is open to finance", opened, 60, every=1)
    text = await maker.text()
    assert order["items"][0]["name"] in text
    assert order["vendorName"] in text
    assert order["buyerName"] not in text
    await maker.check_page()
    await maker.open("/")
    menu = maker.page.get_by_role("navigation", name="Screens")
    for screen in ("Orders", "Returns"):
        assert await menu.get_by_role("link", name=screen, exact=True).count() == 0


async def test_a_maker_is_offered_no_approval_and_refused_one(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    charge = await prepared_return(market, users)
    maker = await visitor("maker")
    await maker.open(f"/quarantined-charges/{charge['id']}")
    assert await maker.page.locator("summary", has_text="Approve…").count() == 0
    refused = await post_as(maker, f"/quarantined-charges/{charge['id']}/approve", hash=charge["hash"])
    assert refused.status_code == 403
    assert (await market.get(f"/api/quarantined-charges/{charge['id']}", users.auditor))["status"] == "prepared"


async def test_of_two_checkers_at_once_the_second_one_reads_what_happened(
    visitor: Arrival, system: System, market: Marketplace, users: Users
) -> None:
    charge = await prepared_return(market, users)
    path = f"/quarantined-charges/{charge['id']}"
    first, second = await visitor("checker"), await visitor(await second_checker(system, market, users))
    for checker in (first, second):
        await checker.open(path)
        await checker.open_section("Approve…")
    await first.click("Approve")
    assert await first.notice() == "The charge goes back to its payer."
    await second.click("Approve")
    assert "Another checker had approved it already" in await second.notice()
    transactions = await market.get(
        "/api/transactions", users.auditor, params={"account": f"quarantine:{charge['reference']}"}
    )
    assert sorted(one["type"] for one in transactions) == ["quarantine", "quarantine_release"]


async def test_a_decision_that_changed_under_the_checker_is_not_approved(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    charge = await prepared_return(market, users)
    path = f"/quarantined-charges/{charge['id']}"
    checker = await visitor("checker")
    await checker.open(path)
    await checker.open_section("Approve…")
    await market.post(f"/api{path}/reject", {"reason": "say more"}, users.checker)
    other = await market.post(
        f"/api{path}/prepare", {"outcome": "return", "reason": "the bank confirmed it"}, users.maker
    )
    assert other["hash"] != charge["hash"]
    await checker.click("Approve")
    text = await checker.text()
    assert "CONCURRENCY_CONFLICT" in text
    assert "The content changed after you opened this page" in text
    assert "the bank confirmed it" in text
    assert (await market.get(f"/api{path}", users.auditor))["status"] == "prepared"
    await checker.check_page()
    await checker.click("Approve")
    assert await checker.notice() == "The charge goes back to its payer."
