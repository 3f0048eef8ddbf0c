"""The route table: the route of a path, and rejected tables."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.routing import BadRouteTable, RouteTable, allowed_methods, canonical_path, deprecation_headers
from common.auth.guards import PUBLIC
from common.web.endpoint_table import Idempotency, Route, read_routes
from testkit.cases import for_each

ROUTES = read_routes()
NOW = datetime(2026, 11, 1, tzinfo=UTC)
ID = "018CC251-f400-7004-8000-00000000000a"
TABLE = RouteTable(ROUTES)


def found(method: str, path: str) -> str | None:
    route = TABLE.find(canonical_path(path), NOW).get(method)
    return None if route is None else f"{route.upstream} {route.path}"


@for_each(
    ("method", "path", "expected"),
    [
        ("GET", "/api/products", "orders /api/products"),
        ("GET", f"/api/products/{ID}", "orders /api/products/:id"),
        ("POST", "/api/orders/checkout", "orders /api/orders/checkout"),
        ("POST", "/api/v1/orders/checkout", "orders /api/orders/checkout"),
        ("POST", f"/api/orders/{ID}/release", "payments /api/orders/:id/release"),
        ("POST", f"/api/orders/{ID}/verify-delivery", "orders /api/orders/:id/verify-delivery"),
        ("POST", f"/api/orders/{ID}/delivery-pin/reissue", "orders /api/orders/:id/delivery-pin/reissue"),
        ("GET", f"/api/vendors/{ID}", "identity /api/vendors/:id"),
        ("POST", f"/api/commission-changes/{ID}/approve", "identity /api/commission-changes/:id/approve"),
        ("POST", f"/api/flash-sales/{ID}/approve", "orders /api/flash-sales/:id/approve"),
        ("PUT", f"/api/vendors/{ID}/bank-details", "payouts /api/vendors/:id/bank-details"),
        ("POST", "/api/payouts/dispatch", "payouts /api/payouts/dispatch"),
        ("POST", "/functions/v1/gateway-webhook", "payments /functions/v1/gateway-webhook"),
        ("POST", "/api/webhooks/flutterwave", "payments /api/webhooks/flutterwave"),
        ("GET", "/.well-known/jwks.json", "identity /.well-known/jwks.json"),
        ("POST", f"/api/dead-letters/orders/{ID}/replay", "orders /api/dead-letters/orders/:id/replay"),
        ("POST", f"/api/dead-letters/orders/{ID}/close", "orders /api/dead-letters/orders/:id/close"),
        ("GET", "/api/wallets/current/statements/2026-11", "payouts /api/wallets/current/statements/:month"),
        ("GET", "/api/wallets/current/statements/soon/print", "payouts /api/wallets/current/statements/:month/print"),
        ("GET", "/api/wallets/current/statements/2026%2F11", None),
        ("GET", "/api/wallets/current/statements/2026-11/pay", None),
        ("GET", f"/api/vendors/{ID}/payout-schedule", "payouts /api/vendors/:id/payout-schedule"),
        ("GET", "/api/dead-letter-webhooks/charge.success:5", "payments /api/dead-letter-webhooks/:id"),
        ("GET", f"/api/dead-letters/orders/{ID}", "orders /api/dead-letters/orders/:id"),
        ("POST", f"/api/dead-letter-webhooks/{ID}/replay", "payments /api/dead-letter-webhooks/:id/replay"),
        (
            "POST",
            "/api/dead-letter-webhooks/charge.success:5/replay",
            "payments /api/dead-letter-webhooks/:id/replay",
        ),
        (
            "POST",
            "/api/dead-letter-webhooks/message:wamid.HBgN%3D%3D/replay",
            "payments /api/dead-letter-webhooks/:id/replay",
        ),
        ("POST", "/api/dead-letter-webhooks/charge.success:5/6/replay", None),
        ("GET", "/api/auth/oidc/school-1/start", "identity /api/auth/oidc/:id/start"),
        ("POST", "/api/auth/oidc/school-1/backchannel-logout", "identity /api/auth/oidc/:id/backchannel-logout"),
        ("POST", "/api/auth/oidc/exchange", "identity /api/auth/oidc/exchange"),
        ("GET", "/api/auth/oidc/school%2F1/start", None),
        ("POST", "/api/dead-letter-webhooks/charge.success:5", None),
        ("GET", "/api/orders/checkout", None),
        ("GET", "/api/orders/not-a-uuid", None),
        ("GET", "/api/orders/:id", None),
        ("GET", f"/api/orders/{ID}0", None),
        ("GET", f"/api/orders/{ID}/", None),
        ("GET", f"/api/orders//{ID}", None),
        ("GET", f"/api/orders/{ID}/{ID}", None),
        ("GET", "/api/v1", None),
        ("GET", "/api/v2/products", None),
        ("GET", "/API/products", None),
        ("GET", "/api/dead-letters/somebody", None),
        ("GET", "/api/personal-records/payouts", "payouts /api/personal-records/payouts"),
        ("GET", "/api/work", "identity /api/work"),
        ("GET", "/api/personal-records/somebody", None),
        ("GET", "/metrics", None),
    ],
)
def test_a_path_finds_its_own_route_and_no_other(method: str, path: str, expected: str | None) -> None:
    assert found(method, path) == expected


def test_a_literal_segment_precedes_an_id_and_rejects_other_methods() -> None:
    assert allowed_methods(TABLE.find("/api/orders/checkout", NOW)) == "POST"
    assert allowed_methods(TABLE.find(f"/api/orders/{ID}", NOW)) == "GET, HEAD"


@given(st.text(alphabet="abcdef0123456789-:/%.\x00{}", max_size=60))
def test_an_id_in_a_path_is_a_uuid(segment: str) -> None:
    assert not TABLE.find(f"/api/payments/{segment}", NOW) or segment == "intent"


def test_a_key_is_ignored_where_responses_hold_secrets_and_outside_of_the_api() -> None:
    for route in ROUTES:
        secret = (
            route.path.startswith(
                ("/api/auth/", "/functions/", "/api/messaging/", "/api/webhooks/", "/api/assistant/", "/mcp")
            )
            or "/delivery-pin" in route.path
            or route.name
            in ("POST /api/api-keys", "POST /api/webhook-endpoints", "POST /api/webhook-endpoints/:id/rotate-secret")
            # A file that is imported twice creates nothing twice.
            or route.name == "POST /api/vendors/:id/products/import"
        )
        if route.method == "POST" and not secret:
            assert route.idempotency is not Idempotency.IGNORED, route.name
        else:
            assert route.idempotency is Idempotency.IGNORED, route.name


def test_only_public_responses_are_shared_or_compressed() -> None:
    for route in (
        Route("POST", "/api/things", "orders", guard=PUBLIC, shared=True),
        Route("GET", "/api/things", "orders", shared=True),
        Route("POST", "/api/things", "orders", guard=PUBLIC, compressed=True),
        Route("GET", "/api/things", "orders", compressed=True),
    ):
        with pytest.raises(BadRouteTable):
            RouteTable([route])


def deprecated(notice: timedelta) -> Route:
    return Route("GET", "/api/old", "orders", deprecated_at=NOW, sunset_at=NOW + notice, successor="/docs")


def test_a_sunset_within_six_months_of_its_notice_stops_the_start() -> None:
    with pytest.raises(BadRouteTable, match="six months"):
        RouteTable([deprecated(timedelta(days=180))])


def test_a_deprecated_route_has_its_headers_until_its_sunset() -> None:
    table = RouteTable([deprecated(timedelta(days=184))])
    before, after = NOW + timedelta(days=183), NOW + timedelta(days=184)
    route = table.find("/api/old", before)["GET"]
    assert deprecation_headers(route) == [
        (b"deprecation", b"@1793491200"),
        (b"sunset", b"Tue, 04 May 2027 00:00:00 GMT"),
        (b"link", b'</docs>; rel="sunset"'),
    ]
    assert not table.find("/api/old", after)


@pytest.mark.parametrize(
    "route",
    [
        Route("GET", "/a", "orders", idempotency=Idempotency.ACCEPTED),
        Route("POST", "/a", "orders", guard=PUBLIC, idempotency=Idempotency.ACCEPTED),
        Route("POST", "/a", "orders", body_bytes_max=2**20, idempotency=Idempotency.ACCEPTED),
        Route("GET", "/a", "orders", sunset_at=NOW),
    ],
)
def test_a_table_that_contradicts_itself_stops_the_start(route: Route) -> None:
    with pytest.raises(BadRouteTable):
        RouteTable([route])


def test_a_duplicate_route_stops_the_start() -> None:
    with pytest.raises(BadRouteTable, match="twice"):
        RouteTable([ROUTES[0], ROUTES[0]])
