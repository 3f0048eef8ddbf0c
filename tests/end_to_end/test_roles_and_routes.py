"""Every role at every route of the gateway's table: admission equals the permission table and the guards."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest_asyncio

from campus_tools.endpoints import Endpoint, endpoints
from campus_tools.launcher.system import System
from common.auth.guards import Access
from common.web.endpoint_table import Idempotency, Media, Route, read_routes
from contracts import demo
from contracts.permissions import SECOND_FACTOR_ROLES, STAFF_ROLES, permissions_of
from operations.journey import Marketplace, SignedInUser
from testkit.marketplaces import marketplace_at
from tests.end_to_end.conftest import new_address
from tests.end_to_end.steps import newcomer, stepped_up

ENDPOINTS = {(endpoint.service, endpoint.name): endpoint for endpoint in endpoints()}
# Endpoints that end the caller's session or change its credentials. The services' own tests check their guards.
OWN_CREDENTIALS = ("/api/auth/",)
# As many as the gateway serves at once on two cores without a queue.
AT_ONCE = 8
# Role removal and suspension are effective everywhere within this time (contract section 5).
EVERYWHERE_SECONDS_MAX = 60
# The row is looked for before the body is read.
ROUTES = read_routes()
UPLOADS = {route.name for route in ROUTES if route.media is Media.IMAGE}
USERS = {user.name: user for user in demo.USERS}


@dataclass(frozen=True)
class Knocker:
    name: str
    roles: tuple[str, ...]
    stepped_up: bool
    signed_in: SignedInUser | None


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def knockers(system: System) -> list[Knocker]:
    """Each set of roles of a demo user at AAL1; staff and a vendor at AAL2 too; and an anonymous caller."""
    market = marketplace_at(system.base_url, system.sandbox_url, system.secrets)
    market.http.headers["X-Forwarded-For"] = new_address()
    shown = [Knocker("nobody", (), False, None)]
    try:
        for user in {user.roles: user for user in reversed(demo.USERS)}.values():
            shown.append(Knocker(user.name, user.roles, False, await market.sign_in(user.email)))
            if STAFF_ROLES & set(user.roles) or user.name == "VENDOR":
                signed_in = await market.sign_in_with_two_factors(user.email, user.name)
                shown.append(Knocker(user.name, user.roles, True, signed_in))
    finally:
        await market.close()
    return shown


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def admin(knockers: list[Knocker]) -> SignedInUser:
    """Return the demo's platform_admin at AAL2."""
    return next(knocker.signed_in for knocker in knockers if knocker.name == "ADMIN" and knocker.stepped_up)


def expected(endpoint: Endpoint, knocker: Knocker) -> tuple[int, str] | None:
    """Return the error by the contract's order of checks; None for an accepted caller."""
    if knocker.signed_in is None:
        return None if endpoint.guard.anonymous else (401, "AUTH_UNAUTHORIZED")
    held = permissions_of(knocker.roles)
    if endpoint.permissions and held.isdisjoint(endpoint.permissions):
        return 403, "AUTH_FORBIDDEN"
    if is_narrowed(endpoint, knocker):
        return 403, "AUTH_AAL2_REQUIRED"
    if (endpoint.guard.step_up or endpoint.guard.step_up_with in held) and not knocker.stepped_up:
        return 403, "AUTH_AAL2_REQUIRED"
    return None


def is_narrowed(endpoint: Endpoint, knocker: Knocker) -> bool:
    """Return whether the session lacks a second factor that the permission needs, or that might show the absent row."""
    if knocker.stepped_up or SECOND_FACTOR_ROLES.isdisjoint(knocker.roles):
        return False
    has_row = ":id" in endpoint.path and (endpoint.method in ("GET", "DELETE") or endpoint.name in UPLOADS)
    return bool(endpoint.permissions) or (has_row and endpoint.guard.is_decided_by_rows)


def repeats_another(endpoint: Endpoint, knocker: Knocker) -> bool:
    """Return whether the permission is lacking, which is checked before the factor: the session at AAL2 shows it.

    One member of the staff shows the order of the checks.
    """
    if knocker.stepped_up or not STAFF_ROLES & set(knocker.roles) or knocker.name == "SUPPORT":
        return False
    return bool(endpoint.permissions) and permissions_of(knocker.roles).isdisjoint(endpoint.permissions)


async def knock(market: Marketplace, route: Route, knocker: Knocker) -> tuple[int, str]:
    """Status and code of an empty request for an absent row."""
    # Requests without a token are counted by address.
    headers = dict(knocker.signed_in.headers) if knocker.signed_in else {"X-Forwarded-For": new_address()}
    if route.idempotency is Idempotency.REQUIRED:
        headers["Idempotency-Key"] = str(uuid4())
    if route.method == "GET":
        # After an absent event: a stream that accepts the caller rejects the id, and ends.
        headers["Last-Event-ID"] = str(uuid4())
    content: dict[str, object] = {}
    if route.media is Media.IMAGE:
        content["files"] = {"file": ("shelf.png", b"no image", "image/png")}
    elif route.media is Media.CSV:
        content["content"] = b"unknown column"
        headers["Content-Type"] = Media.CSV.value
    elif route.method != "GET":
        content["json"] = {"unknownField": True}
    path = route.path.replace(":id", str(uuid4())).replace(":month", "2026-01")
    response = await market.http.request(route.method, path, headers=headers, **content)
    return response.status_code, response.json()["code"] if response.status_code in (401, 403) else ""


