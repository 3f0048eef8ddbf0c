"""Roles and endpoints agree: the table of permissions and the guards.

Every role calls every endpoint of every service. Guards run before the body is parsed, so no database is needed: an
admitted caller reaches a service without dependencies, whose status is neither 401 nor 403.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from campus_tools.endpoints import SERVICES_WITH_ENDPOINTS, Endpoint, endpoints, endpoints_by_permission, endpoints_of
from common.auth.guards import Access
from common.auth.tokens import TokenVerifier
from common.auth.verification_keys import KeySet
from common.primitives.clock import ManualClock
from common.primitives.problems import Problem
from common.web.http import create_app
from common.web.http_context import HttpContext
from contracts.permissions import (
    MONEY_PERMISSIONS,
    MONEY_ROLES,
    PERMISSIONS_BY_ROLE,
    ROLES_BY_RANK,
    SECOND_FACTOR_ROLES,
    STAFF_ROLES,
)
from testkit.service_kit import BASE_URL, SERVICE_ROLE_KEY, Issuer, issuing

ENDPOINTS = endpoints()
FINANCE = {"finance_maker", "finance_checker"}

# The permissions of each role in section 5, literally; the table may split them, and adds those of other sections.
SECTION_5 = {
    "support_agent": "orders:read orders:cancel returns:decide reviews:moderate tickets:manage disputes:prepare "
    "notifications:resend payments:read refunds:read quarantine:read",
    "campus_admin": "vendors:suspend",
    "finance_maker": "payouts:read payouts:dispatch exceptions:classify reconciliations:prepare "
    "bank_details:quarantine "
    "refunds:prepare quarantine:prepare ledger:read",
    "finance_checker": "payouts:read reconciliations:approve refunds:approve quarantine:approve disputes:approve "
    "escrow:release ledger:read",
    "ops_oncall": "dead_letters:read webhooks:replay payouts:reset exceptions:read exceptions:classify alerts:read",
    "auditor": "ledger:export",
    "platform_admin": "staff:manage settings:manage vendors:commission",
}


@dataclass(frozen=True)
class Visitor:
    """A caller: a role alone, at AAL1 or AAL2; without a role an anonymous one, with or without the service key."""

    role: str | None
    stepped_up: bool
    authorization: str | None
    has_service_key: bool = False


class _LetIn(Problem):
    """Raised by a service without dependencies: the guard admitted the caller."""

    status = 418


class _NoDependencies:
    def __getattr__(self, name: str) -> Any:
        raise _LetIn


@dataclass(frozen=True)
class Doorstep:
    """The real applications of the services with their guards, and the callers."""

    clients: dict[str, httpx.AsyncClient]
    issuer: Issuer
    clock: ManualClock

    def visitors(self) -> list[Visitor]:
        shown = [
            Visitor(role, stepped_up, self.bearer((role,), stepped_up=stepped_up))
            for role in ROLES_BY_RANK
            for stepped_up in (False, True)
        ]
        return [*shown, Visitor(None, False, None), Visitor(None, False, f"Bearer {SERVICE_ROLE_KEY}", True)]

    def bearer(self, roles: tuple[str, ...], **claims: Any) -> str:
        # A merchant has a vendor, and staff of a campus their campus: without it even the right role is refused.
        token = self.issuer.token(uuid4(), roles=roles, vendor_id=UUID(int=1), campus_id=UUID(int=2), **claims)
        return f"Bearer {token}"

    async def knock(self, endpoint: Endpoint, authorization: str | None) -> tuple[int, str]:
        headers = {"Authorization": authorization} if authorization else {}
        path = endpoint.path.replace(":id", str(UUID(int=7)))
        response = await self.clients[endpoint.service].request(endpoint.method, path, headers=headers)
        return response.status_code, response.json().get("code", "") if response.status_code in (401, 403) else ""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def doorstep() -> AsyncIterator[Doorstep]:
    clock = ManualClock()
    async with issuing(clock) as issuer:
        verifier = TokenVerifier(KeySet(issuer.jwks_url, clock), issuer=BASE_URL, clock=clock)
        context = HttpContext(verifier, clock, BASE_URL, (SERVICE_ROLE_KEY,))
        clients = {}
        for service in SERVICES_WITH_ENDPOINTS:
            app = create_app(
                title=service, endpoints=endpoints_of(service), context=context, dependencies=_NoDependencies()
            )
            transport = httpx.ASGITransport(app=_Identified(app), raise_app_exceptions=False)
            clients[service] = httpx.AsyncClient(transport=transport, base_url="http://service")
        yield Doorstep(clients, issuer, clock)
        for client in clients.values():
            await client.aclose()


class _Identified:
    """Gives each request its id, as the outermost layer of a process does."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope.setdefault("state", {})["request_id"] = "req_0000000000000000"
        await self._app(scope, receive, send)


