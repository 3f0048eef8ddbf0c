"""Every fault at every route of the gateway's table: status, code, the headers of contract section 4 and the shape of
the problem.

What applies to a route is read from the route table, from the guards of the services and from the merged OpenAPI, so a
new route meets all of it without a line here.
"""

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid1, uuid4

import asyncpg
import httpx
import pytest_asyncio

from campus_tools.endpoints import endpoints
from campus_tools.launcher.system import System
from common.auth.guards import Access
from common.primitives.problems import TITLES
from common.web.endpoint_table import Idempotency, Media, Route, read_routes, template_of
from contracts import demo
from contracts.permissions import PERMISSIONS_BY_ROLE, SECOND_FACTOR_ROLES, permissions_of
from operations.journey import Marketplace, SignedInUser
from testkit.marketplaces import marketplace_at
from tests.end_to_end.conftest import new_address
from tests.end_to_end.issuers import FurtherIssuers
from tests.end_to_end.steps import newcomer, stepped_up

ROUTES = read_routes()
ENDPOINTS = {(endpoint.service, endpoint.name): endpoint for endpoint in endpoints()}
# As many as two cores serve without a queue.
AT_ONCE = 16
REQUEST_ID = re.compile(r"req_[A-Za-z0-9]{16,64}")
KEY = "Idempotency-Key"
# They authenticate by signatures and keys of their senders: test_signed_endpoints.py has their faults.
SIGNED = (
    "/functions/v1/gateway-webhook", "/api/webhooks/flutterwave", "/functions/v1/sms-receipts/",
    "/functions/v1/mail-unsubscribe",
    "/api/messaging/webhook",
    # The name of a provider is no id, and an unknown one is 404 first: identity's test_oidc.py has their faults.
    "/api/auth/oidc/:id/",
)  # fmt: skip
# Tables to which only a request adds a row, so that background work of an earlier test has no effect here. Every column
# of the rows is left out of it: timers and consumers move them.
WRITTEN_BY_USERS = {
    "identity": (
        "accounts", "campuses", "hubs", "vendor_applications", "vendors", "role_grants", "staff_grants", "staff_acts",
        "totp_factors", "passkeys", "recovery_codes", "suspensions", "one_time_codes", "commission_changes",
        "factor_resets", "sign_up_passwords",
    ),
    "orders": (
        "orders", "order_items", "products", "cart_items", "reviews", "return_requests", "order_disputes",
        "dispute_resolutions", "pin_reissues", "flash_sales", "delivery_verifications",
    ),
    "payments": (
        "payment_intents", "releases WHERE released_by IS NOT NULL", "refund_decisions", "quarantine_decisions",
        "withdrawals", "withdrawal_decisions", "goodwill_refunds",
    ),
    "payouts": (
        "vendor_bank_details", "bank_detail_quarantines", "bank_detail_releases", "payout_schedules",
        "dispatch_batches", "reconciliations",
    ),
    "notifications": (
        "support_tickets", "support_messages", "user_devices", "notification_preferences", "notification_resends",
        "webhook_endpoints",
    ),
}  # fmt: skip
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# Permissions that no session without a second factor holds.
OF_STAFF_ALONE = permissions_of(SECOND_FACTOR_ROLES) - permissions_of(set(PERMISSIONS_BY_ROLE) - SECOND_FACTOR_ROLES)
FORGED = "eyJhIjoxfQ"
BAD_QUERIES = {
    "limit": ("0", "101", "-1", "many", "5.0"),
    "cursor": (FORGED, "x" * 600, "%00"),
    "page": ("0", "-1", "10001", "one"),
    "sort": ("zzz", "", "created_at;DROP"),
    "order": ("sideways",),
}
# They enroll no second factor.
ONE_FACTOR = ("BUYER", "BUYER2", "PACKER")


@dataclass(frozen=True)
class Fault:
    """A request that must be refused, and how. `named`: the invalid param that must be among the named ones."""

    what: str
    route: Route
    status: int
    code: str
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = ""
    path: str = ""
    query: str = ""
    content: bytes | None = None
    named: str | None = None


