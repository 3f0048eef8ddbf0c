"""The form of API keys, and the endpoints that they open (decision 201)."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from common.auth.api_keys import PREFIX, is_api_key, new_api_key
from common.auth.caller import Caller
from common.auth.guards import PUBLIC, SIGNED_IN, STEPPED_UP, Guard, one_of, permission
from common.primitives.problems import Forbidden
from common.web.endpoint_table import Route, line_of, read_routes, route_of
from contracts.permissions import KEY_SCOPES, MONEY_PERMISSIONS, PERMISSIONS_BY_ROLE

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = Caller(user_id=uuid4(), permissions=frozenset({"wallet:own"}), key_scopes=frozenset({"shop_money:read"}))


def test_a_key_has_a_prefix_and_a_checksum() -> None:
    key = new_api_key()
    assert key.startswith(PREFIX)
    assert is_api_key(key)
    wrong = [key[:-1], f"{key}A", key[:10] + ("A" if key[10] != "A" else "B") + key[11:], key.upper(), ""]
    assert [is_api_key(text) for text in wrong] == [False] * len(wrong)


@pytest.mark.parametrize("guard", [PUBLIC, permission("wallet:own").for_keys("shop_money:read")])
def test_a_key_opens_public_endpoints_and_those_of_its_scopes(guard: Guard) -> None:
    guard.check(KEY, NOW)


@pytest.mark.parametrize(
    "guard", [SIGNED_IN, STEPPED_UP, permission("wallet:own"), one_of("wallet:own", "x").for_keys("payouts:read")]
)
def test_a_key_opens_no_other_endpoint_whatever_its_permissions(guard: Guard) -> None:
    with pytest.raises(Forbidden):
        guard.check(KEY, NOW)


def test_no_endpoint_with_a_step_up_and_no_unknown_scope_is_for_keys() -> None:
    for guard, scope in ((STEPPED_UP, "orders:read"), (SIGNED_IN, "wallet:own"), (one_of("a", step_up_with="a"), "x")):
        with pytest.raises(ValueError, match="API key"):
            guard.for_keys(scope)


def test_no_scope_has_a_permission_for_money_decisions() -> None:
    assert MONEY_PERMISSIONS.isdisjoint(KEY_SCOPES.values())
    assert {*KEY_SCOPES.values()} <= PERMISSIONS_BY_ROLE["merchant"] | PERMISSIONS_BY_ROLE["auditor"]


def test_keys_write_only_products_and_dispatches() -> None:
    """A new writing endpoint of a key is added here by a decision."""
    writing = {
        f"{route.method} {route.path}" for route in read_routes() if route.guard.key_scopes and route.method != "GET"
    }
    assert writing == {
        "POST /api/orders/:id/dispatch",
        "POST /api/products",
        "PUT /api/products/:id",
        "PATCH /api/products/:id",
        "DELETE /api/products/:id",
        "PUT /api/products/:id/variants",
        "POST /api/products/:id/images",
        "DELETE /api/products/:id/images/:id",
        "POST /api/vendors/:id/products/import",
    }


def test_the_table_of_endpoints_keeps_the_scopes() -> None:
    guard = one_of("wallet:own", "payouts:read").for_keys("shop_money:read", "payouts:read")
    route = Route("GET", "/api/payouts", "payouts", guard=guard, compressed=False)
    assert route_of(line_of(route, "payouts.list", [200])) == replace(route)
