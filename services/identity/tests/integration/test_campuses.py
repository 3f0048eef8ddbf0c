"""Campuses and hubs that their staff change (contract section 10)."""

import asyncio
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest
import pytest_asyncio

from contracts import demo
from identity.domain.campuses import DELIVERY_FEE_MINOR_MAX
from testkit.responses import CONFLICT, data_of, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import StaffAdministration
from .steps import caller_named

LAGOS, IBADAN = f"/api/campuses/{demo.LAGOS.id}", f"/api/campuses/{demo.IBADAN.id}"
HUB = f"/api/hubs/{demo.MOREMI_HUB.id}"
NEW_HUB = {"name": "Jaja Hall", "address": "Jaja Hall, Akoka", "deliveryFeeMinor": 20_000}
HOURS = [{"day": "mon", "from": "08:00", "to": "18:00"}]


class Staff:
    """The campus admin of Lagos and the platform's admin, signed in."""

    def __init__(self, app: IdentityApp, tokens: dict[str, str]) -> None:
        self.app, self.tokens = app, tokens

    async def send(self, method: str, path: str, body: Any, by: str = "CAMPUS", **headers: str) -> httpx.Response:
        headers["Authorization"] = f"Bearer {self.tokens[by]}"
        return await self.app.client.request(method, path, json=body, headers=headers)

    async def patch(self, path: str, body: Any, by: str = "CAMPUS", **headers: str) -> httpx.Response:
        return await self.send("PATCH", path, body, by, **headers)

    async def state(self) -> list[Any]:
        return [
            await self.app.fetch(f"SELECT * FROM {table} ORDER BY id")
            for table in ("campuses", "hubs", "outbox", "staff_acts")
        ]


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> Staff:
    await app.load_demo()
    tokens = {name: await StaffAdministration(app).token(name) for name in ("CAMPUS", "ADMIN", "BUYER")}
    return Staff(app, tokens)


async def test_staff_change_their_campus_and_publish_it(staff: Staff) -> None:
    response = await staff.patch(LAGOS, {"name": "UNILAG"}, **{"If-Match": '"1"'})
    assert response.status_code == 200, response.text
    assert (response.json()["data"]["name"], response.json()["data"]["revision"]) == ("UNILAG", 2)
    assert response.headers["ETag"] == '"2"'
    assert (await staff.patch(LAGOS, {"active": False, "revision": 2})).json()["data"]["active"] is False
    events = (await staff.app.published("identity.campus_changed.v1"))[len(demo.CAMPUSES) :]
    campus_id = str(demo.LAGOS.id)
    assert events == [
        {"campusId": campus_id, "name": "UNILAG", "active": True},
        {"campusId": campus_id, "name": "UNILAG", "active": False},
    ]
    sequences = await staff.app.fetch("SELECT sequence FROM outbox WHERE subject = $1 ORDER BY position", campus_id)
    assert [row["sequence"] for row in sequences] == [1, 2, 3]
    # Only its staff see a closed campus, and can open it again.
    assert (await staff.app.get(LAGOS)).status_code == 404
    assert (await staff.app.get(HUB)).status_code == 404
    assert (await staff.patch(LAGOS, {"active": True})).status_code == 200
    assert (await staff.app.get(LAGOS)).status_code == 200


async def test_staff_open_change_and_close_a_hub(staff: Staff) -> None:
    hub = data_of(await staff.send("POST", f"{LAGOS}/hubs", NEW_HUB), 201)
    path = f"/api/hubs/{hub['id']}"
    assert (await staff.app.get(path)).json()["data"] == hub
    assert (hub["campusId"], hub["deliveryFeeMinor"], hub["active"], hub["revision"]) == (
        str(demo.LAGOS.id),
        20_000,
        True,
        1,
    )
    changed = await staff.patch(path, {"deliveryFeeMinor": 0, "address": "Gate 2", "openingHours": HOURS})
    assert changed.json()["data"]["openingHours"] == HOURS
    assert (changed.json()["data"]["deliveryFeeMinor"], changed.json()["data"]["address"]) == (0, "Gate 2")
    assert (await staff.patch(path, {"active": False})).status_code == 200
    assert (await staff.app.get(path)).status_code == 404
    events = (await staff.app.published("identity.hub_changed.v1"))[len(demo.HUBS) :]
    assert [(entry["address"], entry["openingHours"]) for entry in events] == [
        ("Jaja Hall, Akoka", []), ("Gate 2", HOURS), ("Gate 2", HOURS),
    ]  # fmt: skip
    assert [(entry["name"], entry["deliveryFeeMinor"], entry["active"]) for entry in events] == [
        ("Jaja Hall", 20_000, True),
        ("Jaja Hall", 0, True),
        ("Jaja Hall", 0, False),
    ]
    trail = await staff.app.fetch("SELECT act, actor_id, subject_id FROM staff_acts ORDER BY id")
    assert [(row["act"], row["actor_id"], str(row["subject_id"])) for row in trail] == [
        (act, USERS["CAMPUS"].id, hub["id"]) for act in ("opened", "changed", "changed")
    ]


