"""Responses and costs are equal for known and unknown addresses (contract section 10.2)."""

from typing import Any

from .code_steps import EMAIL, PHONE, sent
from .conftest import PASSWORD, IdentityApp


async def test_responses_for_known_and_unknown_addresses_are_equal_in_every_field(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    for path, known, unknown in (
        ("otp", {"email": EMAIL}, {"email": "nobody@unilag.edu.ng"}),
        ("otp", {"phone": PHONE}, {"phone": "+2348037654321"}),
        ("otp/verify", {"email": EMAIL, "code": "x23456"}, {"email": "nobody@unilag.edu.ng", "code": "x23456"}),
        ("otp/verify", {"phone": PHONE, "code": "000000"}, {"phone": "+2348037654321", "code": "000000"}),
        ("password/forgot", {"email": EMAIL}, {"email": "nobody@unilag.edu.ng"}),
        ("login", {"email": EMAIL, "password": "wrong"}, {"email": "nobody@unilag.edu.ng", "password": "wrong"}),
        (
            "signup",
            {"email": EMAIL, "password": PASSWORD, "fullName": "X"},
            {"email": "new@unilag.edu.ng", "password": PASSWORD, "fullName": "X"},
        ),
    ):
        responses = [await app.post(f"/api/auth/{path}", body) for body in (known, unknown)]
        assert responses[0].status_code == responses[1].status_code, path
        shown = [neutral(response.json()) for response in responses]
        assert shown[0] == shown[1], path
        names = [[name for name in response.headers if name not in ("x-request-id",)] for response in responses]
        assert names[0] == names[1], path


async def test_a_request_for_an_unknown_address_stores_the_same_rows_and_sends_nothing(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    left = []
    for email in (EMAIL, "nobody@unilag.edu.ng"):
        before = await app.count("issued_codes"), await app.count("outbox")
        await app.post("/api/auth/otp", {"email": email})
        await app.post("/api/auth/password/forgot", {"email": email})
        after = await app.count("issued_codes"), await app.count("outbox")
        left.append((after[0] - before[0], after[1] - before[1]))
    assert left[0] == left[1] == (2, 2)
    assert {message["to"] for message in await sent(app)} == {EMAIL}


def neutral(body: dict[str, Any]) -> dict[str, Any]:
    """Return a response without its ids and times, which differ in any two."""
    return {
        **body,
        "requestId": None,
        "meta": {**body.get("meta", {}), "requestId": None, "timestamp": None},
        "data": {**body.get("data", {}), "userId": None},
    }
