"""Requests of one-time codes and reset tokens, and what notifications would send."""

from typing import Any

from common.primitives.encryption import Encryptor
from contracts.identity import CODE_DELIVERY

from .conftest import CODE_DELIVERY_KEY, IdentityApp

EMAIL, PHONE = "tola@unilag.edu.ng", "+2348031234567"
NEW_PASSWORD = "another good password"
QUEUE = "identity.codes"
ISSUED = "identity.one_time_code_issued.v1"
REVOKED = "identity.session_revoked.v1"


async def sent(app: IdentityApp) -> list[dict[str, str]]:
    """Return what notifications would send: address, code, purpose and channel in the clear, oldest first."""
    await app.work(QUEUE)
    encryptor = Encryptor(CODE_DELIVERY, CODE_DELIVERY_KEY)
    return [
        {
            "to": encryptor.decrypt(event["addressSealed"], event["codeId"]),
            "code": encryptor.decrypt(event["codeSealed"], event["codeId"]),
            "purpose": event["purpose"],
            "channel": event["channel"],
        }
        for event in await app.published(ISSUED)
    ]


async def code_for(app: IdentityApp, **address: str) -> str:
    response = await app.post("/api/auth/otp", address)
    assert (response.status_code, response.json()["data"]) == (200, {"expiresIn": 600})
    return (await sent(app))[-1]["code"]


async def reset_token(app: IdentityApp, email: str = EMAIL) -> str:
    response = await app.post("/api/auth/password/forgot", {"email": email})
    assert (response.status_code, response.json()["data"]) == (200, {"expiresIn": 1800})
    return (await sent(app))[-1]["code"]


async def profile_of(app: IdentityApp, tokens: dict[str, Any]) -> dict[str, Any]:
    return (await app.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]


async def is_alive(app: IdentityApp, tokens: dict[str, Any]) -> bool:
    return (await app.get("/api/profiles/current", token=tokens["accessToken"])).status_code == 200


def wrong(code: str) -> str:
    return str((int(code) + 1) % 10**6).zfill(6)


def problem_of(response: Any) -> tuple[int, str, list[str]]:
    body = response.json()
    return response.status_code, body["code"], [param["name"] for param in body["invalid_params"]]


WRONG_CODE = (422, "VALIDATION_FAILED", ["code"])
WRONG_TOKEN = (422, "VALIDATION_FAILED", ["token"])
