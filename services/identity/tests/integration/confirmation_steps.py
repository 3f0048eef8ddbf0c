"""Codes that confirm an address, and logins before and after it."""

from typing import Any

from common.primitives.encryption import Encryptor
from contracts.identity import CODE_DELIVERY
from testkit.responses import data_of

from .conftest import CODE_DELIVERY_KEY, IdentityApp

EMAIL, PHONE = "victim@unilag.edu.ng", "+2348031234567"
MINE = "the password of the victim"
QUEUE = "identity.codes"
CODES, REPEATED = "identity.one_time_code_issued.v1", "identity.sign_up_repeated.v1"
CONFIRMED = "identity.email_confirmed.v1"
LOGIN, VERIFY = "/api/auth/login", "/api/auth/otp/verify"


async def codes_sent(app: IdentityApp) -> list[tuple[str, str, bool]]:
    """Address, code, and whether the mail confirms the address: everything that was sent, oldest first."""
    await app.work(QUEUE)
    encryptor = Encryptor(CODE_DELIVERY, CODE_DELIVERY_KEY)
    return [
        (
            encryptor.decrypt(event["addressSealed"], event["codeId"]),
            encryptor.decrypt(event["codeSealed"], event["codeId"]),
            event.get("confirmsEmail", False),
        )
        for event in await app.published(CODES)
    ]


async def newest_code(app: IdentityApp) -> str:
    return (await codes_sent(app))[-1][1]


async def prove(app: IdentityApp, email: str = EMAIL, **more: Any) -> dict[str, Any]:
    """Return the tokens for the newest code of the address."""
    return data_of(await app.post(VERIFY, {"email": email, "code": await newest_code(app), **more}))


async def log_in(app: IdentityApp, password: str, email: str = EMAIL) -> tuple[int, str, Any]:
    """Status, code and the extension of a login."""
    response = await app.post(LOGIN, {"email": email, "password": password})
    body = response.json()
    return response.status_code, body.get("code", ""), body.get("confirmationRequired")


async def profile_of(app: IdentityApp, tokens: dict[str, Any]) -> dict[str, Any]:
    return (await app.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]


AWAITS_PROOF = (403, "AUTH_FORBIDDEN", True)
WRONG = (401, "AUTH_UNAUTHORIZED", None)
RIGHT = (200, "", None)
