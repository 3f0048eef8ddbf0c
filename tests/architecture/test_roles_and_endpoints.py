"""Roles and endpoints agree: the table of permissions, the guards, the gateway's route table and the contract's 'Who'.

Every role calls every endpoint of every service. Guards run before the body is parsed, so no database is needed: an admitted caller
reaches a service without dependencies, whose status is neither 401 nor 403.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from api_gateway.routes import ROUTES
from api_gateway.routing import Access, Idempotency
from campus_tools.endpoints import SERVICES_WITH_ENDPOINTS, Endpoint, endpoints, endpoints_by_permission, routers_of
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
# Called between services, and not routed by the gateway.
INTERNAL = {"GET /internal/standings/current"}
EVERYBODY = frozenset(ROLES_BY_RANK)
FINANCE = {"finance_maker", "finance_checker"}

# The contract's 'Who' (sections 5 to 12), written by hand: a guard that is changed without its contract is noticed here. What
# remains to the rows ("parties", "own") is open to every signed-in user at the endpoint. AAL2 is the list of section 5.
CONTRACT: dict[str, tuple[set[str] | frozenset[str], bool]] = {
    # Section 6
    "POST /api/orders/checkout": ({"buyer"}, False),
    "GET /api/orders": (EVERYBODY, False),
    "GET /api/orders/:id": (EVERYBODY, False),
    "GET /api/orders/:id/items": (EVERYBODY, False),
    "POST /api/orders/:id/cancel": (EVERYBODY, False),
    "POST /api/orders/:id/dispatch": ({"merchant"}, False),
    "POST /api/orders/:id/verify-delivery": (EVERYBODY, False),
    "GET /api/orders/:id/delivery-pin": (EVERYBODY, False),
    "POST /api/orders/:id/delivery-pin/reissue": (EVERYBODY, False),
    "POST /api/orders/:id/dispute": (EVERYBODY, False),
    "POST /api/orders/:id/dispute/evidence": (EVERYBODY, False),
    "GET /api/orders/:id/dispute/evidence": (EVERYBODY, False),
    "GET /api/return-requests": (EVERYBODY, False),
    "POST /api/orders/:id/resolve": ({"support_agent"}, False),
    "POST /api/dispute-resolutions/:id/approve": ({"finance_checker"}, True),
    "POST /api/dispute-resolutions/:id/reject": ({"finance_checker"}, True),
    "POST /api/orders/:id/release": ({"finance_checker"}, True),
    "POST /api/orders/:id/return-requests": (EVERYBODY, False),
    "GET /api/orders/:id/return-requests": (EVERYBODY, False),
    "POST /api/return-requests/:id/approve": ({"merchant", "support_agent"}, False),
    "POST /api/return-requests/:id/reject": ({"merchant", "support_agent"}, False),
    "GET /api/vendors/:id/sales": ({"merchant", "campus_admin", "auditor", *FINANCE}, False),
    "GET /api/sales": ({"campus_admin", "auditor", *FINANCE}, False),
    "GET /api/campus-orders": ({"campus_admin", "support_agent", "auditor"}, False),
    # Section 7
    "POST /api/payments/intent": ({"buyer"}, False),
    "GET /api/payments": (EVERYBODY, False),
    "GET /api/payments/:id": (EVERYBODY, False),
    "GET /api/transactions": ({"auditor", *FINANCE}, False),
    "GET /api/transactions/:id": ({"auditor", *FINANCE}, False),
    "GET /api/ledger/accounts": ({"auditor", *FINANCE}, False),
    "GET /api/ledger/trial-balance": ({"auditor", *FINANCE}, False),
    "GET /api/quarantined-charges/:id/postings": ({"auditor", *FINANCE}, False),
    "GET /api/quarantined-charges": ({"support_agent", "auditor", *FINANCE}, False),
    "GET /api/quarantined-charges/:id": ({"support_agent", "auditor", *FINANCE}, False),
    "GET /api/refunds": (EVERYBODY, False),
    "GET /api/refunds/:id": (EVERYBODY, False),
    "POST /api/quarantined-charges/:id/prepare": ({"finance_maker"}, True),
    "POST /api/quarantined-charges/:id/approve": ({"finance_checker"}, True),
    "POST /api/quarantined-charges/:id/reject": ({"finance_checker"}, True),
    "POST /api/refunds/:id/prepare": ({"finance_maker"}, True),
    "POST /api/refunds/:id/approve": ({"finance_checker"}, True),
    "POST /api/refunds/:id/reject": ({"finance_checker"}, True),
    "GET /api/chargebacks": ({"auditor", *FINANCE}, False),
    "GET /api/chargebacks/:id": ({"auditor", *FINANCE}, False),
    "POST /api/chargebacks/:id/evidence": (FINANCE, True),
    "POST /api/chargebacks/:id/resolve": (FINANCE, True),
    "GET /api/rewards/balance": (EVERYBODY, False),
    "GET /api/dead-letter-webhooks": ({"ops_oncall", "auditor"}, False),
    "POST /api/dead-letter-webhooks/:id/replay": ({"ops_oncall"}, True),
    "POST /api/dead-letter-webhooks/:id/close": ({"ops_oncall"}, True),
    **{f"GET /api/personal-records/{service}": (EVERYBODY, False) for service in SERVICES_WITH_ENDPOINTS},
    **{f"GET /api/dead-letters/{service}": ({"ops_oncall", "auditor"}, False) for service in SERVICES_WITH_ENDPOINTS},
    **{f"GET /api/queues/{service}": ({"ops_oncall", "auditor"}, False) for service in SERVICES_WITH_ENDPOINTS},
    **{
        f"POST /api/dead-letters/{service}/:id/{verb}": ({"ops_oncall"}, True)
        for service in SERVICES_WITH_ENDPOINTS
        for verb in ("replay", "close")
    },
    # Section 8
    "GET /api/wallets/current": ({"merchant"}, False),
    "GET /api/wallets/current/statement": ({"merchant"}, False),
    "GET /api/wallets/current/statements/:month": ({"merchant"}, False),
    "GET /api/wallets/current/statements/:month/export": ({"merchant"}, False),
    "GET /api/wallets/current/statements/:month/print": ({"merchant"}, False),
    "GET /api/vendors/:id/wallet": ({"auditor", *FINANCE}, False),
    "GET /api/vendors/:id/statement": ({"auditor", *FINANCE}, False),
    "GET /api/wallet-transactions": ({"auditor", *FINANCE}, False),
    "GET /api/vendors/:id/payout-schedule": ({"merchant", "auditor", *FINANCE}, False),
    "PUT /api/vendors/:id/payout-schedule": ({"merchant"}, True),
    "GET /api/vendors/:id/bank-details": ({"merchant", "auditor"}, False),
    "PUT /api/vendors/:id/bank-details": ({"merchant"}, True),
    "GET /api/vendors/:id/bank-details/history": ({"merchant", "auditor", *FINANCE}, False),
    "POST /api/vendors/:id/bank-details/quarantine": ({"finance_maker"}, True),
    "POST /api/vendors/:id/bank-details/release": ({"finance_maker"}, True),
    "GET /api/bank-detail-releases": ({"auditor", *FINANCE}, False),
    "GET /api/bank-detail-releases/:id": ({"auditor", *FINANCE}, False),
    "POST /api/bank-detail-releases/:id/approve": ({"finance_checker"}, True),
    "POST /api/bank-detail-releases/:id/reject": ({"finance_checker"}, True),
    "POST /api/payouts": ({"merchant"}, False),
    "POST /api/wallets/current/waiver": ({"merchant"}, False),
    "GET /api/payouts": ({"merchant", "auditor", *FINANCE}, False),
    "GET /api/payouts/:id": ({"merchant", "auditor", *FINANCE}, False),
    "GET /api/payout-batches": ({"auditor", *FINANCE}, False),
    "GET /api/payout-batches/:id": ({"auditor", *FINANCE}, False),
    "GET /api/reconciliations/:id/postings": ({"auditor", *FINANCE}, False),
    "POST /api/payouts/dispatch": ({"finance_maker"}, True),
    "GET /api/payout-exceptions": ({"ops_oncall", "auditor", *FINANCE}, False),
    "GET /api/payout-exceptions/observations": ({"ops_oncall", "auditor", *FINANCE}, False),
    "GET /api/payout-exceptions/:id": ({"ops_oncall", "auditor", *FINANCE}, False),
    "POST /api/payout-exceptions/:id/query": ({"finance_maker", "ops_oncall"}, False),
    "POST /api/payout-exceptions/:id/classify": ({"finance_maker", "ops_oncall"}, False),
    "POST /api/payout-exceptions/:id/close": ({"finance_maker", "ops_oncall"}, False),
    # Section 10
    "GET /api/profiles/current": (EVERYBODY, False),
    "GET /api/profiles/current/erasure": (EVERYBODY, False),
    "POST /api/campuses": ({"platform_admin"}, False),
    "PATCH /api/campuses/:id": ({"campus_admin", "platform_admin"}, False),
    "POST /api/campuses/:id/hubs": ({"campus_admin", "platform_admin"}, False),
    "PATCH /api/hubs/:id": ({"campus_admin", "platform_admin"}, False),
    "POST /api/vendor-applications": (EVERYBODY, False),
    "POST /api/vendor-applications/:id/approve": ({"campus_admin"}, False),
    "POST /api/vendor-applications/:id/reject": ({"campus_admin"}, False),
    "POST /api/vendors/:id/suspend": ({"campus_admin"}, False),
    "POST /api/vendors/:id/reinstate": ({"campus_admin"}, False),
    "PATCH /api/vendors/:id": ({"merchant", "platform_admin"}, True),
    "GET /api/commission-changes": ({"platform_admin", "auditor"}, False),
    "GET /api/commission-changes/:id": ({"platform_admin", "auditor"}, False),
    "POST /api/commission-changes/:id/approve": ({"platform_admin"}, True),
    "POST /api/commission-changes/:id/reject": ({"platform_admin"}, True),
    "GET /api/signing-keys": ({"platform_admin", "ops_oncall", "auditor", "finance_checker"}, False),
    "GET /api/staff": ({"platform_admin", "auditor"}, False),
    "GET /api/staff/:id": ({"platform_admin", "auditor"}, False),
    "GET /api/staff-grants": ({"platform_admin", "auditor"}, False),
    "GET /api/staff-grants/:id": ({"platform_admin", "auditor"}, False),
    "GET /api/staff-acts": ({"platform_admin", "auditor"}, False),
    "GET /api/staff-acts/current": (STAFF_ROLES | {"merchant"}, False),
    "GET /api/staff-names": (STAFF_ROLES - {"hub_agent"}, False),
    **{
        f"POST /api/{path}": ({"platform_admin"}, True)
        for path in (
            "staff/:id/grant",
            "staff/:id/revoke",
            "staff/:id/suspend",
            "staff/:id/reinstate",
            "staff-grants/:id/approve",
            "staff-grants/:id/reject",
        )
    },
    # Section 11
    **{
        f"{method} /api/products{path}": ({"merchant"}, False)
        for method, path in (
            ("POST", ""),
            ("PUT", "/:id"),
            ("PATCH", "/:id"),
            ("DELETE", "/:id"),
            ("POST", "/:id/images"),
        )
    },
    # Staff need a second factor for it, the vendor does not: `STEP_UP_OF_STAFF` below.
    "POST /api/flash-sales": ({"merchant", "campus_admin"}, False),
    "POST /api/flash-sales/:id/end": ({"merchant", "campus_admin"}, False),
    "POST /api/flash-sales/:id/approve": ({"merchant"}, False),
    "GET /api/carts/current": ({"buyer"}, False),
    "PUT /api/carts/current/items/:id": ({"buyer"}, False),
    "POST /api/vendors/:id/reviews": ({"buyer"}, False),
    "POST /api/products/:id/reviews": ({"buyer"}, False),
    # Section 12
    "GET /api/notifications": (EVERYBODY, False),
    "POST /api/notifications/:id/read": (EVERYBODY, False),
    "GET /api/notification-delivery-logs": ({"support_agent", "auditor"}, False),
    "GET /api/alerts": ({"ops_oncall", "auditor", *FINANCE}, False),
    "GET /api/support-tickets": (EVERYBODY, False),
    "POST /api/support-tickets": (EVERYBODY, False),
    "GET /api/support-tickets/:id": (EVERYBODY, False),
    "PATCH /api/support-tickets/:id": ({"support_agent"}, False),
    "POST /api/support-tickets/:id/assign": ({"support_agent"}, False),
    "POST /api/support-tickets/:id/close": (EVERYBODY, False),
    "GET /api/support-tickets/:id/messages": (EVERYBODY, False),
    "POST /api/support-tickets/:id/messages": (EVERYBODY, False),
    "POST /api/support-tickets/:id/attachments": (EVERYBODY, False),
    # Section 13
    "GET /api/work": (STAFF_ROLES | {"merchant"}, False),
    "GET /api/audits": ({"auditor", "finance_checker", "ops_oncall"}, False),
    "GET /api/audits/:id": ({"auditor", "finance_checker", "ops_oncall"}, False),
    # Sections 16.17 and 16.19
    "GET /api/webhook-endpoints": ({"merchant", "platform_admin"}, False),
    "POST /api/webhook-endpoints": ({"merchant", "platform_admin"}, True),
    "PATCH /api/webhook-endpoints/:id": ({"merchant", "platform_admin"}, False),
    "DELETE /api/webhook-endpoints/:id": ({"merchant", "platform_admin"}, True),
    "POST /api/webhook-endpoints/:id/rotate-secret": ({"merchant", "platform_admin"}, True),
    "POST /api/webhook-endpoints/:id/replay": ({"merchant", "platform_admin"}, False),
    "GET /api/webhook-endpoints/:id/deliveries": ({"merchant", "platform_admin"}, False),
}

# Sections 5 and 5.5: one permission of several needs AAL2.
STEP_UP_OF_STAFF = {
    "POST /api/return-requests/:id/approve": "returns:decide",
    "POST /api/return-requests/:id/reject": "returns:decide",
    "POST /api/flash-sales": "flash_sales:propose",
    "POST /api/flash-sales/:id/end": "flash_sales:propose",
}

# The permissions of each role in section 5, literally; the table may split them, and adds those of other sections.
SECTION_5 = {
    "support_agent": "orders:read orders:cancel returns:decide reviews:moderate tickets:manage disputes:prepare "
    "notifications:resend payments:read refunds:read quarantine:read",
    "campus_admin": "vendors:suspend",
    "finance_maker": "payouts:read payouts:dispatch exceptions:classify reconciliations:prepare bank_details:quarantine "
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
                title=service, routers=routers_of(service), context=context, dependencies=_NoDependencies()
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
    if guard.ignores_token or (guard.service_key and visitor.has_service_key):
        return None
    if guard.service_key or (visitor.role is None and (visitor.has_service_key or not guard.anonymous)):
        return 401, "AUTH_UNAUTHORIZED"
    if visitor.role is None:
        return None
    required = {guard.permission} if guard.permission else set(guard.one_of)
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
        if endpoint.guard.service_key:
            continue
        assert (await doorstep.knock(endpoint, everything))[0] not in (401, 403), endpoint.name
        refused = await doorstep.knock(endpoint, nothing)
        assert (refused == (403, "AUTH_FORBIDDEN")) is bool(endpoint.permissions), endpoint.name


async def test_an_invalid_token_is_rejected_where_it_is_checked(doorstep: Doorstep) -> None:
    for endpoint in ENDPOINTS:
        status, _ = await doorstep.knock(endpoint, "Bearer not-a-token")
        assert (status == 401) is not endpoint.guard.ignores_token, endpoint.name


def test_the_edge_routes_every_endpoint_with_its_guard() -> None:
    known = {(endpoint.service, endpoint.name): endpoint for endpoint in ENDPOINTS}
    routed = {(part, route.name): route for route in ROUTES for part in route.parts or (route.upstream,)}
    assert routed.keys() - known.keys() == set()
    assert {name for _, name in known.keys() - routed.keys()} == INTERNAL
    for place, route in routed.items():
        guard = known[place].guard
        if route.access is Access.TOKEN:
            fits = not (guard.anonymous or guard.service_key)
        elif route.access is Access.ANONYMOUS:
            fits = guard.anonymous and not guard.ignores_token
        elif route.access is Access.CREDENTIALS:
            fits = guard.ignores_token
        else:
            fits = guard.service_key or guard.anonymous
        assert fits, (route.name, route.access, guard)


def test_the_edge_replays_responses_to_admitted_callers() -> None:
    known = {(endpoint.service, endpoint.name): endpoint.guard for endpoint in ENDPOINTS}
    with_key = [route for route in ROUTES if route.idempotency is not Idempotency.IGNORED]
    assert len(with_key) > 50
    differing = {
        route.name: known[route.upstream, route.name]
        for route in with_key
        if route.guard != known[route.upstream, route.name]
    }
    assert differing == {}


@pytest.mark.parametrize("name", CONTRACT)
def test_an_endpoint_admits_the_callers_of_the_contract(name: str) -> None:
    (guard,) = {endpoint.guard for endpoint in ENDPOINTS if endpoint.name == name}
    (admitted,) = {endpoint.roles for endpoint in ENDPOINTS if endpoint.name == name}
    roles, needs_step_up = CONTRACT[name]
    assert not guard.anonymous
    assert set(admitted) == set(roles)
    assert guard.step_up is needs_step_up


def test_staff_need_a_second_factor_where_vendors_do_not() -> None:
    assert {
        endpoint.name: endpoint.guard.step_up_with for endpoint in ENDPOINTS if endpoint.guard.step_up_with
    } == STEP_UP_OF_STAFF


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
        # The export of the ledger (contract section 5.4).
        "ledger:export",
        "webhooks:replay",
        "bank_details:own",
        "wallet:own",
        # `PATCH /api/vendors/:id` alone: the shop's own page, and the commission.
        "catalog:own",
        "vendors:commission",
        # Secrets and addresses of webhooks.
        "webhooks:own",
        "webhooks:manage",
    }


def test_every_required_permission_belongs_to_a_role() -> None:
    known = {permission for permissions in PERMISSIONS_BY_ROLE.values() for permission in permissions}
    for endpoint in ENDPOINTS:
        assert set(endpoint.permissions) <= known, endpoint.name
