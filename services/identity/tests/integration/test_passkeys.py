"""Passkeys as a second factor: real attestations and assertions of an authenticator in software (contract sections 5
and 10).
"""

import asyncio
import base64
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from common.primitives.ids import new_id
from testkit.authenticator import USER_PRESENT, USER_VERIFIED, Authenticator, b64
from testkit.responses import CONFLICT, STEP_UP_REQUIRED, data_of, error_of

from .conftest import IdentityApp

ORIGIN = "http://localhost:8080"
TOLA, BOLA = "tola@unilag.edu.ng", "bola@unilag.edu.ng"
PASSKEYS = "/api/auth/mfa/passkeys"


async def signed_up(app: IdentityApp, email: str = TOLA) -> dict[str, Any]:
    await app.sign_up(email)
    return await app.log_in(email)


async def options(app: IdentityApp, tokens: dict[str, Any], path: str = "options") -> dict[str, Any]:
    return data_of(await app.post(f"{PASSKEYS}/{path}", token=tokens["accessToken"]))


async def send(app: IdentityApp, tokens: dict[str, Any], challenge: dict[str, Any], made: Any) -> Any:
    body = {"challengeId": challenge["challengeId"], "name": "Phone", "credential": made}
    return await app.post(PASSKEYS, body, token=tokens["accessToken"])


async def register(app: IdentityApp, tokens: dict[str, Any], authenticator: Authenticator) -> dict[str, Any]:
    challenge = await options(app, tokens)
    return data_of(await send(app, tokens, challenge, authenticator.make(challenge["publicKey"])), 201)


async def show(app: IdentityApp, tokens: dict[str, Any], challenge: dict[str, Any], shown: Any) -> Any:
    body = {"challengeId": challenge["challengeId"], "credential": shown}
    return await app.post(f"{PASSKEYS}/verify", body, token=tokens["accessToken"])


async def step_up(app: IdentityApp, tokens: dict[str, Any], authenticator: Authenticator) -> dict[str, Any]:
    challenge = await options(app, tokens, "assertion-options")
    return data_of(await show(app, tokens, challenge, authenticator.show(challenge["publicKey"])))


async def everything(app: IdentityApp) -> list[Any]:
    """Return the rows that a rejected request must not change."""
    return [
        [tuple(row) for row in await app.fetch(f"SELECT * FROM {table} ORDER BY 1")]
        for table in ("passkeys", "passkey_challenges", "refresh_tokens", "accounts")
    ]


@pytest.mark.parametrize("make_key", [lambda: generate_private_key(SECP256R1()), Ed25519PrivateKey.generate])
async def test_a_passkey_is_a_second_factor(app: IdentityApp, make_key: Callable[[], Any]) -> None:
    tokens = await signed_up(app)
    authenticator = Authenticator(ORIGIN, key=make_key())
    challenge = await options(app, tokens)
    offered = challenge["publicKey"]
    assert offered["rp"] == {"name": "Campus Marketplace", "id": "localhost"}
    assert offered["authenticatorSelection"]["userVerification"] == "required"
    assert {kind["alg"] for kind in offered["pubKeyCredParams"]} == {-7, -8}
    factor = data_of(await send(app, tokens, challenge, authenticator.make(offered)), 201)
    assert factor.keys() == {"id", "kind", "name", "createdAt", "lastUsedAt", "confirmed"}
    assert (factor["kind"], factor["name"], factor["lastUsedAt"], factor["confirmed"]) == (
        "passkey",
        "Phone",
        None,
        True,
    )

    later = await app.log_in(TOLA)
    assert (later["aal"], later["mfaRequired"]) == ("aal1", True)
    stepped = await step_up(app, later, authenticator)
    assert (stepped["aal"], stepped["mfaRequired"]) == ("aal2", False)
    caller = await app.runtime.verifier.caller_of(stepped["accessToken"])
    caller.must_have_stepped_up(app.clock.now())
    rows = (await app.get("/api/auth/mfa/factors", token=stepped["accessToken"])).json()["data"]
    assert [(row["id"], row["lastUsedAt"] is not None) for row in rows] == [(factor["id"], True)]


