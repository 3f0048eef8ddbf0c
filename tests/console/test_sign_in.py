"""Sign-in, expiry, step-up and the protection of forms, in a real browser."""

import asyncio
import re

import httpx
import pyotp
import pytest
from starlette.responses import Response

from campus_tools.launcher.system import System
from console.session import Session, Tokens
from operations.journey import Marketplace
from tests.console.browser import NARROW, PAGE_BYTES_MAX, sessions_of
from tests.console.conftest import Arrival
from tests.console.decisions import enter_code
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import newcomer, paid_order


@pytest.mark.usefixtures("unused_codes")
async def test_staff_sign_in_with_two_factors_by_keyboard_alone(visitor: Arrival, system: System) -> None:
    one = await visitor()
    keyboard = one.page.keyboard
    await one.open("/me")
    await one.page.locator("body").press("Tab")
    for _ in range(2):
        if await one.page.evaluate("document.activeElement.id") != "field-email":
            await keyboard.press("Tab")
    await keyboard.type("admin@campus.example")
    await keyboard.press("Tab")
    await keyboard.type(system.secrets["DEMO_PASSWORD"])
    await keyboard.press("Enter")
    await one.page.get_by_label("Code", exact=True).wait_for()
    await one.check_page()
    await one.page.get_by_label("Code", exact=True).focus()
    await keyboard.type(pyotp.TOTP(system.secrets["DEMO_TOTP_ADMIN"]).now())
    await keyboard.press("Enter")
    await one.page.get_by_role("heading", name="My account").wait_for()
    assert "admin@campus.example" in await one.text()


async def test_a_wrong_password_is_refused_with_its_request_id(visitor: Arrival) -> None:
    one = await visitor()
    await one.open("/sign-in")
    await one.fill("Mail address", "support@campus.example")
    await one.fill("Password", "not-the-password")
    await one.click("Sign in")
    alert = await one.page.get_by_role("alert").inner_text()
    assert "AUTH_UNAUTHORIZED" in alert
    assert "req_" in alert
    assert await one.page.get_by_label("Mail address").input_value() == "support@campus.example"
    assert await one.page.get_by_label("Password").input_value() == ""
    await one.check_page()


async def test_a_forgotten_password_is_replaced_by_a_mailed_code(visitor: Arrival, market: Marketplace) -> None:
    owner = await newcomer(market)
    one = await visitor()
    await one.open("/sign-in")
    assert "Campus Marketplace" in await one.text()
    await one.click("Forgotten password", "link")
    await one.check_page()
    await one.fill("Mail address", owner.email)
    await one.click("Send the code")
    assert await one.notice() == (
        "If an account has this address, a mail with a code is on its way. The code works for 30 minutes."
    )
    await one.check_page()
    await one.fill("Code of the mail", "not-the-code")
    await one.fill("New password", "a new long password 7")
    await one.click("Change the password")
    assert "The code of the mail is wrong" in await one.page.get_by_role("alert").inner_text()

    async def mailed() -> str | None:
        newest = str((await market.messages(owner.email, "email"))[0])
        found = re.search("[A-Za-z0-9_-]{40,}", newest) if "reset your password" in newest else None
        return found and found[0]

    await one.fill("Code of the mail", f" {await market.until('the mail', mailed, 60)} ")
    await one.fill("New password", "a new long password 7")
    await one.click("Change the password")
    assert await one.notice() == "The password is changed. Sign in with it."


async def test_a_wrong_code_is_refused_and_opens_no_page(visitor: Arrival, system: System) -> None:
    one = await visitor()
    await one.open("/sign-in")
    await one.fill("Mail address", "auditor@campus.example")
    await one.fill("Password", system.secrets["DEMO_PASSWORD"])
    await one.click("Sign in")
    await one.fill("Code", "000000")
    await one.click("Verify")
    assert "VALIDATION_FAILED" in await one.page.get_by_role("alert").inner_text()
    await one.open("/me")
    assert await one.heading() == "Second factor"


