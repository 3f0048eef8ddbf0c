"""TOTP enrolment and the step-up to AAL2 (contract sections 5 and 10)."""

import asyncio
from datetime import timedelta
from typing import Any

import jwt

from testkit.responses import STEP_UP_REQUIRED, UNAUTHORIZED, data_of, error_of, invalid_field_of

from .conftest import IdentityApp


async def enrolled(app: IdentityApp, email: str = "tola@unilag.edu.ng") -> tuple[dict[str, Any], str]:
    """Return the tokens of a later login and the secret of a user with a confirmed factor."""
    await app.sign_up(email)
    tokens = await app.log_in(email)
    secret = await enroll(app, tokens)
    await app.step_up(tokens, secret)
    app.next_period()
    return await app.log_in(email), secret


async def enroll(app: IdentityApp, tokens: dict[str, Any]) -> str:
    factor = data_of(await app.post("/api/auth/mfa/enroll", {}, token=tokens["accessToken"]))
    assert factor["otpauthUri"].startswith("otpauth://totp/")
    assert factor["secret"] in factor["otpauthUri"]
    return str(factor["secret"])


def claims(tokens: dict[str, Any]) -> dict[str, Any]:
    return jwt.decode(tokens["accessToken"], options={"verify_signature": False})


async def test_the_first_code_confirms_the_factor_and_steps_up(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    secret = await enroll(app, tokens)
    assert (await app.log_in("tola@unilag.edu.ng"))["mfaRequired"] is False
    stepped = await app.step_up(tokens, secret)
    assert (stepped["aal"], stepped["mfaRequired"]) == ("aal2", False)
    assert [entry["method"] for entry in claims(stepped)["amr"]] == ["password", "totp"]
    assert claims(stepped)["session_id"] == claims(tokens)["session_id"]
    later = await app.log_in("tola@unilag.edu.ng")
    assert (later["aal"], later["mfaRequired"]) == ("aal1", True)
    assert claims(later)["aal"] == "aal1"


async def test_a_code_works_once(app: IdentityApp) -> None:
    tokens, secret = await enrolled(app)
    body = {"code": app.code(secret)}
    assert (await app.post("/api/auth/mfa/verify", body, token=tokens["accessToken"])).status_code == 200
    assert invalid_field_of(await app.post("/api/auth/mfa/verify", body, token=tokens["accessToken"])) == (422, "code")
    other = await app.log_in("tola@unilag.edu.ng")
    assert (await app.post("/api/auth/mfa/verify", body, token=other["accessToken"])).status_code == 422
    app.next_period()
    assert (await app.step_up(other, secret))["aal"] == "aal2"


async def test_a_code_works_once_even_in_parallel(app: IdentityApp) -> None:
    tokens, secret = await enrolled(app)
    body = {"code": app.code(secret)}
    responses = await asyncio.gather(
        *(app.post("/api/auth/mfa/verify", body, token=tokens["accessToken"]) for _ in range(10))
    )
    codes = [response.status_code for response in responses]
    assert codes.count(200) == 1
    # The repetitions count as wrong codes, and the fifth makes the rest wait.
    assert set(codes) <= {200, 422, 429}


async def test_an_older_code_does_not_work_after_a_newer_one(app: IdentityApp) -> None:
    tokens, secret = await enrolled(app)
    older = {"code": app.code(secret)}
    app.next_period()
    await app.step_up(tokens, secret)
    assert (await app.post("/api/auth/mfa/verify", older, token=tokens["accessToken"])).status_code == 422


async def test_a_refresh_does_not_make_the_second_factor_younger(app: IdentityApp) -> None:
    tokens, secret = await enrolled(app)
    stepped = await app.step_up(tokens, secret)
    shown_at = claims(stepped)["amr"][1]["timestamp"]
    app.clock.advance(timedelta(minutes=14))
    fresh = (await app.post("/api/auth/refresh", {"refreshToken": stepped["refreshToken"]})).json()["data"]
    assert (fresh["aal"], fresh["mfaRequired"]) == ("aal2", False)
    assert claims(fresh)["amr"][1]["timestamp"] == shown_at
    app.clock.advance(timedelta(minutes=2))
    stale = (await app.post("/api/auth/refresh", {"refreshToken": fresh["refreshToken"]})).json()["data"]
    # The session stays at AAL2; a step-up asks for a younger factor.
    assert (stale["aal"], stale["mfaRequired"], claims(stale)["aal"]) == ("aal2", False, "aal2")
    assert claims(stale)["amr"][1]["timestamp"] == shown_at
    refused = await app.post("/api/auth/mfa/recovery-codes", token=stale["accessToken"])
    assert error_of(refused) == STEP_UP_REQUIRED


async def test_a_refresh_token_from_before_the_step_up_stays_at_aal1(app: IdentityApp) -> None:
    tokens, secret = await enrolled(app)
    await app.step_up(tokens, secret)
    assert data_of(await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}))["aal"] == "aal1"