@dataclass(frozen=True)
class Callers:
    """The callers: each account once with a password only and once with two factors, an expired token, and the service
    key.
    """

    once: Mapping[str, SignedInUser]
    twice: Mapping[str, SignedInUser]
    newcomer: SignedInUser
    newcomer_twice: SignedInUser
    expired: str
    service_key: str

    def allowed(self, route: Route) -> dict[str, str]:
        """Return the headers of a caller whom the route's guard accepts."""
        if route.access is Access.OPEN:
            return {"Authorization": f"Bearer {self.service_key}"}
        if route.access is Access.CREDENTIALS:
            return {"X-Forwarded-For": new_address()}
        endpoint = ENDPOINTS[route.upstream, route.name]
        if route.path.startswith("/api/auth/"):
            return self.newcomer_twice.headers
        for user in demo.USERS:
            if endpoint.guard.step_up and user.name in ONE_FACTOR:
                continue
            if user.name in self.twice and (
                not endpoint.permissions or not permissions_of(user.roles).isdisjoint(endpoint.permissions)
            ):
                return self.twice[user.name].headers
        raise AssertionError(f"nobody of the demo may use {route.name}")

    def forbidden(self, route: Route) -> dict[str, str] | None:
        """Return the headers of a caller without the permission; None when every caller has it, or none is required."""
        endpoint = ENDPOINTS[route.upstream, route.name]
        for user in demo.USERS:
            if (
                endpoint.permissions
                and user.name in self.twice
                and permissions_of(user.roles).isdisjoint(endpoint.permissions)
            ):
                return self.twice[user.name].headers
        return None

    def not_stepped_up(self, route: Route) -> dict[str, str]:
        """Return the headers of a caller with the permission, signed in with a password only."""
        endpoint = ENDPOINTS[route.upstream, route.name]
        for user in demo.USERS:
            if endpoint.permissions and not permissions_of(user.roles).isdisjoint(endpoint.permissions):
                return self.once[user.name].headers
        return self.newcomer.headers


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def callers(system: System, issuers: FurtherIssuers) -> Callers:
    market = marketplace_at(system.base_url, system.sandbox_url, system.secrets)
    market.http.headers["X-Forwarded-For"] = new_address()
    try:
        enrolled = [user for user in demo.USERS if user.name not in ONE_FACTOR]
        student, cautious = await newcomer(market), await newcomer(market)
        return Callers(
            {user.name: await market.sign_in(user.email) for user in demo.USERS},
            {user.name: await market.sign_in_with_two_factors(user.email, user.name) for user in enrolled}
            | {user.name: await market.sign_in(user.email) for user in demo.USERS if user not in enrolled},
            await market.sign_in(student.email),
            await stepped_up(market, cautious.email),
            issuers.school(uuid4(), exp=int(time.time()) - 3_600, iat=int(time.time()) - 7_200),
            system.secrets["SERVICE_ROLE_KEY"],
        )
    finally:
        await market.close()


def faults(callers: Callers, parameters: Mapping[str, frozenset[str]]) -> Iterator[Fault]:
    """Every fault that applies, route by route."""
    for route in ROUTES:
        if not route.path.startswith(SIGNED):
            yield from faults_of_callers(callers, route)
            yield from faults_of_bodies(callers, route)
            yield from faults_of_keys(callers, route)
        yield from faults_of_paths(callers, route)
        yield from faults_of_queries(callers, route, parameters.get(route.name, frozenset()))


def faults_of_callers(callers: Callers, route: Route) -> Iterator[Fault]:
    outsider = {"X-Forwarded-For": new_address()}
    expired = {"Authorization": f"Bearer {callers.expired}", **outsider}
    nonsense = {"Authorization": "Bearer nonsense", **outsider}
    if route.access is Access.OPEN and route.method == "POST":
        for what, headers in (("no token", outsider), ("expired", expired), ("nonsense", nonsense)):
            yield Fault(what, route, 401, "AUTH_UNAUTHORIZED", headers, content=b"{}")
    if route.access in (Access.TOKEN, Access.ANONYMOUS):
        yield Fault("expired", route, 401, "AUTH_TOKEN_EXPIRED", expired)
        yield Fault("nonsense", route, 401, "AUTH_UNAUTHORIZED", nonsense)
    if route.access is not Access.TOKEN:
        return
    yield Fault("no token", route, 401, "AUTH_UNAUTHORIZED", outsider)
    key = {KEY: str(uuid4())} if route.idempotency is Idempotency.REQUIRED else {}
    forbidden = callers.forbidden(route)
    if forbidden is not None:
        yield Fault("wrong role", route, 403, "AUTH_FORBIDDEN", {**forbidden, **key}, content=b'{"unknown": 1}')
    endpoint = ENDPOINTS[route.upstream, route.name]
    if endpoint.guard.step_up or (endpoint.permissions and set(endpoint.permissions) <= OF_STAFF_ALONE):
        headers = {**callers.not_stepped_up(route), **key}
        yield Fault("no second factor", route, 403, "AUTH_AAL2_REQUIRED", headers, content=b'{"unknown": 1}')


