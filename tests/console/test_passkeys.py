"""A passkey as the second factor of a step, with the virtual authenticator of Chromium."""

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.console.browser import Visitor, adopt_session
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users

CREATE = """
async (options) => {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return (await navigator.credentials.create({ publicKey })).toJSON();
}
"""


async def visitor_with_authenticator(visitor: Arrival) -> Visitor:
    """Return a browser with a platform authenticator, at a host name: no passkey is bound to an IP address."""
    one = await visitor(shared=False)
    one.console_url = one.console_url.replace("127.0.0.1", "localhost")
    devtools = await one.context.new_cdp_session(one.page)
    await devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    await devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return one


async def request_recovery_codes(one: Visitor) -> None:
    await one.open("/me")
    await one.click("Make new recovery codes")
    assert await one.heading() == "Confirm that it is you"


async def test_a_step_goes_on_after_a_passkey(
    visitor: Arrival, system: System, market: Marketplace, users: Users
) -> None:
    one = await visitor_with_authenticator(visitor)
    await one.open("/sign-in")
    started = await market.post("/api/auth/mfa/passkeys/options", {}, users.hub)
    credential = await one.page.evaluate(CREATE, started["publicKey"])
    registered = {"challengeId": started["challengeId"], "name": "Laptop", "credential": credential}
    await market.post("/api/auth/mfa/passkeys", registered, users.hub)
    await adopt_session(one, await market.sign_in("hub@campus.example"), system.secrets)
    await request_recovery_codes(one)
    await one.check_page()
    await one.click("Use a passkey")
    await one.page.get_by_role("heading", name="Recovery codes").wait_for()
    assert await one.page.locator("main li").count() >= 8
    # The session has the second factor now: the next step needs none.
    await one.open("/me")
    await one.click("Make new recovery codes")
    assert await one.heading() == "Recovery codes"


async def test_without_a_passkey_the_form_stays_and_accepts_a_code(
    visitor: Arrival, system: System, market: Marketplace
) -> None:
    one = await visitor_with_authenticator(visitor)
    await adopt_session(one, await market.sign_in("vendor2@unilag.edu.ng"), system.secrets)
    await request_recovery_codes(one)
    await one.click("Use a passkey")
    await one.page.get_by_text("The passkey was not used").wait_for()
    assert await one.page.get_by_label("Code").is_enabled()
    await one.check_page()
