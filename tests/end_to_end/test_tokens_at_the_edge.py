"""Forged tokens, tokens of further issuers and a rotation of our keys, from the client's side
(contract section 5.2).
"""

import base64
import hmac
import json
import time
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pyotp
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from campus_tools.launcher.system import System
from common.auth.user_lookup import AUTHORIZATION_PROFILE_PATH, PREVIOUS_PROFILE_PATH
from operations.journey import Marketplace
from operations.processes import API_PORTS
from tests.end_to_end.command_line import cli_of_the_machine
from tests.end_to_end.issuers import CLUB, CLUB_SECRET, SCHOOL, FurtherIssuers

from .conftest import Users

ORDERS = "/api/orders"


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def part(content: Any) -> str:
    return encoded(json.dumps(content).encode())


def forgeries(good: str, key: dict[str, str]) -> dict[str, str]:
    """Forgeries from a valid token and our published key."""
    head, claims, signature = good.split(".")
    header, output = [json.loads(base64.urlsafe_b64decode(text + "==")) for text in (head, claims)]
    raw, outsider = base64.urlsafe_b64decode(key["x"] + "=="), Ed25519PrivateKey.generate()
    outsider_jwk = {"kty": "OKP", "crv": "Ed25519", "x": encoded(outsider.public_key().public_bytes_raw())}

    def by_outsider(**changed: Any) -> str:
        text = f"{part({**header, **changed})}.{claims}"
        return f"{text}.{encoded(outsider.sign(text.encode()))}"

    def by_secret(secret: bytes) -> str:
        text = f"{part({**header, 'alg': 'HS256'})}.{claims}"
        return f"{text}.{encoded(hmac.digest(secret, text.encode(), 'sha256'))}"

    scalar = base64.urlsafe_b64decode(signature + "==")
    moved = int.from_bytes(scalar[32:], "little") + 2**252 + 27742317777372353535851937790883648493
    deep = encoded(b'{"alg":"EdDSA","x":' + b"[" * 2_000 + b"]" * 2_000 + b"}")
    return {
        "alg none": f"{part({**header, 'alg': 'none'})}.{claims}.",
        "alg NONE": f"{part({**header, 'alg': 'NONE'})}.{claims}.",
        "HS256 with the raw key": by_secret(raw),
        "HS256 with the JWK": by_secret(json.dumps(key).encode()),
        "a stranger's signature": by_outsider(),
        "a stranger's key in the header": by_outsider(jwk=outsider_jwk),
        "a stranger's address in the header": by_outsider(jku="http://127.0.0.1:9/keys"),
        "an unknown kid": by_outsider(kid=str(uuid4())),
        "a kid that is a path": by_outsider(kid="../../etc/passwd"),
        "a kid that is a list": by_outsider(kid=[header["kid"]]),
        "crit": by_outsider(crit=["exp"]),
        "signature of zeros": f"{head}.{claims}.{encoded(bytes(64))}",
        "S + L": f"{head}.{claims}.{encoded(scalar[:32] + moved.to_bytes(32, 'little'))}",
        "no signature": f"{head}.{claims}.",
        "changed claims": f"{head}.{part({**output, 'role': 'platform_admin'})}.{signature}",
        "padding": f"{good}==",
        "a dot more": f"{good}.",
        "five parts": f"{good}.aaaa.aaaa",
        "JSON serialization": json.dumps({"protected": head, "payload": claims, "signature": signature}),
        "a header nested deeply": f"{deep}.{claims}.{signature}",
        "seven kilobytes": f"{head}.{part({**output, 'x': 'x' * 5_000})}.{signature}",
        "no token": "null",
    }


async def requested(client: httpx.AsyncClient, token: str, path: str = ORDERS, **more: Any) -> tuple[int, str | None]:
    response = await client.get(path, headers={"Authorization": f"Bearer {token}"}, **more)
    if response.status_code >= 400:
        assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, response.json().get("code")