def faults_of_bodies(callers: Callers, route: Route) -> Iterator[Fault]:
    if route.method not in ("POST", "PUT", "PATCH"):
        return
    allowed = (
        {**callers.allowed(route), KEY: str(uuid4())}
        if route.idempotency is Idempotency.REQUIRED
        else callers.allowed(route)
    )
    text = {**allowed, "Content-Type": "text/plain"}
    yield Fault("wrong media type", route, 415, "VALIDATION_FAILED", text, content=b"{}")
    zipped = {**allowed, "Content-Encoding": "gzip"}
    yield Fault("compressed", route, 415, "VALIDATION_FAILED", zipped, content=b"{}")
    large = b" " * (route.body_bytes_max + 1)
    yield Fault("too large", route, 413, "VALIDATION_FAILED", allowed, content=large)
    if route.media is not Media.JSON:
        return
    for what, content in (
        ("an unknown field", b'{"unknownField": true}'),
        ("cut off", b"{"),
        ("no object", b"[1]"),
        ("not a number", b'{"a": NaN}'),
        ("a null byte", b"{\x00}"),
        ("not UTF-8", b'{"a": "\xff"}'),
        ("nested without end", b"[" * 20_000),
        ("a number without end", b'{"a": 1' + b"0" * 10_000 + b"}"),
    ):
        yield Fault(what, route, 422, "VALIDATION_FAILED", fresh_key(allowed), content=content, named="")


def fresh_key(headers: Mapping[str, str]) -> dict[str, str]:
    return {**headers, **({KEY: str(uuid4())} if KEY in headers else {})}


def faults_of_keys(callers: Callers, route: Route) -> Iterator[Fault]:
    if route.idempotency is Idempotency.IGNORED or route.media is not Media.JSON:
        return
    allowed = callers.allowed(route)
    if route.idempotency is Idempotency.REQUIRED:
        yield Fault("no key", route, 422, "VALIDATION_FAILED", allowed, content=b"{}", named=KEY)
    for bad in ("nonsense", str(uuid1()), ""):
        headers = {**allowed, KEY: bad}
        yield Fault(f"the key {bad!r}", route, 422, "VALIDATION_FAILED", headers, content=b"{}", named=KEY)


def faults_of_paths(callers: Callers, route: Route) -> Iterator[Fault]:
    token = callers.newcomer.headers
    # The id of a webhook's event is any text (section 7.8), and so is the name of a provider (section 10.6).
    if ":id" in route.path and not route.path.startswith(("/api/dead-letter-webhooks/", "/api/auth/oidc/")):
        for bad in ("not-a-uuid", "%00", f"{uuid4()}0"):
            path = route.path.replace(":id", bad, 1).replace(":id", str(uuid4()))
            yield Fault(f"the id {bad}", route, 404, "RESOURCE_NOT_FOUND", token, path=path)
    known = {each.method for each in ROUTES if each.path == route.path}
    for method in METHODS:
        if method not in known and route.method == min(known):
            yield Fault(f"by {method}", route, 405, "VALIDATION_FAILED", token, method=method)


def faults_of_queries(callers: Callers, route: Route, known: frozenset[str]) -> Iterator[Fault]:
    if "limit" not in known:
        return
    for name, values in BAD_QUERIES.items():
        # Every list rejects an unknown sort field (contract section 1).
        if name in known or name == "sort":
            for value in values:
                if value == FORGED and ":id" in route.path:
                    # The cursor is bound to its list, so the row is looked up first, and does not exist.
                    continue
                query = f"{name}={value}"
                yield Fault(
                    query[:40], route, 422, "VALIDATION_FAILED", callers.allowed(route), query=query, named=name
                )
    if "page" in known:
        query = "page=101&limit=100"
        yield Fault(query, route, 422, "VALIDATION_FAILED", callers.allowed(route), query=query, named="page")