async def test_a_session_that_ends_in_the_middle_of_a_form_keeps_its_fields(
    visitor: Arrival, system: System, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    support = await market.sign_in_with_two_factors("support@campus.example", "SUPPORT")
    one = await visitor(support)
    await one.open(f"/orders/{order['id']}")
    await one.open_section("Cancel the order")
    await one.fill("Reason", "Buyer wrote: <b>wrong size</b> & colour")
    (await market.http.post("/api/auth/logout", json={}, headers=support.headers)).raise_for_status()
    await one.click("Cancel the order")
    assert await one.heading() == "Sign in again"
    await one.fill("Mail address", "support@campus.example")
    await one.fill("Password", system.secrets["DEMO_PASSWORD"])
    await one.click("Sign in")
    await enter_code(one, system, "SUPPORT", "Verify")
    assert await one.heading() == "Send the form again"
    assert "Buyer wrote: <b>wrong size</b> & colour" in await one.text()
    await one.check_page()
    await one.click("Send it now")
    assert await one.notice() == "The order is cancelled."


async def test_a_step_that_needs_a_second_factor_goes_on_after_the_code(
    visitor: Arrival, system: System, market: Marketplace
) -> None:
    one = await visitor(await market.sign_in("vendor2@unilag.edu.ng"))
    await one.open("/me")
    await one.click("Make new recovery codes")
    assert await one.heading() == "Confirm that it is you"
    await one.check_page()
    await one.fill("Code", "000000")
    await one.click("Confirm")
    assert "wrong or was used before" in await one.text()
    await enter_code(one, system, "VENDOR2", "Confirm")
    assert await one.heading() == "Recovery codes"
    assert await one.page.locator("main li").count() >= 8


async def test_staff_without_a_second_factor_show_it_before_the_first_page(
    visitor: Arrival, system: System, market: Marketplace
) -> None:
    one = await visitor(await market.sign_in("auditor@campus.example"))
    await one.open("/transactions?type=charge")
    assert await one.heading() == "Confirm that it is you"
    await one.check_page()
    await enter_code(one, system, "AUDITOR", "Confirm")
    assert await one.heading() == "Transactions"
    assert one.page.url.endswith("/transactions?type=charge")


async def test_a_new_member_of_the_staff_sets_up_the_first_second_factor(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    student = await newcomer(market)
    await market.post(f"/api/staff/{student.id}/grant", {"role": "auditor"}, users.admin)
    one = await visitor(await market.sign_in(student.email))
    await one.open("/transactions")
    assert await one.heading() == "Set up your second factor"
    await one.check_page()
    await one.click("Set up an authenticator app")
    await one.check_page()
    secret = await one.page.locator("main code").inner_text()
    await one.fill("Code", "000000")
    await one.click("Verify")
    assert await one.page.locator("main code").last.inner_text() == secret
    await one.fill("Code", pyotp.TOTP(secret).now())
    await one.click("Verify")
    assert (await one.notice()).startswith("Your second factor is set up.")
    await one.open("/transactions")
    assert await one.heading() == "Transactions"


async def test_a_changed_held_form_is_refused(visitor: Arrival, market: Marketplace) -> None:
    one = await visitor(await market.sign_in("vendor2@unilag.edu.ng"))
    await one.open("/me")
    await one.click("Make new recovery codes")
    await one.page.locator("input[name=_held]").evaluate(
        "(held) => { held.value = held.value.slice(0, -8) + 'AAAAAAAA'; }"
    )
    await one.fill("Code", "123456")
    await one.click("Confirm")
    assert await one.heading() == "This form is out of date"


async def test_an_ended_token_is_exchanged_once_for_all_requests_of_a_page(
    visitor: Arrival, system: System, market: Marketplace
) -> None:
    user = await market.sign_in("vendor@unilag.edu.ng")
    cookies, session = sessions_of(system.secrets), Session()
    session.accept(Tokens(user.access_token, user.refresh_token, 0), cookies.now())
    written = Response()
    cookies.write(written, session)
    header = {"Cookie": written.headers["set-cookie"].partition(";")[0]}
    async with httpx.AsyncClient(base_url=system.console_url, headers=header, trust_env=False) as http:
        responses = await asyncio.gather(*(http.get("/me") for _ in range(6)))
    assert [response.status_code for response in responses] == [200] * 6
    renewed = {cookies.read([response.headers["set-cookie"].partition(";")[0]]).refresh_token for response in responses}
    assert len(renewed) == 1
    assert renewed != {user.refresh_token}


async def test_a_form_of_another_page_is_refused(visitor: Arrival, system: System, users: Users) -> None:
    one = await visitor("support")
    await one.open("/me")
    (cookie,) = await one.context.cookies()
    csrf = await one.page.locator("input[name=_csrf]").first.get_attribute("value")
    async with httpx.AsyncClient(base_url=system.console_url, trust_env=False) as http:
        header = {"Cookie": f"{cookie['name']}={cookie['value']}"}
        own = {**header, "Origin": system.console_url}
        for headers, fields in (
            (header, {"_csrf": csrf}),
            ({**header, "Origin": "https://evil.example"}, {"_csrf": csrf}),
            ({**own, "Sec-Fetch-Site": "same-site"}, {"_csrf": csrf}),
            (own, {}),
            (own, {"_csrf": "guessed"}),
        ):
            response = await http.post("/sign-out", headers=headers, data=fields)
            assert response.status_code == 403, headers
    await one.open("/me")
    assert await one.heading() == "My account"


async def test_a_page_without_permission_is_refused_by_its_address(visitor: Arrival) -> None:
    one = await visitor("vendor")
    response = await one.open("/campus-orders")
    assert response.status == 403
    assert await one.page.locator("a[href='/campus-orders']").count() == 0
    assert await one.heading() == "You may not open this page"


async def test_a_buyer_finds_no_screens(visitor: Arrival) -> None:
    one = await visitor("buyer")
    assert (await one.open("/")).status == 403
    await one.check_page()


async def test_pages_have_strict_headers_and_are_light(visitor: Arrival) -> None:
    one = await visitor("support")
    response = await one.open("/campus-orders")
    headers = response.headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    sizes = await one.bytes_loaded()
    assert any(address.endswith(".css") for address in sizes), sizes
    assert sum(sizes.values()) <= PAGE_BYTES_MAX, sizes


async def test_the_console_works_without_javascript_on_a_phone(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    one = await visitor("support", javascript=False)
    await one.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await one.open("/")
    await one.fill("Search", order["number"])
    await one.page.get_by_label("Search", exact=True).press("Enter")
    assert order["number"] in await one.heading()


async def test_a_second_click_cancels_once(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    one = await visitor("support", javascript=False)
    await one.open(f"/orders/{order['id']}")
    await one.open_section("Cancel the order")
    await one.fill("Reason", "Buyer asked")
    await one.page.get_by_role("button", name="Cancel the order").dblclick()
    assert await one.notice() == "The order is cancelled."
    await market.order_reaches(users.buyer, order["id"], "refund_pending", "refunded")