@pytest_asyncio.fixture(loop_scope="session")
async def service_address(system: System):
    """Yield the orders service without the gateway: it trusts no header of the gateway either."""
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{system.port_base + API_PORTS['orders']}", timeout=60
    ) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def provisioned(market: Marketplace, system: System, issuers: FurtherIssuers):
    """Return a new user of the school for whom create-user was called."""
    user_id = uuid4()
    await create_user(market, system, user_id)
    return user_id


async def create_user(market: Marketplace, system: System, user_id) -> None:
    response = await market.http.post(
        "/functions/v1/create-user",
        json={"user": {"id": str(user_id), "email": f"{user_id}@unilag.edu.ng"}},
        headers={"Authorization": f"Bearer {system.secrets['SERVICE_ROLE_KEY']}"},
    )
    assert response.status_code == 200, response.text


async def test_no_forged_token_passes_the_edge_nor_a_service(
    market: Marketplace, users: Users, service_address
) -> None:
    good = users.buyer.headers["Authorization"].removeprefix("Bearer ")
    kid = jwt.get_unverified_header(good)["kid"]
    published = (await market.http.get("/.well-known/jwks.json")).json()["keys"]
    key = next(entry for entry in published if entry["kid"] == kid)
    for client in (market.http, service_address):
        assert (await requested(client, good))[0] == 200
        for form, forged in forgeries(good, key).items():
            assert (form, await requested(client, forged)) == (form, (401, "AUTH_UNAUTHORIZED"))
        two = [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}")]
        response = await client.get(ORDERS, headers=two)
        assert (response.status_code, response.json()["code"]) == (401, "AUTH_UNAUTHORIZED")


async def test_a_user_of_the_school_is_a_buyer_only_after_create_user(
    market: Marketplace, system: System, issuers: FurtherIssuers, service_address
) -> None:
    user_id = uuid4()
    token = issuers.school(user_id)
    for client in (market.http, service_address):
        response = await client.get(ORDERS, headers={"Authorization": f"Bearer {token}"})
        assert (response.status_code, response.json()["code"]) == (403, "AUTH_FORBIDDEN")
        assert response.json()["userId"] == str(user_id)
    await create_user(market, system, user_id)
    for client in (market.http, service_address):
        assert await requested(client, token) == (200, None)
    # The edge does not route the internal user endpoints.
    for path in (AUTHORIZATION_PROFILE_PATH, PREVIOUS_PROFILE_PATH):
        assert await requested(market.http, token, path) == (404, "RESOURCE_NOT_FOUND")
    # The edge counts the user in the tier of the roles that identity returned.
    response = await market.http.get(ORDERS, headers={"Authorization": f"Bearer {token}"})
    assert response.headers["RateLimit-Limit"] == "100000"
    profile = (await market.http.get("/api/profiles/current", headers={"Authorization": f"Bearer {token}"})).json()[
        "data"
    ]
    assert (profile["id"], profile["role"]) == (str(user_id), "buyer")


async def test_a_user_of_the_club_is_identified_by_issuer_and_subject(
    market: Marketplace, system: System, issuers: FurtherIssuers
) -> None:
    token = issuers.club("member-7")
    refused = await market.http.get(ORDERS, headers={"Authorization": f"Bearer {token}"})
    assert refused.status_code == 403
    await create_user(market, system, refused.json()["userId"])
    assert await requested(market.http, token) == (200, None)
    # Only the club may grant roles of staff, which need a second factor of ours.
    staff = {"app_metadata": {"roles": ["auditor"]}}
    assert await requested(market.http, issuers.club("member-7", **staff), "/api/payouts") == (
        403,
        "AUTH_AAL2_REQUIRED",
    )


