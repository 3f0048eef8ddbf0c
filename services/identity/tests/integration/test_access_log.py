"""Sign-ins in the access log: who, by which credential, from which address, without the credential or the address."""

import json
from collections.abc import Callable
from typing import Any

from .conftest import DEMO_SECRET, PASSWORD, IdentityApp

EMAIL, ADDRESS = "tola@unilag.edu.ng", "198.51.100.77"
LOGIN = "/api/auth/login"
Lines = Callable[[], list[dict[str, Any]]]


async def test_a_sign_in_names_account_method_and_the_hash_of_the_address(
    app: IdentityApp, access_lines: Lines
) -> None:
    user_id = await app.sign_up(EMAIL)
    response = await app.post(LOGIN, {"email": EMAIL, "password": PASSWORD}, source=ADDRESS)
    [line] = access_lines()
    address_hash = line.pop("address_hash")
    assert line.pop("at")
    assert line == {
        "event": "sign_in",
        "request_id": response.headers["x-request-id"],
        "method": "password",
        "outcome": "success",
        "account": str(user_id),
        "code": None,
    }
    assert len(bytes.fromhex(address_hash)) == 16


async def test_equal_addresses_have_equal_hashes(app: IdentityApp, access_lines: Lines) -> None:
    for source in (ADDRESS, ADDRESS, "198.51.100.78", None):
        await app.post(LOGIN, {"email": EMAIL, "password": PASSWORD}, source=source)
    first, second, other, without = (line["address_hash"] for line in access_lines())
    assert first == second != other
    assert without == ""


async def test_a_wrong_password_names_a_known_account_only(app: IdentityApp, access_lines: Lines) -> None:
    user_id = await app.sign_up(EMAIL)
    for email in (EMAIL, "nobody@unilag.edu.ng"):
        assert (await app.post(LOGIN, {"email": email, "password": "a wrong password"})).status_code == 401
    assert [(line["outcome"], line["account"], line["code"]) for line in access_lines()] == [
        ("refused", str(user_id), "AUTH_UNAUTHORIZED"),
        ("refused", None, "AUTH_UNAUTHORIZED"),
    ]


async def test_second_factors_name_the_user_of_the_session(app: IdentityApp, access_lines: Lines) -> None:
    await app.load_demo()
    tokens = await app.demo_log_in("ADMIN")
    refused = await app.post("/api/auth/mfa/verify", {"code": "000000"}, token=tokens["accessToken"])
    await app.step_up(tokens, DEMO_SECRET)
    assert refused.status_code == 422
    by_password, wrong, right = access_lines()
    assert [(line["method"], line["outcome"]) for line in (wrong, right)] == [
        ("factor", "refused"),
        ("factor", "success"),
    ]
    assert by_password["account"] == wrong["account"] == right["account"] is not None


async def test_a_wrong_one_time_code_is_refused(app: IdentityApp, access_lines: Lines) -> None:
    await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": "123456"}, source=ADDRESS)
    [line] = access_lines()
    assert (line["method"], line["outcome"], line["account"]) == ("code", "refused", None)


async def test_no_line_contains_a_credential_or_an_address(app: IdentityApp, access_lines: Lines) -> None:
    await app.sign_up(EMAIL)
    for password in (PASSWORD, "a wrong password"):
        await app.post(LOGIN, {"email": EMAIL, "password": password}, source=ADDRESS)
    tokens = (await app.post(LOGIN, {"email": EMAIL, "password": PASSWORD}, source=ADDRESS)).json()["data"]
    await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": "123456"}, source=ADDRESS)
    text = json.dumps(access_lines())
    assert text.count("sign_in") == 4
    secrets = (PASSWORD, "a wrong password", "123456", EMAIL, ADDRESS, tokens["accessToken"], tokens["refreshToken"])
    assert [secret for secret in secrets if secret in text] == []