async def test_every_route_accepts_exactly_the_roles_of_the_table(market: Marketplace, knockers: list[Knocker]) -> None:
    requested = [
        route
        for route in ROUTES
        if route.access in (Access.TOKEN, Access.ANONYMOUS) and not route.path.startswith(OWN_CREDENTIALS)
    ]
    turns = asyncio.Semaphore(AT_ONCE)
    wrong: list[str] = []

    async def try_route(route: Route, knocker: Knocker) -> None:
        async with turns:
            status, code = await knock(market, route, knocker)
        refused = (status, code) if status in (401, 403) else None
        if refused != expected(ENDPOINTS[route.upstream, route.name], knocker) or status in (405, 429) or status >= 500:
            wrong.append(f"{route.name} by {knocker.name} at AAL{1 + knocker.stepped_up}: {status} {code}")

    tried = [
        (route, knocker)
        for route in requested
        for knocker in knockers
        if not repeats_another(ENDPOINTS[route.upstream, route.name], knocker)
    ]
    await asyncio.gather(*(try_route(route, knocker) for route, knocker in tried))
    assert wrong == [], "\n".join(sorted(wrong))


async def test_a_revoked_role_and_a_suspension_are_felt_at_the_edge_and_in_every_service(
    market: Marketplace, system: System, admin: SignedInUser
) -> None:
    user = await newcomer(market)

    async def act(verb: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict(await market.post(f"/api/staff/{user.id}/{verb}", body, admin))

    assert (await act("grant", {"role": "auditor"}))["status"] == "granted"
    agent = await stepped_up(market, user.email)
    paths = ("/api/campus-orders", "/api/notification-delivery-logs", "/api/profiles/current", "/api/payments")
    for path in paths:
        assert (await market.http.get(path, headers=agent.headers)).status_code == 200

    async def is_refused_everywhere() -> bool | None:
        responses = [await market.http.get(path, headers=agent.headers) for path in paths]
        return {response.status_code for response in responses} == {401} or None

    assert (await act("revoke", {"role": "auditor"}))["roles"] == ["buyer"]
    await market.until("the revoked role is felt", is_refused_everywhere, EVERYWHERE_SECONDS_MAX)
    agent = await market.sign_in(user.email)
    assert (await market.http.get(paths[0], headers=agent.headers)).status_code == 403
    assert (await market.http.get(paths[2], headers=agent.headers)).status_code == 200
    assert (await act("suspend", {"reason": "A test"}))["suspended"] is True
    await market.until("the suspension is felt", is_refused_everywhere, EVERYWHERE_SECONDS_MAX)
    for path, body in (
        ("/api/auth/login", {"email": user.email, "password": system.secrets["DEMO_PASSWORD"]}),
        ("/api/auth/refresh", {"refreshToken": agent.refresh_token}),
    ):
        assert (await market.http.post(path, json=body)).status_code == 401
    assert (await act("reinstate", {}))["suspended"] is False
    assert (await market.sign_in(user.email)).access_token


async def test_an_admin_appointed_by_an_operator_completes_what_the_first_prepared(
    market: Marketplace, system: System, admin: SignedInUser
) -> None:
    second, grantee = await newcomer(market), await newcomer(market)
    assert system.command("identity", "grant-admin", "nobody@unilag.edu.ng")[0] == 1
    assert system.command("identity", "grant-admin", second.email)[0] == 0
    session = await stepped_up(market, grantee.email)
    prepared = await market.post(f"/api/staff/{grantee.id}/grant", {"role": "finance_maker"}, admin)
    assert (prepared["status"], prepared["preparedBy"]) == ("prepared", str(USERS["ADMIN"].id))
    path = f"/api/staff-grants/{prepared['id']}"
    read = {"hash": prepared["hash"]}
    own = await market.http.post(f"{path}/approve", headers=admin.headers, json=read)
    assert (own.status_code, own.json()["code"]) == (403, "AUTH_FORBIDDEN")
    approved = await market.post(f"{path}/approve", read, await stepped_up(market, second.email))
    assert (approved["status"], approved["decidedBy"]) == ("approved", second.id)
    maker = await market.refresh(session)
    assert (await market.http.get("/api/transactions", headers=maker.headers)).status_code == 200
    with_password = await market.sign_in(grantee.email)
    refused = await market.http.get("/api/transactions", headers=with_password.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    acts = await market.get("/api/staff-acts", admin, params={"subjectId": grantee.id, "order": "asc"})
    assert [(act["act"], act["actorId"]) for act in acts] == [
        ("role_grant_prepared", str(USERS["ADMIN"].id)),
        ("role_granted", second.id),
    ]