FAULTS = {
    "another key": lambda issuers, sub: issuers.school(sub, key=issuers.outsider),
    "an unknown kid": lambda issuers, sub: issuers.school(sub, kid="another"),
    "another audience": lambda issuers, sub: issuers.school(sub, aud="campus-marketplace"),
    "the school's key for the club": lambda issuers, sub: issuers.school(sub, iss=CLUB),
    "the club's secret for the school": lambda issuers, sub: issuers.club(sub, iss=SCHOOL),
    "the club's secret for us": lambda issuers, sub: issuers.club(sub, iss="http://localhost:8080"),
    "another secret": lambda issuers, sub: issuers.club(sub, secret="x" * 32),
    "another algorithm": lambda issuers, sub: issuers.club(sub, algorithm="HS512"),
    "an issuer that nobody listed": lambda issuers, sub: issuers.school(sub, iss="https://evil.example"),
    "a subject that is no UUID": lambda issuers, sub: issuers.school("tola"),
    "of the future": lambda issuers, sub: issuers.school(sub, iat=int(time.time()) + 300),
    "no key id": lambda issuers, sub: jwt.encode(issuers.claims(SCHOOL, sub), issuers.key, algorithm="ES256"),
    "no algorithm": lambda issuers, sub: jwt.encode(issuers.claims(CLUB, sub), None, algorithm="none"),
    "HS256 at the school": lambda issuers, sub: jwt.encode(
        issuers.claims(SCHOOL, sub), CLUB_SECRET, algorithm="HS256", headers={"kid": "school"}
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_of_a_foreign_token_is_refused(
    market: Marketplace, issuers: FurtherIssuers, provisioned, fault: str
) -> None:
    assert (fault, await requested(market.http, FAULTS[fault](issuers, provisioned))) == (
        fault,
        (401, "AUTH_UNAUTHORIZED"),
    )


async def test_a_foreign_expired_token_is_called_expired_and_school_staff_is_refused(
    market: Marketplace, issuers: FurtherIssuers, provisioned
) -> None:
    now = int(time.time())
    assert await requested(market.http, issuers.school(provisioned, iat=now - 600, exp=now - 60)) == (
        401,
        "AUTH_TOKEN_EXPIRED",
    )
    grand = {"app_metadata": {"roles": ["auditor"]}, "aal": "aal2", "amr": [{"method": "totp", "timestamp": now}]}
    token = issuers.school(provisioned, **grand)
    assert await requested(market.http, token, "/api/payouts") == (403, "AUTH_FORBIDDEN")


async def test_a_user_of_the_school_steps_up_with_a_local_factor(
    market: Marketplace, issuers: FurtherIssuers, provisioned
) -> None:
    headers = {"Authorization": f"Bearer {issuers.school(provisioned)}"}
    enrolled = (await market.http.post("/api/auth/mfa/enroll", json={}, headers=headers)).json()["data"]
    code = pyotp.TOTP(enrolled["secret"]).now()
    response = await market.http.post("/api/auth/mfa/verify", json={"code": code}, headers=headers)
    assert (response.status_code, response.json()["data"]["aal"]) == (200, "aal2")
    token = response.json()["data"]["accessToken"]
    assert jwt.decode(token, options={"verify_signature": False})["sub"] == str(provisioned)
    assert await requested(market.http, token) == (200, None)


async def test_a_rotation_is_a_command_without_failed_requests(
    market: Marketplace, users: Users, system: System
) -> None:
    """The new key signs a minute and a half later: whatever runs after this test in this run shows that nothing fails
    then.
    """
    before = (await market.http.get("/.well-known/jwks.json")).json()["keys"]
    code, output = system.command("identity", "rotate-keys")
    assert code == 0, output
    after = (await market.http.get("/.well-known/jwks.json")).json()["keys"]
    assert {key["kid"] for key in before} < {key["kid"] for key in after}
    (new,) = {key["kid"] for key in after} - {key["kid"] for key in before}
    assert f"Key {new} is published and signs from" in output
    logged = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert [line["kid"] for line in logged if line["event"] == "audit: signing key published"] == [new]
    again, output_again = system.command("identity", "rotate-keys")
    assert (again, "Nothing to do" in output_again) == (0, True)
    assert "Nothing to do" in (await cli_of_the_machine(system).done("keys", "rotate", "--yes"))["said"]
    assert system.command("identity", "retire-keys", "--compromised", "nobody")[0] == 1
    assert system.command("identity", "retire-keys", "--now")[0] == 64
    for user in (users.buyer, users.vendor):
        assert (await market.http.get("/api/profiles/current", headers=user.headers)).status_code == 200
    tag = (await market.http.get("/.well-known/jwks.json")).headers["etag"]
    unchanged = await market.http.get("/.well-known/jwks.json", headers={"If-None-Match": tag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