def expected(endpoint: Endpoint, visitor: Visitor) -> tuple[int, str] | None:
    """Return the result of the contract's order of checks: token, permission, step-up. None: admitted."""
    guard = endpoint.guard
    if guard.ignores_token or (guard.access is Access.SERVICE_KEY and visitor.has_service_key):
        return None
    if guard.access is Access.SERVICE_KEY or (
        visitor.role is None and (visitor.has_service_key or not guard.anonymous)
    ):
        return 401, "AUTH_UNAUTHORIZED"
    if visitor.role is None:
        return None
    required = set(guard.permissions)
    held = PERMISSIONS_BY_ROLE[visitor.role]
    if required and required.isdisjoint(held):
        return 403, "AUTH_FORBIDDEN"
    if required and visitor.role in SECOND_FACTOR_ROLES and not visitor.stepped_up:
        return 403, "AUTH_AAL2_REQUIRED"
    if (guard.step_up or guard.step_up_with in held) and not visitor.stepped_up:
        return 403, "AUTH_AAL2_REQUIRED"
    return None


@pytest.mark.parametrize("service", SERVICES_WITH_ENDPOINTS)
async def test_every_endpoint_admits_exactly_the_callers_of_the_table(doorstep: Doorstep, service: str) -> None:
    visitors = doorstep.visitors()
    for endpoint in (endpoint for endpoint in ENDPOINTS if endpoint.service == service):
        for visitor in visitors:
            status, code = await doorstep.knock(endpoint, visitor.authorization)
            refused = (status, code) if status in (401, 403) else None
            assert refused == expected(endpoint, visitor), (endpoint.name, visitor.role, visitor.stepped_up, status)
            assert status not in (404, 405), endpoint.name


async def test_a_second_factor_expires_after_fifteen_minutes(doorstep: Doorstep) -> None:
    old = int((doorstep.clock.now() - timedelta(minutes=16)).timestamp())
    shown = [{"method": "password", "timestamp": old}, {"method": "totp", "timestamp": old}]
    needing = [endpoint for endpoint in ENDPOINTS if endpoint.guard.step_up]
    assert len(needing) > 10
    for endpoint in needing:
        stale = doorstep.bearer(endpoint.roles[:1], stepped_up=True, amr=shown)
        assert await doorstep.knock(endpoint, stale) == (403, "AUTH_AAL2_REQUIRED"), endpoint.name


async def test_staff_permissions_hold_with_a_second_factor_of_any_age(doorstep: Doorstep) -> None:
    old = int((doorstep.clock.now() - timedelta(days=20)).timestamp())
    shown = [{"method": "password", "timestamp": old}, {"method": "totp", "timestamp": old}]
    for role in SECOND_FACTOR_ROLES:
        (at_aal1, at_aal2) = (doorstep.bearer((role,), stepped_up=step, amr=shown) for step in (False, True))
        for endpoint in ENDPOINTS:
            if (
                role in endpoint.roles
                and endpoint.permissions
                and not (endpoint.guard.step_up or endpoint.guard.step_up_with in PERMISSIONS_BY_ROLE[role])
            ):
                assert (await doorstep.knock(endpoint, at_aal1)) == (403, "AUTH_AAL2_REQUIRED"), (role, endpoint.name)
                assert (await doorstep.knock(endpoint, at_aal2))[0] not in (401, 403), (role, endpoint.name)


