"""Saved views of the console's lists: own, bounded in number, and removed with their person."""

import asyncio
from typing import Any

import httpx
import pytest
import pytest_asyncio

from identity.domain.saved_views import VIEWS_MAX
from testkit.responses import CONFLICT, INVALID, NOT_FOUND, data_of, error_of

from .conftest import IdentityApp
from .staff_steps import StaffAdministration

VIEWS = "/api/saved-views"
VIEW = {"path": "/payouts", "name": "Failed this week", "query": "status=failed&from=2026-11-23"}


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    return StaffAdministration(app)


async def save(staff: StaffAdministration, by: str = "CAMPUS", **changed: Any) -> httpx.Response:
    return await staff.app.post(VIEWS, {**VIEW, **changed}, token=await staff.token(by))


async def change(staff: StaffAdministration, verb: str, view: Any, by: str = "CAMPUS", **sent: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {await staff.token(by)}"}
    return await staff.app.client.request(verb, f"{VIEWS}/{view['id']}", headers=headers, **sent)


async def listed(staff: StaffAdministration, by: str = "CAMPUS", query: str = "") -> list[str]:
    headers = {"Authorization": f"Bearer {await staff.token(by)}"}
    return [view["name"] for view in data_of(await staff.app.client.get(f"{VIEWS}{query}", headers=headers))]


async def test_a_view_is_saved_renamed_and_deleted_by_its_user_only(staff: StaffAdministration) -> None:
    view = data_of(await save(staff), 201)
    assert {name: view[name] for name in VIEW} == VIEW
    await save(staff, path="/refunds")
    assert await listed(staff, query="?path=/payouts") == [VIEW["name"]]
    assert await listed(staff, by="BUYER") == []
    for verb in ("PATCH", "DELETE"):
        sent = {"json": {"name": "Mine"}} if verb == "PATCH" else {}
        assert error_of(await change(staff, verb, view, by="BUYER", **sent)) == NOT_FOUND
    assert data_of(await change(staff, "PATCH", view, json={"name": "Failed"}))["name"] == "Failed"
    assert (await change(staff, "DELETE", view)).status_code == 204
    assert error_of(await change(staff, "DELETE", view)) == NOT_FOUND
    assert await listed(staff) == [VIEW["name"]]


async def test_a_name_is_used_once_for_a_list(staff: StaffAdministration) -> None:
    await save(staff)
    assert error_of(await save(staff, query="")) == CONFLICT
    other = data_of(await save(staff, name="Waiting"), 201)
    assert error_of(await change(staff, "PATCH", other, json={"name": VIEW["name"]})) == CONFLICT
    assert data_of(await change(staff, "PATCH", other, json={"name": "Waiting"}))["name"] == "Waiting"
    assert (await save(staff, by="BUYER")).status_code == 201


async def test_a_user_saves_a_bounded_number_of_views(staff: StaffAdministration) -> None:
    for number in range(VIEWS_MAX - 1):
        assert (await save(staff, name=f"View {number}")).status_code == 201
    responses = await asyncio.gather(*(save(staff, name=f"Last {number}") for number in range(3)))
    assert sorted(response.status_code for response in responses) == [201, 409, 409]
    assert len(await listed(staff)) == VIEWS_MAX


@pytest.mark.parametrize(
    "changed",
    [
        {"path": "//evil.example"},
        {"path": "https://evil.example/"},
        {"query": 'status="><script>'},
        {"query": "a" * 1_001},
        {"name": ""},
        {"name": "a" * 61},
    ],
)
async def test_a_view_links_to_a_list_of_the_console_only(staff: StaffAdministration, changed: dict[str, str]) -> None:
    assert error_of(await save(staff, **changed)) == INVALID
