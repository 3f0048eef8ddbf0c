"""Our tokens against the real verifier, over the key set as it is served (contract section 5)."""

import asyncio
import base64
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import jwt
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from identity.credentials.signing_keys import SigningKey
from identity.store import keys
from identity.use_cases.signing_keys.ensure_signing_key import ensure_signing_key
from testkit.responses import UNAUTHORIZED, error_of

from .conftest import IdentityApp


@pytest_asyncio.fixture
async def signed(app: IdentityApp) -> AsyncIterator[tuple[IdentityApp, SigningKey, dict[str, Any], dict[str, Any]]]:
    """Yield the service, its own signing key, and the claims and the public key of a good token of it."""
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    async with app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        current = await keys.find_current_key(uow, app.clock.now())
    assert current is not None
    async with httpx.AsyncClient(timeout=60) as client:
        public = (await client.get(app.jwks_url)).json()["keys"][0]
    claims = jwt.decode(tokens["accessToken"], options={"verify_signature": False})
    yield app, app.dependencies.signing_keys.open(*current), claims, public


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def by_hand(header: dict[str, Any], claims: dict[str, Any], key: SigningKey | None) -> str:
    """Return a token whose header no library would write."""
    text = f"{encoded(header)}.{encoded(claims)}"
    signature = key.private_key.sign(text.encode()) if key else b""
    return f"{text}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


async def code_for(app: IdentityApp, token: str) -> tuple[int, str | None]:
    response = await app.get("/api/profiles/current", token=token)
    return response.status_code, response.json().get("code")


async def test_the_claims_are_those_of_the_contract(
    signed: tuple[IdentityApp, SigningKey, dict[str, Any], dict[str, Any]],
) -> None:
    app, _, claims, _ = signed
    now = int(app.clock.now().timestamp())
    assert claims["iss"] == "http://localhost:8080"
    assert claims["aud"] == "campus-marketplace"
    assert (claims["iat"], claims["exp"]) == (now, now + 900)
    assert (claims["role"], claims["aal"]) == ("buyer", "aal1")
    assert claims["amr"] == [{"method": "password", "timestamp": now}]
    assert claims["app_metadata"].keys() == {
        "roles",
        "vendor_id",
        "campus_id",
        "hub_id",
        "packing_vendor_id",
    }


async def test_every_fault_of_a_token_is_unauthorized_and_only_age_is_expiry(
    signed: tuple[IdentityApp, SigningKey, dict[str, Any], dict[str, Any]],
) -> None:
    app, key, claims, public = signed
    good = {"alg": "EdDSA", "kid": key.kid, "typ": "JWT"}
    raw = base64.urlsafe_b64decode(public["x"] + "==")
    hs_text = f"{encoded({**good, 'alg': 'HS256'})}.{encoded(claims)}"
    hs_signature = base64.urlsafe_b64encode(hmac.digest(raw, hs_text.encode(), "sha256")).decode().rstrip("=")
    token = by_hand(good, claims, key)
    head, _, signature = token.split(".")
    federated = SigningKey(key.kid, Ed25519PrivateKey.generate())
    now = claims["iat"]
    assert await code_for(app, token) == (200, None)
    faults = {
        "alg none": by_hand({**good, "alg": "none"}, claims, None),
        "alg None": by_hand({**good, "alg": "None"}, claims, None),
        "no signature": by_hand(good, claims, None),
        "HS256 with the public key": f"{hs_text}.{hs_signature}",
        "ES256 named over an Ed25519 key": by_hand({**good, "alg": "ES256"}, claims, key),
        "unknown kid": by_hand({**good, "kid": str(new_id())}, claims, key),
        "kid of another shape": by_hand({**good, "kid": ["x"]}, claims, key),
        "kid is a path": by_hand({**good, "kid": "../../../dev/null"}, claims, key),
        "no kid": by_hand({"alg": "EdDSA"}, claims, key),
        "crit": by_hand({**good, "crit": ["exp"]}, claims, key),
        "own key in the header": by_hand({**good, "jwk": public, "kid": "x"}, claims, federated),
        "another key's signature": by_hand(good, claims, federated),
        "changed claims": f"{head}.{encoded({**claims, 'role': 'platform_admin'})}.{signature}",
        "wrong audience": by_hand(good, {**claims, "aud": "another"}, key),
        "wrong issuer": by_hand(good, {**claims, "iss": "http://evil.example"}, key),
        "no audience": by_hand(good, {k: v for k, v in claims.items() if k != "aud"}, key),
        "no expiry": by_hand(good, {k: v for k, v in claims.items() if k != "exp"}, key),
        "of the future": by_hand(good, {**claims, "iat": now + 3600, "exp": now + 7200}, key),
        "sub is no user": by_hand(good, {**claims, "sub": "root"}, key),
        "roles are no list": by_hand(good, {**claims, "app_metadata": {"roles": "platform_admin"}}, key),
        "two dots": "a.b.c",
        "expired and by a stranger": by_hand(good, {**claims, "iat": now - 9000, "exp": now - 8000}, federated),
    }
    for fault, forged in faults.items():
        assert (fault, await code_for(app, forged)) == (fault, UNAUTHORIZED)
    expired = by_hand(good, {**claims, "iat": now - 1000, "exp": now - 100}, key)
    assert await code_for(app, expired) == (401, "AUTH_TOKEN_EXPIRED")


async def test_a_rejected_header_is_unauthorized(app: IdentityApp) -> None:
    for header in ("Bearer", "Bearer ", "Basic abc", "Bearer a b"):
        response = await app.client.get("/api/profiles/current", headers={"Authorization": header})
        assert error_of(response) == UNAUTHORIZED


async def test_the_key_set_shows_no_private_key_and_is_bare(app: IdentityApp) -> None:
    response = await app.get("/.well-known/jwks.json")
    assert response.status_code == 200
    assert response.json().keys() == {"keys"}
    for key in response.json()["keys"]:
        assert key.keys() == {"kty", "crv", "x", "kid", "alg", "use"}
        assert (key["kty"], key["alg"], key["use"]) == ("OKP", "EdDSA", "sig")


async def test_the_private_key_is_stored_encrypted(app: IdentityApp) -> None:
    row = (await app.fetch("SELECT kid, private_key_sealed FROM signing_keys"))[0]
    key = app.dependencies.signing_keys.open(row["kid"], row["private_key_sealed"])
    raw = key.private_key.private_bytes_raw()
    assert base64.b64encode(raw).decode() not in row["private_key_sealed"]
    assert raw not in base64.urlsafe_b64decode(row["private_key_sealed"].rpartition(".")[2])


async def test_ten_processes_that_start_at_once_make_one_key(app: IdentityApp) -> None:
    await app.fetch("DELETE FROM signing_keys")
    dependencies = app.dependencies
    await asyncio.gather(
        *(ensure_signing_key(dependencies.database, dependencies.signing_keys, now=app.clock.now()) for _ in range(10))
    )
    assert await app.count("signing_keys") == 1
