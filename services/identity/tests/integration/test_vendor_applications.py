"""Becoming a vendor (contract sections 10 and 1.5)."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from common.auth.caller import THE_SERVICE, Caller
from common.primitives.problems import NotFound
from contracts import demo
from contracts.permissions import permissions_of
from identity.store.erasure import delete_user
from identity.use_cases.vendors.approve_vendor_application import approve_vendor_application
from testkit.responses import CONFLICT, FORBIDDEN, data_of, error_of, invalid_field_of

from .conftest import USERS, IdentityApp
from .steps import APPLICATION, EVENTS, PATH, Campus


@pytest_asyncio.fixture
async def campus(app: IdentityApp) -> Campus:
    await app.load_demo()
    return Campus(app)


async def test_an_approved_applicant_is_a_merchant_from_the_next_token_on(campus: Campus) -> None:
    tokens = await campus.app.demo_log_in("BUYER2")
    campus._tokens["BUYER2"] = tokens["accessToken"]
    application_id = await campus.applied()
    decided = data_of(await campus.approve(application_id))
    assert (decided["status"], decided["decidedBy"]) == ("approved", str(USERS["CAMPUS"].id))
    refreshed = await campus.app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})
    verifier = campus.app.runtime.verifier
    before = await verifier.caller_of(tokens["accessToken"])
    after = await verifier.caller_of(refreshed.json()["data"]["accessToken"])
    assert (before.roles, before.vendor_id) == ({"buyer"}, None)
    assert (after.roles, str(after.vendor_id)) == ({"buyer", "merchant"}, decided["vendorId"])
    events = await campus.events()
    assert events[EVENTS[0]] == [
        {
            "vendorId": decided["vendorId"],
            "ownerUserId": str(USERS["BUYER2"].id),
            "businessName": APPLICATION["businessName"],
            "legalName": APPLICATION["legalName"],
            "campusId": APPLICATION["campusId"],
        }
    ]
    assert events[EVENTS[1]] == [
        {"applicationId": application_id, "userId": str(USERS["BUYER2"].id), "outcome": "approved"}
    ]
    shop = (await campus.app.get(f"/api/vendors/{decided['vendorId']}")).json()["data"]
    assert (shop["businessName"], shop["category"]) == (APPLICATION["businessName"], APPLICATION["category"])
    assert "legalName" not in shop


async def role_of(campus: Campus, name: str) -> str:
    token = await campus.token(name)
    lines = data_of(await campus.app.get("/api/personal-records/identity", token=token))
    [role] = [line["record"]["role"] for line in lines if line["section"] == "profile"]
    return str(role)


async def test_the_profile_of_an_owner_has_the_role_of_a_merchant(campus: Campus) -> None:
    before = await role_of(campus, "BUYER2")
    data_of(await campus.approve(await campus.applied()))
    assert (before, await role_of(campus, "BUYER2"), await role_of(campus, "VENDOR")) == (
        "buyer",
        "merchant",
        "merchant",
    )
    # Staff roles are grants and change no profile.
    assert await role_of(campus, "CAMPUS") == "buyer"


async def test_the_same_decision_again_has_no_effect_and_the_other_one_is_rejected(campus: Campus) -> None:
    approved, rejected = await campus.applied("BUYER2"), await campus.applied("BUYER")
    first = await campus.approve(approved)
    await campus.reject(rejected)
    state = await campus.state()
    trail = await campus.app.fetch("SELECT act, actor_id, subject_id FROM staff_acts ORDER BY created_at, id")
    assert [(row["act"], row["actor_id"], str(row["subject_id"])) for row in trail] == [
        ("approved", USERS["CAMPUS"].id, approved),
        ("rejected", USERS["CAMPUS"].id, rejected),
    ]
    again = await campus.approve(approved)
    assert (again.status_code, again.json()["data"]) == (200, first.json()["data"])
    repeated = await campus.reject(rejected, reason="Another reason")
    assert (repeated.status_code, repeated.json()["data"]["reason"]) == (200, "Which books?")
    for response in (await campus.reject(approved), await campus.approve(rejected)):
        assert error_of(response) == CONFLICT
    assert await campus.state() == state


async def test_after_a_rejection_one_may_apply_again_and_both_are_stored(campus: Campus) -> None:
    first = await campus.applied()
    assert (await campus.reject(first)).json()["data"]["status"] == "rejected"
    second = await campus.applied()
    assert (await campus.approve(second)).status_code == 200
    listed = (await campus.app.get(PATH, token=await campus.token("BUYER2"))).json()
    assert [(entry["id"], entry["status"], entry["reason"]) for entry in listed["data"]] == [
        (second, "approved", None),
        (first, "rejected", "Which books?"),
    ]
    assert "decidedBy" not in listed["data"][0]
    outcomes = (await campus.events())[EVENTS[1]]
    assert [(events["outcome"], events.get("reason")) for events in outcomes] == [
        ("rejected", "Which books?"),
        ("approved", None),
    ]


async def test_a_user_has_one_open_application_and_a_vendor_owner_none(campus: Campus) -> None:
    await campus.applied()
    state = await campus.state()
    for response in (await campus.apply("BUYER2"), await campus.apply("VENDOR")):
        assert error_of(response) == CONFLICT
    assert await campus.state() == state


async def test_twenty_applications_at_once_are_one(campus: Campus) -> None:
    await campus.token("BUYER2")
    responses = await asyncio.gather(*(campus.apply() for _ in range(20)))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 19
    assert await campus.app.count("vendor_applications") == 1


async def test_two_deciders_at_once_come_to_one_outcome(campus: Campus) -> None:
    await campus.grant("SUPPORT", "campus_admin", demo.LAGOS.id)
    application_id = await campus.applied()
    await asyncio.gather(campus.token("CAMPUS"), campus.token("SUPPORT"))
    responses = await asyncio.gather(
        *(campus.approve(application_id, by) for by in ("CAMPUS", "SUPPORT") for _ in range(3)),
        *(campus.reject(application_id, by) for by in ("CAMPUS", "SUPPORT") for _ in range(3)),
    )
    statuses = [response.status_code for response in responses]
    assert {tuple(statuses[:6]), tuple(statuses[6:])} == {(200,) * 6, (409,) * 6}
    events = await campus.events()
    assert len(events[EVENTS[1]]) == 1
    assert len(events[EVENTS[0]]) == (1 if events[EVENTS[1]][0]["outcome"] == "approved" else 0)


async def test_an_application_during_the_approval_of_an_earlier_one_never_yields_both(campus: Campus) -> None:
    application_id = await campus.applied()
    await campus.token("CAMPUS")
    responses = await asyncio.gather(campus.approve(application_id), *(campus.apply() for _ in range(5)))
    assert [response.status_code for response in responses] == [200] + [409] * 5
    assert await campus.app.count("vendor_applications") == 1


async def test_no_user_decides_on_their_own_application(campus: Campus) -> None:
    application_id = await campus.applied("CAMPUS")
    state = await campus.state()
    for response in (await campus.approve(application_id), await campus.reject(application_id)):
        assert error_of(response) == FORBIDDEN
    assert await campus.state() == state


async def test_staff_of_another_campus_neither_see_nor_decide(campus: Campus) -> None:
    await campus.grant("BUYER", "campus_admin", demo.IBADAN.id)
    application_id = await campus.applied()
    state = await campus.state()
    responses = [await campus.approve(application_id, "BUYER"), await campus.reject(application_id, "BUYER")]
    responses.append(await campus.app.get(f"{PATH}/{application_id}", token=await campus.token("BUYER")))
    assert [response.status_code for response in responses] == [404, 404, 404]
    listed = await campus.app.get(PATH, token=await campus.token("BUYER"))
    assert listed.json()["meta"]["total"] == 0
    assert await campus.state() == state
    # A second role that reads everything gives no right to decide elsewhere.
    await campus.app.fetch("DELETE FROM role_grants WHERE role = 'auditor'")
    await campus.grant("BUYER", "auditor", demo.IBADAN.id)
    assert (await campus.approve(application_id, "BUYER")).status_code == 403


async def test_a_caller_without_the_permission_is_rejected_before_the_body_is_read(campus: Campus) -> None:
    application_id = await campus.applied()
    for name in ("BUYER", "ADMIN", "AUDITOR", "SUPPORT"):
        token = await campus.token(name)
        for path, body in (("approve", {}), ("reject", {"unknown": 1})):
            assert error_of(await campus.app.post(f"{PATH}/{application_id}/{path}", body, token=token)) == FORBIDDEN
    assert (await campus.app.post(f"{PATH}/{application_id}/approve")).status_code == 401
    assert (await campus.app.post(PATH, APPLICATION)).status_code == 401


async def test_an_application_that_is_not_whole_is_rejected(campus: Campus) -> None:
    await campus.app.fetch("UPDATE campuses SET active = false WHERE id = $1", demo.NSUKKA.id)
    state = await campus.state()
    for change, name in (
        ({"campusId": str(uuid4())}, "campusId"),
        ({"campusId": str(demo.NSUKKA.id)}, "campusId"),
        ({"campusId": "lagos"}, "campusId"),
        ({"businessName": " "}, "businessName"),
        ({"legalName": None}, "legalName"),
        ({"description": "x" * 2001}, "description"),
        ({"status": "approved"}, "status"),
        ({"userId": str(uuid4())}, "userId"),
    ):
        assert invalid_field_of(await campus.apply(**change)) == (422, name)
    for reason in ("", "x" * 501, None):
        response = await campus.app.post(
            f"{PATH}/{uuid4()}/reject", {"reason": reason}, token=await campus.token("CAMPUS")
        )
        assert response.status_code == 422
    assert await campus.state() == state


async def test_an_erased_user_neither_applies_nor_becomes_a_vendor(campus: Campus) -> None:
    application_id = await campus.applied()
    await campus.token("CAMPUS")
    # The application that staff read is withdrawn when they decide.
    async with campus.app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await delete_user(uow, USERS["BUYER2"].id, b"hash", campus.app.clock.now())
    state = await campus.state()
    with pytest.raises(NotFound):
        async with campus.app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await approve_vendor_application(
                uow, UUID(application_id), by=USERS["CAMPUS"].id, now=campus.app.clock.now()
            )
    assert (await campus.approve(application_id)).status_code == 404
    assert error_of(await campus.apply()) == FORBIDDEN
    assert await campus.state() == state


async def test_a_closed_campus_gets_no_new_vendor(campus: Campus) -> None:
    application_id = await campus.applied()
    await campus.app.fetch("UPDATE campuses SET active = false WHERE id = $1", demo.LAGOS.id)
    state = await campus.state()
    assert (await campus.approve(application_id)).status_code == 409
    assert await campus.state() == state
    assert (await campus.reject(application_id)).status_code == 200


async def test_the_list_is_paged_sorted_and_filtered(campus: Campus) -> None:
    first = await campus.applied("BUYER")
    campus.app.next_period()
    second = await campus.applied("BUYER2")
    await campus.reject(first)
    for name in ("CAMPUS", "AUDITOR"):
        token = await campus.token(name)

        async def ids(token: str = token, **params: Any) -> list[str]:
            return [entry["id"] for entry in (await campus.app.get(PATH, token=token, **params)).json()["data"]]

        assert await ids() == [second, first]
        assert await ids(order="asc") == [first, second]
        assert await ids(status="pending") == [second]
        assert await ids(status="rejected", campusId=str(demo.LAGOS.id)) == [first]
        assert await ids(campusId=str(demo.IBADAN.id)) == []
        assert await ids(limit=1, page=2) == [first]
    meta = (await campus.app.get(PATH, token=await campus.token("CAMPUS"), limit=1)).json()["meta"]
    assert (meta["page"], meta["limit"], meta["total"], meta["total_pages"]) == (1, 1, 2, 2)
    for params in ({"sort": "reason"}, {"status": "open"}, {"campusId": "x"}, {"limit": 0}):
        assert (await campus.app.get(PATH, token=await campus.token("CAMPUS"), **params)).status_code == 422


async def test_a_decision_killed_before_its_commit_has_no_effect(
    campus: Campus, monkeypatch: pytest.MonkeyPatch
) -> None:
    application_id = await campus.applied()
    await campus.token("CAMPUS")
    state = await campus.state()

    async def die(*_: Any, **__: Any) -> None:
        raise RuntimeError("the process dies here")

    with monkeypatch.context() as patched:
        patched.setattr("identity.use_cases.vendors.approve_vendor_application.vendors.save_decision", die)
        assert (await campus.approve(application_id)).status_code == 500
    assert await campus.state() == state
    assert (await campus.approve(application_id)).status_code == 200


def caller_named(name: str, *, campus_id: UUID | None = None) -> Caller:
    user = USERS[name]
    roles = frozenset(user.roles)
    return Caller(user.id, roles=roles, permissions=permissions_of(roles), campus_id=campus_id or user.campus_id)


async def test_the_policies_hide_applications_even_from_a_query_without_a_filter(campus: Campus) -> None:
    application_id = UUID(await campus.applied())
    database = campus.app.dependencies.database
    for caller, seen in (
        (caller_named("BUYER2"), True),
        (caller_named("CAMPUS"), True),
        (caller_named("AUDITOR"), True),
        (caller_named("BUYER"), False),
        (caller_named("CAMPUS", campus_id=demo.IBADAN.id), False),
        (caller_named("ADMIN"), False),
        (Caller(), False),
    ):
        async with database.unit_of_work(acting_as=caller) as uow:
            rows = await uow.fetch("SELECT id FROM vendor_applications")
        assert [row["id"] for row in rows] == ([application_id] if seen else [])
    buyer = caller_named("BUYER")
    for statement in (
        "UPDATE vendor_applications SET status = 'approved'",
        "DELETE FROM vendor_applications",
        # In another user's name.
        "INSERT INTO vendor_applications (id, user_id, business_name, legal_name, campus_id, category, "
        "description, created_at) "
        f"VALUES ('{uuid4()}', '{USERS['VENDOR'].id}', 'x', 'x', '{demo.LAGOS.id}', 'x', 'x', now())",
        # Approved from the start.
        f"INSERT INTO vendor_applications (id, user_id, status) VALUES ('{uuid4()}', '{buyer.user_id}', 'approved')",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=buyer) as uow:
                await uow.execute(statement)


async def test_the_deciding_staff_read_who_applied(campus: Campus) -> None:
    path = f"{PATH}/{await campus.applied()}"
    applicant = {
        "fullName": USERS["BUYER2"].full_name,
        "email": USERS["BUYER2"].email,
        "emailConfirmed": True,
        "campusId": str(demo.LAGOS.id),
    }
    for reader in ("CAMPUS", "AUDITOR"):
        read = data_of(await campus.app.get(path, token=await campus.token(reader)))
        assert read["applicant"] == applicant, reader
    assert "applicant" not in data_of(await campus.app.get(path, token=await campus.token("BUYER2")))
    listed = data_of(await campus.app.get(PATH, token=await campus.token("CAMPUS")))
    assert not any("applicant" in application for application in listed)
    await campus.app.fetch("UPDATE profiles SET confirmed_email = NULL WHERE id = $1", USERS["BUYER2"].id)
    read = data_of(await campus.app.get(path, token=await campus.token("CAMPUS")))
    assert read["applicant"]["emailConfirmed"] is False