async def test_a_password_alone_adds_no_factor_to_the_owners(app: IdentityApp) -> None:
    tokens, _ = await enrolled(app)
    assert error_of(await app.post("/api/auth/mfa/enroll", {}, token=tokens["accessToken"])) == STEP_UP_REQUIRED
    assert await app.count("totp_factors") == 1


async def test_a_factor_enrolled_before_the_owners_is_removed_when_the_owner_enrolls(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    thief, owner = await app.log_in("tola@unilag.edu.ng"), await app.log_in("tola@unilag.edu.ng")
    planted = await app.post("/api/auth/mfa/enroll", {}, token=thief["accessToken"])
    secret = await enroll(app, owner)
    await app.step_up(owner, secret)
    body = {
        "code": app.code(planted.json()["data"]["secret"]),
        "factorId": planted.json()["data"]["factorId"],
    }
    assert (await app.post("/api/auth/mfa/verify", body, token=thief["accessToken"])).status_code == 422


async def test_a_further_factor_is_enrolled_and_confirmed_at_aal2(app: IdentityApp) -> None:
    tokens, secret = await enrolled(app)
    stepped = await app.step_up(tokens, secret)
    response = await app.post("/api/auth/mfa/enroll", {}, token=stepped["accessToken"])
    second = response.json()["data"]
    body = {"code": app.code(second["secret"]), "factorId": second["factorId"]}
    assert error_of(await app.post("/api/auth/mfa/verify", body, token=tokens["accessToken"])) == STEP_UP_REQUIRED
    assert (await app.post("/api/auth/mfa/verify", body, token=stepped["accessToken"])).status_code == 200


async def test_five_wrong_codes_make_the_next_one_wait_even_when_it_is_right(app: IdentityApp) -> None:
    tokens, secret = await enrolled(app)
    right = app.code(secret)
    wrong = f"{(int(right) + 1) % 1_000_000:06d}"
    for _ in range(5):
        assert (await app.post("/api/auth/mfa/verify", {"code": wrong}, token=tokens["accessToken"])).status_code == 422
    blocked = await app.post("/api/auth/mfa/verify", {"code": right}, token=tokens["accessToken"])
    assert error_of(blocked) == (429, "RATE_LIMIT_EXCEEDED")
    assert blocked.headers["Retry-After"] == "30"
    app.clock.advance(timedelta(seconds=30))
    assert (await app.step_up(tokens, secret))["aal"] == "aal2"


async def test_a_code_that_is_not_six_ascii_digits_is_malformed(app: IdentityApp) -> None:
    tokens, _ = await enrolled(app)
    malformed: list[Any] = ["12345", "1234567", "12345a", "١٢٣٤٥٦", 123456]
    for code in malformed:
        assert (await app.post("/api/auth/mfa/verify", {"code": code}, token=tokens["accessToken"])).status_code == 422
    failures = await app.fetch("SELECT code_failures FROM accounts")
    assert [row["code_failures"] for row in failures] == [0]


async def test_a_factor_of_another_user_is_rejected(app: IdentityApp) -> None:
    _, secret = await enrolled(app, "ada@unilag.edu.ng")
    rows = await app.fetch("SELECT id FROM totp_factors")
    mine, _ = await enrolled(app, "bola@unilag.edu.ng")
    body = {"code": app.code(secret), "factorId": str(rows[0]["id"])}
    assert (await app.post("/api/auth/mfa/verify", body, token=mine["accessToken"])).status_code == 422


async def test_the_secret_is_stored_encrypted(app: IdentityApp) -> None:
    _, secret = await enrolled(app)
    row = (await app.fetch("SELECT id, secret_sealed FROM totp_factors"))[0]
    assert secret not in row["secret_sealed"]
    assert app.dependencies.totp.decrypt(row["id"], row["secret_sealed"]) == secret


async def test_an_ended_session_does_not_step_up(app: IdentityApp) -> None:
    tokens, secret = await enrolled(app)
    # Another process revoked it; this one has not received the event.
    await app.fetch("UPDATE sessions SET ended_at = now(), ended_because = 'logged_out'")
    response = await app.post("/api/auth/mfa/verify", {"code": app.code(secret)}, token=tokens["accessToken"])
    assert error_of(response) == UNAUTHORIZED