async def test_the_platform_opens_campuses_and_no_other_role_does(staff: Staff) -> None:
    state = await staff.state()
    for by in ("CAMPUS", "BUYER"):
        assert (await staff.send("POST", "/api/campuses", {"name": "Babcock"}, by)).status_code == 403
    conflicting = await staff.send("POST", "/api/campuses", {"name": "Lagos", "domain": "UNILAG.edu.ng"}, "ADMIN")
    assert error_of(conflicting) == CONFLICT
    for body in ({"name": ""}, {}, {"name": "x", "domain": "no domain"}, {"name": "x", "id": str(uuid4())}):
        assert (await staff.send("POST", "/api/campuses", body, "ADMIN")).status_code == 422
    assert await staff.state() == state
    opened = await staff.send("POST", "/api/campuses", {"name": "Ashesi", "domain": "ashesi.edu.gh"}, "ADMIN")
    assert opened.status_code == 201, opened.text
    campus = opened.json()["data"]
    user_id = await staff.app.sign_up("student@ashesi.edu.gh")
    [row] = await staff.app.fetch("SELECT campus_id FROM profiles WHERE id = $1", user_id)
    assert str(row["campus_id"]) == campus["id"]
    assert (await staff.send("POST", f"/api/campuses/{campus['id']}/hubs", NEW_HUB, "ADMIN")).status_code == 201


async def test_staff_cannot_change_another_campus(staff: Staff) -> None:
    await staff.app.fetch(
        (
            "INSERT INTO hubs (id, campus_id, name, address, delivery_fee_minor, created_at) VALUES ($1, $2, 'x', "
            "'x', 0, now())"
        ),
        other_hub := uuid4(),
        demo.IBADAN.id,
    )
    state = await staff.state()
    responses = [
        await staff.patch(IBADAN, {"name": "Ours"}),
        await staff.send("POST", f"{IBADAN}/hubs", NEW_HUB),
        await staff.patch(f"/api/hubs/{other_hub}", {"active": False}),
        await staff.patch(LAGOS, {"name": "Ours"}, "BUYER"),
        await staff.patch(HUB, {"unknown": 1}, "BUYER"),
    ]
    assert [response.status_code for response in responses] == [403] * 5
    for path in (f"/api/campuses/{uuid4()}", f"/api/hubs/{uuid4()}", "/api/hubs/x"):
        assert (await staff.patch(path, {"active": False})).status_code == 404
    assert await staff.state() == state


async def test_a_stale_or_odd_change_changes_nothing(staff: Staff) -> None:
    state = await staff.state()
    for path in (LAGOS, HUB):
        for headers, body, status in (
            ({"If-Match": '"7"'}, {"name": "x"}, 409),
            ({}, {"name": "x", "revision": 7}, 409),
            ({"If-Match": "1"}, {"name": "x"}, 422),
            ({}, {"name": None}, 422),
            ({}, {"active": None}, 422),
            ({}, {"active": "yes"}, 422),
            ({}, {"campusId": str(uuid4())}, 422),
        ):
            assert (await staff.patch(path, body, **headers)).status_code == status
    for fee in (-1, DELIVERY_FEE_MINOR_MAX + 1, 1.5, "100", True, None):
        assert (await staff.patch(HUB, {"deliveryFeeMinor": fee})).status_code == 422
        assert (await staff.send("POST", f"{LAGOS}/hubs", {**NEW_HUB, "deliveryFeeMinor": fee})).status_code == 422
    # What is so already is no change.
    assert (await staff.patch(HUB, {"deliveryFeeMinor": demo.MOREMI_HUB.delivery_fee_minor})).status_code == 200
    assert await staff.state() == state


async def test_of_two_concurrent_changes_of_one_revision_one_conflicts(staff: Staff) -> None:
    responses = await asyncio.gather(
        *(staff.patch(HUB, {"deliveryFeeMinor": fee, "revision": 1}) for fee in range(1, 9))
    )
    assert sorted(response.status_code for response in responses) == [200] + [409] * 7
    assert len(await staff.app.published("identity.hub_changed.v1")) == len(demo.HUBS) + 1


async def test_the_policies_keep_staff_on_their_campus_even_when_a_statement_forgets_it(staff: Staff) -> None:
    database = staff.app.dependencies.database
    await staff.app.fetch("UPDATE campuses SET active = false WHERE id = $1", demo.NSUKKA.id)
    for name, campuses, hubs in (("CAMPUS", {demo.LAGOS.id}, 2), ("BUYER", set(), 0), ("AUDITOR", set(), 0)):
        async with database.unit_of_work(acting_as=caller_named(name)) as uow:
            changed = await uow.fetch("UPDATE campuses SET revision = revision RETURNING id")
            assert {row["id"] for row in changed} == campuses
            assert await uow.execute("UPDATE hubs SET revision = revision") == hubs
    async with database.unit_of_work(acting_as=caller_named("ADMIN")) as uow:
        assert await uow.execute("UPDATE campuses SET revision = revision") == len(demo.CAMPUSES)
    for name, campus_id in (("CAMPUS", demo.IBADAN.id), ("BUYER", demo.LAGOS.id)):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=caller_named(name)) as uow:
                await uow.execute(_NEW_HUB, uuid4(), campus_id)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with database.unit_of_work(acting_as=caller_named("CAMPUS")) as uow:
            await uow.execute("INSERT INTO campuses (id, name, created_at) VALUES ($1, 'x', now())", uuid4())


_NEW_HUB = (
    "INSERT INTO hubs (id, campus_id, name, address, delivery_fee_minor, created_at) VALUES ($1, $2, 'x', 'x', "
    "0, now())"
)