async def test_all_roles_together_are_admitted_to_every_endpoint(doorstep: Doorstep) -> None:
    everything = doorstep.bearer(ROLES_BY_RANK, stepped_up=True)
    nothing = doorstep.bearer((), stepped_up=True, role="buyer")
    for endpoint in ENDPOINTS:
        if endpoint.guard.access is Access.SERVICE_KEY:
            continue
        assert (await doorstep.knock(endpoint, everything))[0] not in (401, 403), endpoint.name
        refused = await doorstep.knock(endpoint, nothing)
        assert (refused == (403, "AUTH_FORBIDDEN")) is bool(endpoint.permissions), endpoint.name


async def test_an_invalid_token_is_rejected_where_it_is_checked(doorstep: Doorstep) -> None:
    for endpoint in ENDPOINTS:
        status, _ = await doorstep.knock(endpoint, "Bearer not-a-token")
        assert (status == 401) is not endpoint.guard.ignores_token, endpoint.name


def test_the_table_gives_each_role_what_the_contract_gives_it() -> None:
    for role, words in SECTION_5.items():
        assert set(words.split()) <= PERMISSIONS_BY_ROLE[role], role


def test_an_auditor_reads_and_changes_nothing() -> None:
    held = PERMISSIONS_BY_ROLE["auditor"]
    assert {permission.split(":")[1] for permission in held} == {"read", "export"}
    known = {permission for permissions in PERMISSIONS_BY_ROLE.values() for permission in permissions}
    assert {permission for permission in known if permission.endswith(":read")} <= held
    for endpoint in ENDPOINTS:
        if not held.isdisjoint(endpoint.permissions):
            assert endpoint.method == "GET", endpoint.name


def test_a_role_that_grants_roles_transfers_no_money() -> None:
    known = {permission for permissions in PERMISSIONS_BY_ROLE.values() for permission in permissions}
    assert known >= MONEY_PERMISSIONS
    assert MONEY_PERMISSIONS.isdisjoint(PERMISSIONS_BY_ROLE["platform_admin"])
    assert {*FINANCE, "support_agent"} <= MONEY_ROLES <= STAFF_ROLES - {"platform_admin", "auditor"}
    for role in STAFF_ROLES - MONEY_ROLES:
        assert MONEY_PERMISSIONS.isdisjoint(PERMISSIONS_BY_ROLE[role])


def test_step_up_permissions_move_money_or_are_listed() -> None:
    needing = {
        permission
        for permission, opened in endpoints_by_permission().items()
        if any(endpoint.guard.step_up for endpoint in opened)
    }
    assert needing - MONEY_PERMISSIONS == {
        "staff:manage",
        # The sign-in of another user (contract section 5.4).
        "factor_resets:prepare",
        "factor_resets:approve",
        # A new delivery PIN, which releases an order's money.
        "pin_reissues:prepare",
        "pin_reissues:approve",
        "hub_agents:manage",
        # The export of the ledger (contract section 5.4).
        "ledger:export",
        # Withdrawals of a buyer's own balance.
        "orders:place",
        "webhooks:replay",
        # Stops of checkout and dispatch.
        "operations:stop",
        "bank_details:own",
        "wallet:own",
        # `PATCH /api/vendors/:id` with a commission. The handler checks the fields of the shop's own page.
        "vendors:commission",
        # Secrets and addresses of webhooks.
        "webhooks:own",
        "webhooks:manage",
        # Secrets of programs.
        "api_keys:own",
        "api_keys:manage",
        # The people who work for a shop.
        "shop_members:own",
    }


def test_every_required_permission_belongs_to_a_role() -> None:
    known = {permission for permissions in PERMISSIONS_BY_ROLE.values() for permission in permissions}
    for endpoint in ENDPOINTS:
        assert set(endpoint.permissions) <= known, endpoint.name
