"""Erasure waits for open obligations, removes all personal data, and never makes a known mailbox new."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from common.database.unit_of_work import UnitOfWork
from contracts import demo, orders, payments, payouts
from identity.metrics import ERASURE_OPEN_SECONDS
from identity.timers import record_erasure_age_once
from identity.use_cases.erasure.record_evaluation import record_evaluation
from identity.use_cases.vendors.suspend_vendor import suspend_vendor
from testkit.locks import waits_for
from testkit.responses import CONFLICT, STEP_UP_REQUIRED, UNAUTHORIZED, data_of, error_of, invalid_field_of

from .conftest import DEMO_PASSWORD, DEMO_SECRET, PASSWORD, USERS, IdentityApp
from .staff_steps import REVOKED
from .steps import created_user, referral_count_of, referral_token_of

TOLA = "tola@unilag.edu.ng"


EVALUATING_SERVICES = (orders.ErasureJudged, payments.ErasureJudged, payouts.ErasureJudged)


async def request_erasure(app: IdentityApp, token: str, body: Any = None) -> httpx.Response:
    return await app.client.request(
        "DELETE",
        "/api/profiles/current",
        json={"password": PASSWORD} if body is None else body,
        headers={"Authorization": f"Bearer {token}"},
    )


async def evaluate(app: IdentityApp, response: httpx.Response, **matters: tuple[str, ...]) -> None:
    """Delivers the evaluation of every service; without open obligations unless `matters` names them."""
    erasure = response.json()["data"]
    for event in EVALUATING_SERVICES:
        open_matters = matters.get(event.publisher(), ())
        await app.receive(
            event(request_id=UUID(erasure["id"]), user_id=UUID(erasure["userId"]), open_matters=open_matters)
        )


async def erase(app: IdentityApp, token: str, body: Any = None) -> httpx.Response:
    """Request an erasure that no open obligation blocks."""
    response = await request_erasure(app, token, body)
    if response.status_code == 202:
        await evaluate(app, response)
    return response


async def newest(app: IdentityApp, token: str) -> dict[str, Any]:
    return data_of(await app.get("/api/profiles/current/erasure", token=token))


async def user(app: IdentityApp, email: str = TOLA, **more: Any) -> tuple[UUID, dict[str, Any]]:
    user_id = await app.sign_up(email, **more)
    return user_id, await app.log_in(email)


async def traces_of(app: IdentityApp, text: str) -> set[str]:
    """Return the tables that contain a text, without the outbox."""
    return await app.tables_with(text) - {"outbox", "outbox_sequences"}


async def test_erasure_keeps_no_personal_data(app: IdentityApp) -> None:
    user_id, tokens = await user(app, phone="+2348031234567")
    assert await traces_of(app, "tola@unilag") == {"profiles", "accounts"}
    response = await erase(app, tokens["accessToken"])
    assert (response.status_code, response.json()["data"]["userId"]) == (202, str(user_id))
    for text in ("tola@unilag", "2348031234567", "Test Person"):
        assert await traces_of(app, text) == set()
    assert await traces_of(app, str(user_id)) == {"profiles", "erasure_requests"}
    assert await app.published("identity.user_erased.v1") == [{"userId": str(user_id)}]
    [revoked] = [event for event in await app.published("identity.session_revoked.v1") if "sessionId" not in event]
    assert revoked["userId"] == str(user_id)


async def test_the_erasure_age_metric_names_the_service_that_has_not_evaluated(app: IdentityApp) -> None:
    async def shown() -> dict[str, float]:
        await record_erasure_age_once(app.dependencies)
        return {sample.labels["awaits"]: sample.value for sample in ERASURE_OPEN_SECONDS.collect()[0].samples}

    _, tokens = await user(app)
    assert await shown() == {"orders": 0, "payments": 0, "payouts": 0}
    erasure = (await request_erasure(app, tokens["accessToken"])).json()["data"]
    app.clock.advance(timedelta(hours=2))
    assert await shown() == {"orders": 7200, "payments": 7200, "payouts": 7200}
    events = [event(request_id=UUID(erasure["id"]), user_id=UUID(erasure["userId"])) for event in EVALUATING_SERVICES]
    await app.receive(events[0])
    assert await shown() == {"orders": 0, "payments": 7200, "payouts": 7200}
    for word in events[1:]:
        await app.receive(word)
    assert await shown() == {"orders": 0, "payments": 0, "payouts": 0}


async def test_tokens_of_an_erased_user_are_rejected(app: IdentityApp) -> None:
    _, tokens = await user(app)
    other = await app.log_in(TOLA)
    assert (await erase(app, tokens["accessToken"])).status_code == 202
    for held in (tokens, other):
        # The user is absent. The broadcast of the revoked session does not run in tests.
        assert (await app.get("/api/profiles/current", token=held["accessToken"])).status_code == 403
        assert (await app.post("/api/auth/refresh", {"refreshToken": held["refreshToken"]})).status_code == 401
    assert error_of(await app.post("/api/auth/login", {"email": TOLA, "password": PASSWORD})) == UNAUTHORIZED


async def test_the_address_is_free_but_the_same_mailbox_earns_no_second_reward(app: IdentityApp) -> None:
    await app.sign_up("ada@unilag.edu.ng")
    token = await referral_token_of(app, "ada@unilag.edu.ng")
    _, tokens = await user(app, "tola@gmail.com", referralToken=token)
    old_token = await referral_token_of(app, "tola@gmail.com")
    await erase(app, tokens["accessToken"])
    for spelling in ("to.la+new@googlemail.com", "tola@gmail.com"):
        data = await created_user(app, spelling, referral_token=token)
        assert data["referral"] == {"applied": False, "pending": False, "rewardMinor": 0, "reason": "mailbox_known"}
    assert (await user(app, "tola@gmail.com"))[1]["accessToken"]
    assert await referral_count_of(app, "ada@unilag.edu.ng") == 1
    for dead in (old_token, f"erased:{await erased_id(app)}"):
        data = await created_user(app, f"dami{len(dead)}@unilag.edu.ng", referral_token=dead)
        assert data["referral"]["reason"] == "unknown_token"


async def erased_id(app: IdentityApp) -> UUID:
    [row] = await app.fetch("SELECT id FROM profiles WHERE erased_at IS NOT NULL")
    return UUID(str(row["id"]))


async def test_create_user_of_an_erased_id_returns_the_first_response_and_restores_nothing(app: IdentityApp) -> None:
    user_id, tokens = await user(app)
    before = await created_user(app, TOLA, user_id=user_id)
    await erase(app, tokens["accessToken"])
    assert await created_user(app, TOLA, user_id=user_id) == before
    assert await traces_of(app, "tola@unilag") == set()


async def test_erasure_requires_the_password_and_a_wrong_one_changes_nothing(app: IdentityApp) -> None:
    user_id, tokens = await user(app)
    bodies: list[Any] = [{}, {"password": "wrong password"}, {"password": None}, {"password": ""}, {"password": 1}]
    for body in bodies:
        response = await erase(app, tokens["accessToken"], body)
        assert (body, response.status_code, response.json()["invalid_params"][0]["name"]) == (body, 422, "password")
    unknown = await erase(app, tokens["accessToken"], {"password": PASSWORD, "userId": str(user_id)})
    assert invalid_field_of(unknown) == (422, "userId")
    assert (await app.client.request("DELETE", "/api/profiles/current", json={"password": PASSWORD})).status_code == 401
    assert (await app.get("/api/profiles/current", token=tokens["accessToken"])).status_code == 200
    assert await app.published("identity.user_erased.v1") == []


async def test_erasure_requires_a_step_up_of_users_with_a_second_factor(app: IdentityApp) -> None:
    await app.load_demo()
    await app.fetch("DELETE FROM role_grants WHERE user_id = $1", demo.USERS[5].id)
    tokens = await app.demo_log_in("SUPPORT")
    body = {"password": DEMO_PASSWORD}
    assert error_of(await erase(app, tokens["accessToken"], body)) == STEP_UP_REQUIRED
    stepped = await app.step_up(tokens, DEMO_SECRET)
    assert (await erase(app, stepped["accessToken"], body)).status_code == 202
    assert await traces_of(app, str(demo.USERS[5].id)) == {"profiles", "erasure_requests"}


async def test_staff_and_owners_of_a_suspended_vendor_cannot_be_erased(app: IdentityApp) -> None:
    await app.load_demo()
    await app.fetch("UPDATE vendors SET status = 'suspended', suspension_reason = 'looked into'")
    for name, events in (("VENDOR", "your vendor is suspended"), ("AUDITOR", "a staff role")):
        stepped = await app.step_up(await app.demo_log_in(name), DEMO_SECRET)
        response = await request_erasure(app, stepped["accessToken"], {"password": DEMO_PASSWORD})
        assert error_of(response) == CONFLICT
        assert events in response.json()["detail"]
        assert (await app.get("/api/profiles/current/erasure", token=stepped["accessToken"])).status_code == 404
    assert await app.published("identity.erasure_requested.v1") == []


async def test_concurrent_requests_are_published_once(app: IdentityApp) -> None:
    _, tokens = await user(app)
    responses = await asyncio.gather(*(request_erasure(app, tokens["accessToken"]) for _ in range(5)))
    assert {response.status_code for response in responses} == {202}
    assert len({response.json()["data"]["id"] for response in responses}) == 1
    assert len(await app.published("identity.erasure_requested.v1")) == 1


async def test_a_user_is_erased_once_after_all_evaluations(app: IdentityApp) -> None:
    _, tokens = await user(app)
    erasure = (await request_erasure(app, tokens["accessToken"])).json()["data"]
    events = [event(request_id=UUID(erasure["id"]), user_id=UUID(erasure["userId"])) for event in EVALUATING_SERVICES]
    await app.receive(events[0])
    again = await app.receive(events[1])
    await app.receive(events[1], event_id=again.event_id)
    assert (await newest(app, tokens["accessToken"]))["status"] == "asked"
    await asyncio.gather(*(app.receive(events[2]) for _ in range(4)))
    assert await traces_of(app, "tola@unilag") == set()
    assert len(await app.published("identity.user_erased.v1")) == 1


async def test_an_open_obligation_rejects_the_request_which_may_be_repeated(app: IdentityApp) -> None:
    user_id, tokens = await user(app)
    first = await request_erasure(app, tokens["accessToken"])
    await evaluate(app, first, orders=("open_orders",), payments=("escrow_held", "open_chargebacks"))
    refused = await newest(app, tokens["accessToken"])
    assert refused["status"] == "refused"
    assert refused["openMatters"] == [
        {"service": "orders", "matter": "open_orders"},
        {"service": "payments", "matter": "escrow_held"},
        {"service": "payments", "matter": "open_chargebacks"},
    ]
    assert await app.published("identity.erasure_refused.v1") == [
        {
            "userId": str(user_id),
            "requestId": refused["id"],
            "openMatters": ["escrow_held", "open_chargebacks", "open_orders"],
        }
    ]
    await evaluate(app, first)
    assert await traces_of(app, "tola@unilag") == {"profiles", "accounts"}
    assert (await erase(app, tokens["accessToken"])).status_code == 202
    assert await traces_of(app, "tola@unilag") == set()


async def test_a_staff_role_granted_meanwhile_rejects_the_request(app: IdentityApp) -> None:
    user_id, tokens = await user(app)
    erasure = await request_erasure(app, tokens["accessToken"])
    await app.fetch("INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, 'support_agent', now())", user_id)
    await evaluate(app, erasure)
    refused = await newest(app, tokens["accessToken"])
    assert (refused["status"], refused["openMatters"]) == (
        "refused",
        [{"service": "identity", "matter": "staff_role"}],
    )


async def test_a_suspension_during_the_last_evaluation_rejects_the_request(app: IdentityApp) -> None:
    await app.load_demo()
    owner, now = USERS["VENDOR"], app.clock.now()
    stepped = await app.step_up(await app.demo_log_in("VENDOR"), DEMO_SECRET)
    erasure = data_of(await request_erasure(app, stepped["accessToken"], {"password": DEMO_PASSWORD}), 202)
    for event in EVALUATING_SERVICES[:-1]:
        await app.receive(event(request_id=UUID(erasure["id"]), user_id=owner.id))

    async def suspend(uow: UnitOfWork) -> None:
        await suspend_vendor(uow, demo.ADA.id, "looked into", by=USERS["CAMPUS"].id, now=now)

    async def evaluate_last(uow: UnitOfWork) -> None:
        hashes, service = app.dependencies.hashes, EVALUATING_SERVICES[-1].publisher()
        await record_evaluation(uow, hashes, UUID(erasure["id"]), service, (), now=now)

    assert await waits_for(app.database, suspend, evaluate_last)
    refused = await newest(app, stepped["accessToken"])
    assert (refused["status"], refused["openMatters"]) == (
        "refused",
        [{"service": "identity", "matter": "vendor_suspended"}],
    )
    [vendor] = await app.fetch("SELECT status FROM vendors WHERE id = $1", demo.ADA.id)
    assert vendor["status"] == "suspended"


async def test_a_vendor_is_closed_for_good_with_its_owner(app: IdentityApp) -> None:
    await app.load_demo()
    [vendor] = await app.fetch("SELECT * FROM vendors WHERE owner_user_id = $1", USERS["VENDOR"].id)
    stepped = await app.step_up(await app.demo_log_in("VENDOR"), DEMO_SECRET)
    assert (await erase(app, stepped["accessToken"], {"password": DEMO_PASSWORD})).status_code == 202
    [profile] = await app.fetch("SELECT role FROM profiles WHERE id = $1", USERS["VENDOR"].id)
    assert profile["role"] == "buyer"
    assert await app.published("identity.vendor_closed.v1") == [
        {
            "vendorId": str(vendor["id"]),
            "ownerUserId": str(vendor["owner_user_id"]),
            "campusId": str(vendor["campus_id"]),
        }
    ]
    # The demo's packer worked for it.
    assert await app.count("shop_members") == 0
    assert str(USERS["PACKER"].id) in {event["userId"] for event in await app.published(REVOKED)}
    for text in (vendor["business_name"], vendor["legal_name"], USERS["VENDOR"].email):
        assert await traces_of(app, text) == set()
    assert (await app.get(f"/api/vendors/{vendor['id']}")).status_code == 404
    campus_staff = await app.step_up(await app.demo_log_in("CAMPUS"), DEMO_SECRET)
    response = await app.post(f"/api/vendors/{vendor['id']}/reinstate", {}, token=campus_staff["accessToken"])
    assert error_of(response) == CONFLICT


async def test_the_database_rejects_personal_data_of_an_erased_user(app: IdentityApp) -> None:
    _, tokens = await user(app)
    await erase(app, tokens["accessToken"])
    with pytest.raises(Exception, match="profiles_erased_tell_nothing"):
        await app.fetch("UPDATE profiles SET full_name = 'Tola' WHERE erased_at IS NOT NULL")


async def test_a_user_reads_only_their_own_personal_records(app: IdentityApp) -> None:
    _, tokens = await user(app, phone="+2348031234567")
    _, others = await user(app, "ada@unilag.edu.ng")
    response = await app.get("/api/personal-records/identity", token=tokens["accessToken"], limit=100)
    assert response.status_code == 200, response.text
    found = {line["section"]: line["record"] for line in response.json()["data"]}
    assert set(found) == {"profile", "sessions", "roles"}
    assert (found["profile"]["email"], found["profile"]["phone"]) == (TOLA, "+2348031234567")
    assert "ada@" not in response.text
    assert TOLA not in (await app.get("/api/personal-records/identity", token=others["accessToken"])).text
