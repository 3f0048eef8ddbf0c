"""Platform admins: a role that moves money is granted by two of them, a commission is changed by two."""

from dataclasses import dataclass
from uuid import uuid4

import pytest_asyncio

from campus_tools.launcher.system import System
from contracts.demo import ADA
from operations.journey import Marketplace, SignedInUser
from tests.console.amounts import check_row
from tests.console.conftest import Arrival
from tests.end_to_end.command_line import cli_of_the_machine
from tests.end_to_end.responses import Responses
from tests.end_to_end.steps import newcomer, stepped_up
from tests.running_system import new_market, with_old_factor

SCREENS = (
    "/staff",
    "/staff-grants",
    "/staff-acts",
    "/commission-changes",
    "/signing-keys",
    "/quotas",
    "/settings",
    "/vendors",
    f"/vendors/{ADA.id}",
    "/campuses",
)


@dataclass(frozen=True)
class Admins:
    """Two platform admins of all tests here, and a person of this test who has two factors and no role."""

    maker: SignedInUser
    checker: SignedInUser
    visitor: SignedInUser
    user_id: str


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two_admins(system: System, responses: Responses) -> tuple[SignedInUser, SignedInUser]:
    market = new_market(system, responses)
    machine = cli_of_the_machine(system)
    try:
        first, second = [await newcomer(market) for _ in range(2)]
        for admin in (first, second):
            await machine.done("staff", "bootstrap", admin.email, "--yes")
        return await stepped_up(market, first.email), await stepped_up(market, second.email)
    finally:
        await market.close()


@pytest_asyncio.fixture(loop_scope="session")
async def admins(two_admins: tuple[SignedInUser, SignedInUser], market: Marketplace) -> Admins:
    third = await newcomer(market)
    return Admins(*two_admins, await stepped_up(market, third.email), str(third.id))


async def test_two_admins_grant_a_role_that_transfers_money(
    visitor: Arrival, market: Marketplace, admins: Admins
) -> None:
    maker = await visitor(admins.maker)
    await maker.open("/staff")
    await maker.fill("Exact mail address", admins.visitor.email)
    await maker.click("Filter")
    await maker.page.locator(f"a[href='/staff/{admins.user_id}']").click()
    await maker.page.get_by_label("Role", exact=True).select_option("finance_maker")
    await maker.check_page()
    await maker.click("Grant the role")
    assert await maker.notice() == "The grant is prepared. A second platform admin approves it."
    grant_path = maker.page.url.removeprefix(maker.console_url)
    assert "You prepared this grant" in await maker.text()
    assert await maker.page.get_by_role("button", name="Approve the grant").count() == 0
    await maker.check_page()

    checker = await visitor(admins.checker)
    await checker.open("/")
    assert "Staff grants to approve" in await checker.text()
    await checker.open(grant_path)
    assert admins.visitor.email in await checker.text()
    await checker.check_page()
    await checker.open_section("Approve")
    await checker.click("Approve the grant")
    assert (await checker.notice()).startswith("The role is granted.")
    member = await market.get(f"/api/staff/{admins.user_id}", admins.checker)
    assert "finance_maker" in member["roles"]
    await maker.open(f"/staff/{admins.user_id}")
    assert "finance maker" in await maker.text()


async def test_a_grant_requires_the_second_factor_and_keeps_the_form(
    visitor: Arrival, system: System, market: Marketplace, admins: Admins
) -> None:
    codes = (await market.post("/api/auth/mfa/recovery-codes", {}, admins.maker))["codes"]
    # A second factor of an hour ago: the API answers AUTH_AAL2_REQUIRED.
    once_more = await market.sign_in(admins.maker.email)
    tokens = await market.post("/api/auth/mfa/verify", {"code": codes[1]}, once_more)
    once_more = SignedInUser(once_more.email, tokens["accessToken"], tokens["refreshToken"])
    one = await visitor(await with_old_factor(system, market, once_more))
    await one.open(f"/staff/{admins.user_id}")
    await one.page.get_by_label("Role", exact=True).select_option("auditor")
    await one.click("Grant the role")
    assert await one.heading() == "Confirm that it is you"
    await one.check_page()
    member = await market.get(f"/api/staff/{admins.user_id}", admins.checker)
    assert "auditor" not in member["roles"]
    await one.fill("Code", codes[0])
    await one.click("Confirm")
    assert (await one.notice()).startswith("The role auditor is granted.")


