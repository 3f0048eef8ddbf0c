"""Sign-up and login before the address is confirmed (contract section 10.1)."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from common.primitives.ids import new_id

from .confirmation_steps import (
    AWAITS_PROOF,
    EMAIL,
    QUEUE,
    REPEATED,
    RIGHT,
    WRONG,
    codes_sent,
    log_in,
    profile_of,
    prove,
)
from .conftest import PASSWORD, IdentityApp


async def test_a_sign_up_sends_a_code(app: IdentityApp) -> None:
    body = {"email": EMAIL, "password": PASSWORD, "fullName": "Tola"}
    response = await app.post("/api/auth/signup", body)
    user_id = response.json()["data"]["userId"]
    assert (response.status_code, response.json()["data"]) == (201, {"userId": user_id, "confirmationRequired": True})
    [(to, code, confirms)] = await codes_sent(app)
    assert (to, len(code), confirms) == (EMAIL, 6, True)
    tokens = await prove(app, password=PASSWORD)
    profile = await profile_of(app, tokens)
    assert (profile["id"], profile["emailConfirmed"]) == (user_id, True)
    assert await log_in(app, PASSWORD) == RIGHT


async def test_a_login_before_the_confirmation_sends_a_code_once_a_minute(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    assert await log_in(app, PASSWORD) == AWAITS_PROOF
    app.clock.advance(timedelta(seconds=59))
    assert await log_in(app, PASSWORD) == AWAITS_PROOF
    assert len(await codes_sent(app)) == 1
    app.clock.advance(timedelta(seconds=1))
    assert [await log_in(app, PASSWORD) for _ in range(3)] == [AWAITS_PROOF] * 3
    assert len(await codes_sent(app)) == 2
    assert await app.count("sessions") == 0
    await prove(app, password=PASSWORD)


async def test_a_wrong_password_before_the_confirmation_equals_an_unknown_address(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    app.clock.advance(timedelta(minutes=5))
    assert await log_in(app, "a wrong password") == await log_in(app, "x", "nobody@unilag.edu.ng") == WRONG
    assert len(await codes_sent(app)) == 1


async def test_a_code_requested_before_the_sign_up_does_not_delay_its_code(app: IdentityApp) -> None:
    await app.post("/api/auth/otp", {"email": EMAIL})
    await app.work(QUEUE)
    await app.sign_up_unproven(EMAIL)
    assert [(to, confirms) for to, _, confirms in await codes_sent(app)] == [(EMAIL, True)]


@pytest.mark.parametrize("owner", ["nobody", "unproven", "proven", "suspended"])
async def test_sign_up_and_login_do_not_reveal_known_addresses(app: IdentityApp, owner: str) -> None:
    if owner == "unproven":
        await app.sign_up_unproven(EMAIL)
    if owner in ("proven", "suspended"):
        user_id = await app.sign_up(EMAIL)
    if owner == "suspended":
        await app.fetch(
            "INSERT INTO suspensions (user_id, suspended_by, suspended_at) VALUES ($1, $2, now())", user_id, new_id()
        )
    app.clock.advance(timedelta(minutes=2))
    shapes = []
    for password in ("the first guess", "the second guess"):
        response = await app.post("/api/auth/signup", {"email": EMAIL, "password": password, "fullName": "Thief"})
        shapes.append(
            (response.status_code, response.json()["data"].keys(), response.json()["data"]["confirmationRequired"])
        )
    assert shapes == [(201, {"userId", "confirmationRequired"}, True)] * 2
    assert [await log_in(app, text) for text in ("the first guess", "the second guess", "a third one")] == [
        AWAITS_PROOF,
        AWAITS_PROOF,
        WRONG,
    ]
    expected = {"nobody": RIGHT, "unproven": AWAITS_PROOF, "proven": RIGHT, "suspended": WRONG}[owner]
    if owner != "nobody":
        assert await log_in(app, PASSWORD) == expected


async def test_a_login_before_the_confirmation_costs_as_much_as_a_wrong_password(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    await app.sign_up("known@unilag.edu.ng")
    await app.post(
        "/api/auth/signup", {"email": "known@unilag.edu.ng", "password": "a guess for it", "fullName": "Thief"}
    )
    passwords = app.dependencies.passwords
    work: list[str] = []
    matches, digest = passwords.matches, passwords.digest

    async def counted_matches(*values: Any) -> bool:
        work.append("matches")
        return bool(await matches(*values))

    async def counted_digest(*values: Any) -> bytes:
        work.append("digest")
        return bytes(await digest(*values))

    passwords.matches, passwords.digest = counted_matches, counted_digest
    for email, password in (
        (EMAIL, PASSWORD), (EMAIL, "wrong"), ("known@unilag.edu.ng", "a guess for it"),
        ("known@unilag.edu.ng", "wrong"), ("nobody@unilag.edu.ng", "wrong"),
    ):  # fmt: skip
        work.clear()
        await log_in(app, password, email)
        assert work == ["matches", "digest"]


async def test_the_owner_of_an_address_that_was_signed_up_with_again_gets_a_mail(app: IdentityApp) -> None:
    user_id = await app.sign_up(EMAIL)
    body = {"email": EMAIL, "password": "another password", "fullName": "Thief"}
    for _ in range(3):
        assert (await app.post("/api/auth/signup", body)).status_code == 201
    await app.work(QUEUE)
    events = await app.published(REPEATED)
    assert [event["userId"] for event in events] == [str(user_id)]
    assert await codes_sent(app) == []


async def test_twenty_sign_ups_of_one_address_at_once_send_one_code(app: IdentityApp) -> None:
    body = {"email": EMAIL, "password": PASSWORD, "fullName": "Tola"}
    responses = await asyncio.gather(*(app.post("/api/auth/signup", body) for _ in range(20)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["data"]["userId"] for response in responses}) == 20
    assert len(await codes_sent(app)) == 1