async def send(client: httpx.AsyncClient, fault: Fault) -> httpx.Response:
    path = fault.path or fault.route.path.replace(":id", str(uuid4()))
    path = path.replace(":month", "2026-01")
    headers = dict(fault.headers)
    content = fault.content
    if content is None and fault.route.method in ("POST", "PUT", "PATCH"):
        content = b"{}"
    if content is not None and fault.route.method in ("POST", "PUT", "PATCH"):
        media = "multipart/form-data; boundary=b" if fault.route.media is Media.IMAGE else fault.route.media.value
        media = "application/json" if fault.route.media is Media.ANY else media
        headers.setdefault("Content-Type", media)
    else:
        content = None
    return await client.request(
        fault.method or fault.route.method,
        path + (f"?{fault.query}" if fault.query else ""),
        headers=headers,
        content=content,
    )


def wrong_of(response: httpx.Response, fault: Fault, base_url: str, asked_at: float) -> str | None:
    """Return what is wrong with an error response, or None; `asked_at` in seconds since 1970."""
    if response.status_code != fault.status:
        return f"{response.status_code} {response.text[:160]}"
    problem: dict[str, Any] = response.json()
    headers = response.headers
    code = problem.get("code", "")
    checks = {
        "code": code == fault.code,
        "media type": headers.get("content-type") == "application/problem+json",
        "members": {"type", "title", "status", "detail", "instance", "code", "invalid_params", "requestId"}
        == set(problem),
        "type": problem.get("type") == f"{base_url}/errors/{code.lower().replace('_', '-')}",
        "title": problem.get("title") == TITLES.get(code),
        "status": problem.get("status") == fault.status,
        "detail": bool(problem.get("detail")),
        "requestId": problem.get("requestId") == headers.get("x-request-id"),
        "X-Request-Id": REQUEST_ID.fullmatch(headers.get("x-request-id", "")) is not None,
        "API-Version": headers.get_list("api-version") == ["v1"],
        "Cache-Control": headers.get_list("cache-control") == ["no-store"],
        "RateLimit": all(headers.get(f"ratelimit-{name}", "").isdigit() for name in ("limit", "remaining", "reset")),
        "Reset": int(headers.get("ratelimit-reset", 0)) >= int(asked_at),
        "Allow": ("allow" in headers) == (fault.status == 405),
        "WWW-Authenticate": ("www-authenticate" in headers) == (fault.status == 401),
        "X-Cache-Lookup": "x-cache-lookup" not in headers,
        "Server": "server" not in headers and headers.get("x-content-type-options") == "nosniff",
    }
    if fault.named is not None:
        names = [param["name"] for param in problem.get("invalid_params", [])]
        checks["invalid_params"] = fault.named in names if fault.named else bool(names)
        checks["reasons"] = all(param["reason"] for param in problem.get("invalid_params", []))
    missed = [name for name, holds in checks.items() if not holds]
    return f"{', '.join(missed)}: {response.text[:160]}" if missed else None


async def rows_of_users(system: System) -> dict[str, int]:
    """Return the number of rows by requests in each of these tables."""
    found: dict[str, int] = {}
    for service, tables in WRITTEN_BY_USERS.items():
        url = urlsplit(system.secrets["DATABASE_URL"])._replace(path=f"/campus_{service}").geturl()
        connection = await asyncpg.connect(url)
        try:
            for table in tables:
                found[f"{service}.{table}"] = await connection.fetchval(f"SELECT count(*) FROM {table}")
        finally:
            await connection.close()
    return found


async def test_every_fault_at_every_route_is_refused_in_the_contract_s_words(
    market: Marketplace, callers: Callers, system: System
) -> None:
    document = (await market.http.get("/openapi.json")).json()
    parameters = {
        f"{method.upper()} {template_of(path)}": frozenset(
            each["name"] for each in operation.get("parameters", []) if each["in"] == "query"
        )
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    requested = list(faults(callers, parameters))
    before = await rows_of_users(system)
    turns = asyncio.Semaphore(AT_ONCE)
    wrong: list[str] = []

    async def probe(fault: Fault) -> None:
        async with turns:
            asked_at = time.time()
            response = await send(market.http, fault)
        missed = wrong_of(response, fault, system.base_url, asked_at)
        if missed is not None:
            wrong.append(f"{fault.route.name} with {fault.what}: {missed}")

    await asyncio.gather(*(probe(fault) for fault in requested))
    assert wrong == [], f"{len(wrong)} of {len(requested)}\n" + "\n".join(sorted(wrong))
    assert {fault.route.path for fault in requested} == {route.path for route in ROUTES}
    assert await rows_of_users(system) == before, "the refused request changed nothing"
