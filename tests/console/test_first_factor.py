"""The console asks staff for a second factor before the first page, and sets up the first one; without a browser."""

import re

import httpx
import pyotp
from starlette.responses import Response

from campus_tools.launcher.system import System
from console.session import Session, Tokens
from operations.journey import Marketplace, SignedInUser
from tests.console.browser import sessions_of
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import newcomer


def client_of(system: System, user: SignedInUser) -> httpx.AsyncClient:
    """Return an HTTP client with the session's cookie."""
    cookies, session = sessions_of(system.secrets), Session()
    session.accept(Tokens(user.access_token, user.refresh_token, 900), cookies.now())
    written = Response()
    cookies.write(written, session)
    name, _, value = written.headers["set-cookie"].partition(";")[0].partition("=")
    jar = httpx.Cookies()
    # The host of the console, so that its responses replace the cookie.
    jar.set(name, value, domain="127.0.0.1")
    headers = {"Origin": system.console_url}
    return httpx.AsyncClient(base_url=system.console_url, cookies=jar, headers=headers, trust_env=False)


def hidden(page: httpx.Response, name: str) -> str:
    found = re.search(f'name="{name}" value="([^"]*)"', page.text)
    assert found is not None, page.text
    return found[1]


async def test_a_new_member_of_the_staff_sets_up_a_factor_before_the_first_page(
    system: System, market: Marketplace, users: Users
) -> None:
    student = await newcomer(market)
    await market.post(f"/api/staff/{student.id}/grant", {"role": "auditor"}, users.admin)
    async with client_of(system, await market.sign_in(student.email)) as browser:
        page = await browser.get("/transactions")
        assert (page.status_code, "Set up an authenticator app" in page.text) == (403, True)
        page = await browser.post("/second-factor", data={"_csrf": hidden(page, "_csrf")})
        fields = {"_csrf": hidden(page, "_csrf"), "secret": hidden(page, "secret")}
        wrong = await browser.post("/second-factor/code", data={**fields, "code": "000000"})
        assert hidden(wrong, "secret") == fields["secret"]
        code = pyotp.TOTP(fields["secret"]).now()
        page = await browser.post("/second-factor/code", data={**fields, "code": code})
        assert page.status_code == 303, page.text
        assert (await browser.get("/transactions")).status_code == 200
    async with client_of(system, await market.sign_in(student.email)) as browser:
        page = await browser.get("/transactions?type=charge")
        assert (page.status_code, "Confirm that it is you" in page.text) == (403, True)