async def test_the_maker_cannot_approve_by_a_forged_form(visitor: Arrival, market: Marketplace, admins: Admins) -> None:
    grant = await market.post(f"/api/staff/{admins.user_id}/grant", {"role": "finance_checker"}, admins.maker)
    maker = await visitor(admins.maker)
    await maker.open(f"/staff-grants/{grant['id']}")
    token = await maker.page.locator("input[name=_csrf]").first.get_attribute("value")
    forged = await maker.page.request.post(
        f"{maker.console_url}/staff-grants/{grant['id']}/approve",
        form={"_csrf": token or "", "_key": str(uuid4()), "hash": grant["hash"]},
        headers={"Origin": maker.console_url},
    )
    assert (forged.status, "AUTH_FORBIDDEN" in await forged.text()) == (403, True)
    checker = await visitor(admins.checker)
    await checker.open(f"/staff-grants/{grant['id']}")
    await checker.open_section("Reject")
    await checker.click("Reject the grant")
    assert await checker.notice() == "The grant is rejected."
    assert await checker.page.get_by_role("button", name="Approve the grant").count() == 0


async def test_a_prepared_commission_is_rejected_by_a_second_admin(
    visitor: Arrival, market: Marketplace, admins: Admins
) -> None:
    before = (await market.get(f"/api/vendors/{ADA.id}", admins.maker))["commissionBasisPoints"]
    maker = await visitor(admins.maker)
    await maker.open(f"/vendors/{ADA.id}")
    await maker.open_section("Change the commission")
    await maker.fill("Commission in per cent", "4,5 %")
    await maker.click("Prepare the change")
    assert "write per cent, such as 4.50" in await maker.text()
    await maker.fill("Commission in per cent", "4.25")
    await maker.click("Prepare the change")
    assert await maker.notice() == "The change is prepared. A second platform admin approves it."
    path = maker.page.url.removeprefix(maker.console_url)
    assert "4.25 %" in await maker.text()
    assert await maker.page.get_by_role("button", name="Approve the change").count() == 0
    checker = await visitor(admins.checker)
    await checker.open(path)
    await checker.check_page()
    await checker.open_section("Reject")
    await checker.fill("Reason", f"Not agreed {uuid4().hex[:6]}")
    await checker.click("Reject the change")
    assert await checker.notice() == "The change is rejected."
    assert (await market.get(f"/api/vendors/{ADA.id}", admins.maker))["commissionBasisPoints"] == before


async def test_every_screen_of_the_platform_is_accessible(visitor: Arrival, admins: Admins) -> None:
    one = await visitor(admins.maker)
    for path in (*SCREENS, f"/staff/{admins.user_id}"):
        assert (await one.open(path)).status == 200, path
        await one.check_page()


async def test_an_amount_of_the_settings_is_shown_in_naira(visitor: Arrival, admins: Admins) -> None:
    one = await visitor(admins.maker)
    await one.open("/settings?q=DISPATCH_TWO_PERSON_MINOR")
    await check_row(one, "DISPATCH_TWO_PERSON_MINOR", "₦500,000.00")
    assert "kobo" not in await one.text()


async def test_no_other_user_opens_a_screen_of_the_platform(visitor: Arrival) -> None:
    one = await visitor("support")
    for path in SCREENS:
        assert (await one.fetch(path)).status == 403, path