async def test_a_further_factor_of_either_kind_needs_a_fresh_second_factor(app: IdentityApp) -> None:
    tokens = await signed_up(app)
    thief = await app.log_in(TOLA)
    planted = await options(app, thief)
    totp = (await app.post("/api/auth/mfa/enroll", token=thief["accessToken"])).json()["data"]
    owners = Authenticator(ORIGIN)
    await register(app, tokens, owners)
    before = await everything(app)
    body = {"code": app.code(totp["secret"]), "factorId": totp["factorId"]}
    rejected = [
        await app.post(f"{PASSKEYS}/options", token=thief["accessToken"]),
        await send(app, thief, planted, Authenticator(ORIGIN).make(planted["publicKey"])),
        await app.post("/api/auth/mfa/enroll", token=thief["accessToken"]),
        await app.post("/api/auth/mfa/verify", body, token=thief["accessToken"]),
        await app.post("/api/auth/mfa/verify", {"code": body["code"]}, token=thief["accessToken"]),
    ]
    assert {error_of(response) for response in rejected} == {STEP_UP_REQUIRED}
    assert await everything(app) == before
    stepped = await step_up(app, tokens, owners)
    await register(app, stepped, Authenticator(ORIGIN))
    assert await app.count("passkeys") == 2


# Each makes a response to registration options that must be rejected.
def _with_fields(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda offered: replace(Authenticator(ORIGIN), **fields).make(offered)


def _attested(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a credential whose attestation object was changed."""

    def made(offered: dict[str, Any]) -> dict[str, Any]:
        credential = Authenticator(ORIGIN).make(offered)
        raw = cbor2.loads(unb64(credential["response"]["attestationObject"]))
        changed = change(raw)
        raw = changed if isinstance(changed, bytes) else cbor2.dumps(changed)
        credential["response"]["attestationObject"] = b64(raw)
        return credential

    return made


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


def _key(public_key: Any) -> Callable[[dict[str, Any]], Any]:
    """Return an attestation of a public key that no authenticator has."""

    def change(attestation: dict[str, Any]) -> dict[str, Any]:
        authenticator_data = attestation["authData"]
        named_until = 55 + int.from_bytes(authenticator_data[53:55], "big")
        return attestation | {"authData": authenticator_data[:named_until] + cbor2.dumps(public_key)}

    return change


def _without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def made(offered: dict[str, Any]) -> dict[str, Any]:
        credential = Authenticator(ORIGIN).make(offered)
        del credential["response"][name]
        return credential

    return made


_POINT = generate_private_key(SECP384R1()).public_key().public_numbers()
_P384 = {1: 2, 3: -7, -1: 2, -2: _POINT.x.to_bytes(48, "big"), -3: _POINT.y.to_bytes(48, "big")}
BAD_REGISTRATIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "wrong origin": _with_fields(origin="https://evil.example"),
    "origin of another port": _with_fields(origin="http://localhost:8081"),
    "origin is no text": _with_fields(client_fields={"origin": [ORIGIN]}),
    "wrong relying party": _with_fields(rp_id="evil.example"),
    "no user verification": _with_fields(flags=USER_PRESENT),
    "no user presence": _with_fields(flags=USER_VERIFIED),
    "within a page of another site": _with_fields(client_fields={"crossOrigin": True}),
    "an assertion": _with_fields(client_fields={"type": "webauthn.get"}),
    "another challenge": _with_fields(client_fields={"challenge": b64(b"another challenge")}),
    "the challenge is a number": _with_fields(client_fields={"challenge": 7}),
    "an id that is too short": _with_fields(credential_id=b"short"),
    "a good key of P-384 named ES256": _attested(_key(_P384)),
    "a point that is not on the curve": _attested(_key({1: 2, 3: -7, -1: 1, -2: bytes([1]) * 32, -3: bytes([2]) * 32})),
    "a key of no length": _attested(_key({1: 1, 3: -8, -1: 6, -2: b""})),
    "a key of the wrong length": _attested(_key({1: 1, 3: -8, -1: 6, -2: b"x"})),
    "RSA": _attested(_key({1: 3, 3: -257, -1: bytes([255]) * 256, -2: b"\x01\x00\x01"})),
    "no algorithm": _attested(_key({1: 2})),
    "an unknown algorithm": _attested(_key({1: 2, 3: -65535, -1: 1, -2: bytes(32), -3: bytes(32)})),
    "a key that is a number": _attested(_key(4)),
    "a key that is a list": _attested(_key([1, 2])),
    "a self-signed attestation by nobody": _attested(
        lambda attestation: attestation | {"fmt": "packed", "attStmt": {"alg": -7, "sig": b"nothing"}}
    ),
    "a packed attestation of garbage": _attested(
        lambda attestation: attestation | {"fmt": "packed", "attStmt": {"alg": "x", "sig": 1, "x5c": [7]}}
    ),
    "an attestation nobody asked for": _attested(lambda attestation: attestation | {"fmt": "tpm"}),
    "a format that is a list": _attested(lambda attestation: attestation | {"fmt": ["none"]}),
    "a statement beside none": _attested(lambda attestation: attestation | {"attStmt": {"sig": b"x"}}),
    "a statement that is a number": _attested(lambda attestation: attestation | {"attStmt": 7}),
    "authData cut": _attested(lambda attestation: attestation | {"authData": attestation["authData"][:60]}),
    "authData with more behind": _attested(
        lambda attestation: attestation | {"authData": attestation["authData"] + b"x"}
    ),
    "authData is a text": _attested(lambda attestation: attestation | {"authData": "x"}),
    "authData without a credential": _attested(
        lambda attestation: attestation | {"authData": attestation["authData"][:32] + bytes([5]) + bytes(4)}
    ),
    "garbage CBOR": _attested(lambda _: b"\xff\xff\xff"),
    "CBOR of endless depth": _attested(lambda _: b"\x81" * 9_000),
    "CBOR of endless length": _attested(lambda _: b"\x5b" + b"\xff" * 8),
    "CBOR of endless items": _attested(lambda _: b"\x9b" + b"\x7f" * 8),
    "CBOR that refers to itself": _attested(lambda _: b"\xd8\x1c\x81\xd8\x1d\x00"),
    "CBOR of a huge number": _attested(lambda _: b"\xc5\x82\x1b" + b"\x7f" * 8 + b"\x01"),
    "CBOR of a number": _attested(lambda _: b"\x07"),
    "an id of another credential": lambda offered: (
        Authenticator(ORIGIN).make(offered) | {"id": b64(bytes(32)), "rawId": b64(bytes(32))}
    ),
    "id and rawId differ": lambda offered: Authenticator(ORIGIN).make(offered) | {"id": b64(bytes(32))},
    "an id of impossible length": lambda offered: Authenticator(ORIGIN).make(offered) | {"id": "A", "rawId": "A"},
    "client data of garbage": lambda offered: _client_data(offered, b"\xff\xfe{"),
    "client data of a list": lambda offered: _client_data(offered, b"[]"),
    "client data of endless depth": lambda offered: _client_data(offered, b"[" * 12_000),
    "client data without origin": lambda offered: _client_data(
        offered, json.dumps({"type": "webauthn.create"}).encode()
    ),
    "no attestation": _without("attestationObject"),
    "no client data": _without("clientDataJSON"),
    "padding": lambda offered: Authenticator(ORIGIN).make(offered) | {"id": "QUFB=", "rawId": "QUFB="},
    "no object": lambda _: "credential",
    "another type": lambda offered: Authenticator(ORIGIN).make(offered) | {"type": "password"},
    "an unknown field": lambda offered: Authenticator(ORIGIN).make(offered) | {"userId": "x"},
    "an unknown attachment": lambda offered: Authenticator(ORIGIN).make(offered) | {"authenticatorAttachment": "x"},
}


def _client_data(offered: dict[str, Any], raw: bytes) -> dict[str, Any]:
    credential = Authenticator(ORIGIN).make(offered)
    credential["response"]["clientDataJSON"] = b64(raw)
    return credential


async def test_a_registration_that_does_not_hold_is_rejected_and_changes_nothing(app: IdentityApp) -> None:
    tokens = await signed_up(app)
    challenge = await options(app, tokens)
    before = await everything(app)
    for fault, make in BAD_REGISTRATIONS.items():
        response = await send(app, tokens, challenge, make(challenge["publicKey"]))
        assert (fault, response.status_code, response.json()["code"]) == (fault, 422, "VALIDATION_FAILED")
    assert await everything(app) == before
    assert (await send(app, tokens, challenge, Authenticator(ORIGIN).make(challenge["publicKey"]))).is_success


async def test_an_assertion_that_does_not_hold_is_rejected_and_changes_nothing(app: IdentityApp) -> None:
    tokens, others = await signed_up(app), await signed_up(app, BOLA)
    mine, theirs = Authenticator(ORIGIN), Authenticator(ORIGIN)
    await register(app, tokens, mine)
    await register(app, others, theirs)
    await step_up(app, tokens, mine)
    challenge = await options(app, tokens, "assertion-options")
    offered = challenge["publicKey"]
    assert [held["id"] for held in offered["allowCredentials"]] == [b64(mine.credential_id)]
    assert (offered["rpId"], offered["userVerification"]) == ("localhost", "required")
    good = replace(mine).show(offered)
    federated = replace(Authenticator(ORIGIN), credential_id=mine.credential_id, counter=9)
    owner = (await app.fetch("SELECT user_id FROM accounts WHERE email = $1", BOLA))[0]["user_id"]

    def changed(name: str, value: str) -> dict[str, Any]:
        return good | {"response": good["response"] | {name: value}}

    client = json.loads(unb64(good["response"]["clientDataJSON"]))
    authenticator_data = unb64(good["response"]["authenticatorData"])
    bad: dict[str, Any] = {
        "wrong origin": replace(mine, origin="https://localhost.evil.example").show(offered),
        "wrong relying party": replace(mine, rp_id="evil.example").show(offered),
        "no user verification": replace(mine, flags=USER_PRESENT).show(offered),
        "no user presence": replace(mine, flags=USER_VERIFIED).show(offered),
        "within a page of another site": replace(mine, client_fields={"crossOrigin": True}).show(offered),
        "a registration": replace(mine, client_fields={"type": "webauthn.create"}).show(offered),
        "another challenge": replace(mine).show({"challenge": b64(b"another")}),
        "another person's credential": theirs.show(offered),
        "another person's handle": replace(mine).show(offered, user_handle=owner.bytes),
        "an unknown credential": Authenticator(ORIGIN).show(offered),
        "a stranger's key": federated.show(offered),
        "changed client data": changed("clientDataJSON", b64(json.dumps(client | {"more": 1}).encode())),
        "changed counter": changed("authenticatorData", b64(authenticator_data[:36] + b"\x63")),
        "changed flags": changed("authenticatorData", b64(authenticator_data[:32] + b"\x0d" + authenticator_data[33:])),
        "authenticator data cut": changed("authenticatorData", b64(authenticator_data[:36])),
        "garbage CBOR": changed(
            "authenticatorData", b64(authenticator_data[:32] + bytes([0xC5]) + authenticator_data[33:] + b"\xff" * 9)
        ),
        "extensions of endless depth": changed(
            "authenticatorData", b64(authenticator_data[:32] + b"\x85" + authenticator_data[33:] + b"\x81" * 9_000)
        ),
        "no signature": changed("signature", b64(b"\x00")),
        "the counter stands still": replace(mine, counts=False).show(offered),
        "the counter goes back": replace(mine, counts=False, counter=0).show(offered),
    }
    before = await everything(app)
    for fault, shown in bad.items():
        response = await show(app, tokens, challenge, shown)
        assert (fault, response.status_code, response.json()["code"]) == (fault, 422, "VALIDATION_FAILED")
    assert await everything(app) == before
    assert (await show(app, tokens, challenge, good)).status_code == 200


async def test_a_counter_that_goes_back_is_logged(app: IdentityApp, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = await signed_up(app)
    authenticator = Authenticator(ORIGIN, counter=7)
    await register(app, tokens, authenticator)
    challenge = await options(app, tokens, "assertion-options")
    copied = replace(authenticator, counter=3)
    assert (await show(app, tokens, challenge, copied.show(challenge["publicKey"]))).status_code == 422
    assert "signature counter did not increase" in capsys.readouterr().out


async def test_an_authenticator_without_a_counter_works_again_and_again(app: IdentityApp) -> None:
    tokens = await signed_up(app)
    authenticator = Authenticator(ORIGIN, counts=False)
    await register(app, tokens, authenticator)
    for _ in range(2):
        assert (await step_up(app, tokens, authenticator))["aal"] == "aal2"


async def test_a_challenge_is_bound_to_one_response_user_session_purpose_and_five_minutes(
    app: IdentityApp,
) -> None:
    tokens, others = await signed_up(app), await signed_up(app, BOLA)
    mine = Authenticator(ORIGIN)
    await register(app, tokens, mine)
    elsewhere = await app.log_in(TOLA)
    challenge = await options(app, tokens, "assertion-options")
    shown = mine.show(challenge["publicKey"])
    for asker in (elsewhere, others):
        assert (await show(app, asker, challenge, shown)).json()["invalid_params"][0]["name"] == "challengeId"
    registration = await options(app, others)
    assert (await show(app, others, registration, shown)).status_code == 422
    assert (await send(app, others, challenge, Authenticator(ORIGIN).make(challenge["publicKey"]))).status_code == 422
    unknown = {"challengeId": str(new_id())}
    assert (await show(app, tokens, unknown, shown)).status_code == 422

    responses = await asyncio.gather(*(show(app, tokens, challenge, shown) for _ in range(5)))
    assert sorted(response.status_code for response in responses) == [200, 422, 422, 422, 422]
    late, later = [await options(app, tokens, "assertion-options") for _ in range(2)]
    app.clock.advance(timedelta(minutes=5) - timedelta(milliseconds=1))
    assert (await show(app, tokens, late, mine.show(late["publicKey"]))).status_code == 200
    app.clock.advance(timedelta(milliseconds=1))
    assert (await show(app, tokens, later, mine.show(later["publicKey"]))).status_code == 422


async def test_a_credential_belongs_to_one_user(app: IdentityApp) -> None:
    tokens, others = await signed_up(app), await signed_up(app, BOLA)
    authenticator = Authenticator(ORIGIN)
    await register(app, tokens, authenticator)
    challenge = await options(app, others)
    before = await everything(app)
    assert (await send(app, others, challenge, authenticator.make(challenge["publicKey"]))).status_code == 422
    assert await everything(app) == before


async def test_ten_passkeys_are_enough_even_in_parallel(app: IdentityApp) -> None:
    tokens = await signed_up(app)
    first = Authenticator(ORIGIN)
    await register(app, tokens, first)
    stepped = await step_up(app, tokens, first)
    for _ in range(7):
        await register(app, stepped, Authenticator(ORIGIN))
    challenges = [await options(app, stepped) for _ in range(5)]
    assert len(challenges[0]["publicKey"]["excludeCredentials"]) == 8
    responses = await asyncio.gather(
        *(send(app, stepped, one, Authenticator(ORIGIN).make(one["publicKey"])) for one in challenges)
    )
    assert sorted(response.status_code for response in responses) == [201, 201, 409, 409, 409]
    assert error_of(await app.post(f"{PASSKEYS}/options", token=stepped["accessToken"])) == CONFLICT


async def test_a_user_has_at_most_ten_open_challenges(app: IdentityApp) -> None:
    tokens = await signed_up(app)
    first = await options(app, tokens)
    for _ in range(10):
        app.clock.advance(timedelta(seconds=1))
        newest = await options(app, tokens)
    assert await app.count("passkey_challenges") == 10
    assert (await send(app, tokens, first, Authenticator(ORIGIN).make(first["publicKey"]))).status_code == 422
    assert (await send(app, tokens, newest, Authenticator(ORIGIN).make(newest["publicKey"]))).status_code == 201


async def test_an_assertion_requires_a_passkey(app: IdentityApp) -> None:
    tokens = await signed_up(app)
    assert error_of(await app.post(f"{PASSKEYS}/assertion-options", token=tokens["accessToken"])) == CONFLICT
    for path in ("", "/options", "/assertion-options", "/verify"):
        assert (await app.post(f"{PASSKEYS}{path}")).status_code == 401


async def test_wrong_codes_do_not_keep_the_owner_of_a_passkey_out(app: IdentityApp) -> None:
    tokens = await signed_up(app)
    authenticator = Authenticator(ORIGIN)
    await register(app, tokens, authenticator)
    for _ in range(5):
        await app.post("/api/auth/mfa/verify", {"code": "000000"}, token=tokens["accessToken"])
    assert (await app.post("/api/auth/mfa/verify", {"code": "000000"}, token=tokens["accessToken"])).status_code == 429
    assert (await step_up(app, tokens, authenticator))["aal"] == "aal2"


async def test_an_ended_session_cannot_use_a_passkey(app: IdentityApp) -> None:
    tokens = await signed_up(app)
    authenticator = Authenticator(ORIGIN)
    await register(app, tokens, authenticator)
    challenge = await options(app, tokens, "assertion-options")
    await app.fetch("UPDATE sessions SET ended_at = now(), ended_because = 'logged_out'")
    assert (await show(app, tokens, challenge, authenticator.show(challenge["publicKey"]))).status_code == 401
