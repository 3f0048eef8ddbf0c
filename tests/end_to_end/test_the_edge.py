"""Headers of every response, of each origin, and rejected requests."""

import json
import time
from uuid import uuid4

import pytest

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.end_to_end.conftest import new_address
from tests.end_to_end.steps import a_product, placed_order

from .conftest import Users

UNKNOWN_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"


async def test_the_sixty_first_anonymous_request_of_a_minute_waits(market: Marketplace) -> None:
    address = {"X-Forwarded-For": new_address()}
    began = time.time()
    for number in range(60):
        response = await market.http.get("/api/products", params={"limit": 1}, headers=address)
        if number == 0:
            first_responded = time.time()
        assert (response.status_code, int(response.headers["RateLimit-Remaining"])) == (200, 59 - number)
    requested = time.time()
    refused = await market.http.get("/api/products", headers=address)
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")
    wait = int(refused.headers["Retry-After"])
    # Until the first request is a minute old, in whole seconds.
    assert began + 60 <= time.time() + wait
    assert requested + wait <= first_responded + 60 + 1
    assert began + 60 <= int(refused.headers["RateLimit-Reset"]) <= first_responded + 60 + 1
    assert (await market.http.get("/api/products", headers={"X-Forwarded-For": new_address()})).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/products"), ("GET", "/api/v1/products"), ("GET", "/api/orders"), ("GET", "/api/nothing"),
            ("DELETE", "/api/products"),
        ("GET", "/health/readiness"), ("GET", "/health/liveness"), ("GET", "/openapi.json"), ("GET", "/docs"),
        ("GET", "/.well-known/jwks.json"), ("GET", "/errors/validation-failed"),
            ("POST", "/functions/v1/gateway-webhook"),
        ("POST", "/api/orders/checkout"), ("GET", "/metrics"),
    ],
)  # fmt: skip
async def test_every_response_has_its_headers(market: Marketplace, method: str, path: str) -> None:
    response = await market.http.request(method, path)
    assert {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "X-Request-Id", "API-Version"} <= {
        name
        for name in ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "X-Request-Id", "API-Version")
        if name in response.headers
    }
    assert response.headers["X-Request-Id"].startswith("req_")
    assert response.headers["API-Version"] == "v1"
    assert "server" not in response.headers


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/orders", None, 401, "AUTH_UNAUTHORIZED"),
        ("GET", "/api/nothing", None, 404, "RESOURCE_NOT_FOUND"),
        ("GET", "/api/products/not-a-uuid", None, 404, "RESOURCE_NOT_FOUND"),
        ("GET", f"/api/products/{UNKNOWN_ID}", None, 404, "RESOURCE_NOT_FOUND"),
        ("GET", "/api/products?limit=0", None, 422, "VALIDATION_FAILED"),
        ("GET", "/api/products?limit=101", None, 422, "VALIDATION_FAILED"),
        ("GET", "/api/products?cursor=forged", None, 422, "VALIDATION_FAILED"),
        ("GET", "/api/products?sort=nothing", None, 422, "VALIDATION_FAILED"),
        ("PUT", "/api/products", None, 405, "VALIDATION_FAILED"),
        ("GET", "/api/orders/checkout", None, 405, "VALIDATION_FAILED"),
        ("POST", "/api/auth/login", b"{", 422, "VALIDATION_FAILED"),
        ("POST", "/api/auth/login", b'{"email":"a@b.c"}', 422, "VALIDATION_FAILED"),
        (
            "POST",
            "/api/auth/login",
            b'{"email":"nobody@unilag.edu.ng","password":"wrong password"}',
            401,
            "AUTH_UNAUTHORIZED",
        ),
        ("POST", "/api/auth/login", b"x" * 300_000, 413, "VALIDATION_FAILED"),
        ("GET", "/api/products?q=" + "x" * 9_000, None, 414, "VALIDATION_FAILED"),
    ],
)
async def test_a_bad_request_gets_a_problem_document(
    market: Marketplace, method: str, path, body, status: int, code: str
) -> None:
    headers = {"Content-Type": "application/json"} if body is not None else {}
    response = await market.http.request(method, path, content=body, headers=headers)
    problem = response.json()
    assert (response.status_code, problem["code"], problem["status"]) == (status, code, status)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert problem["type"].rsplit("/", 1)[-1] == code.lower().replace("_", "-")
    assert problem["requestId"] == response.headers["X-Request-Id"]


@pytest.mark.parametrize("token", ["x", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."])
async def test_a_broken_token_is_401_even_where_none_is_needed(market: Marketplace, token: str) -> None:
    for path in ("/api/orders", "/api/products"):
        response = await market.http.get(path, headers={"Authorization": f"Bearer {token}"})
        assert (response.status_code, response.json()["code"]) == (401, "AUTH_UNAUTHORIZED")


async def test_the_request_id_of_an_error_page_finds_the_log_line(
    market: Marketplace, users: Users, system: System
) -> None:
    response = await market.http.post("/api/orders/checkout", json={}, headers=users.buyer.headers)
    assert response.status_code == 422
    shown, log = response.json()["requestId"], system.process("api-gateway").log_path

    async def line():
        rows = log.read_text(errors="replace").splitlines(keepends=True)
        return next((json.loads(row) for row in rows if shown in row and row.endswith("\n")), None)

    found = await market.until("the line in the log", line, 60)
    assert (found["event"], found["route"], found["status"]) == ("request failed", "POST /api/orders/checkout", 422)
    assert len(found["trace_id"]) == 32


@pytest.mark.parametrize(
    "body",
    [
        {}, {"items": []}, {"items": [{"productId": "x", "quantity": 1}]},
        {"items": [{"productId": UNKNOWN_ID, "quantity": 0}]},
        {"items": [{"productId": UNKNOWN_ID, "quantity": 100}]},
        {"items": [{"productId": UNKNOWN_ID, "quantity": "1"}]},
        {"items": [{"productId": UNKNOWN_ID, "quantity": 1, "unitPriceMinor": 1}]},
        {"items": [{"productId": UNKNOWN_ID, "quantity": 1}], "totalMinor": 1},
        {"items": [{"productId": UNKNOWN_ID, "quantity": 1}], "deliveryNote": "\u0000"}, [], "x", 5, None,
    ],
)  # fmt: skip
async def test_a_wrong_checkout_is_refused_and_changes_nothing(market: Marketplace, users: Users, body) -> None:
    async def orders():
        """Return the ordered items: an order's status may change in the meantime, when its payment window ends."""
        listed = await market.get("/api/orders", users.other_buyer, params={"limit": 100})
        return [(order["id"], order["totalMinor"], order["items"]) for order in listed]

    before = await orders()
    headers = {**users.other_buyer.headers, "Idempotency-Key": str(uuid4())}
    response = await market.http.post("/api/orders/checkout", json=body, headers=headers)
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")
    assert response.json()["invalid_params"]
    assert await orders() == before


async def test_a_moved_price_is_a_conflict_and_charges_nothing(market: Marketplace, users: Users) -> None:
    product = await a_product(market)
    headers = {**users.buyer.headers, "Idempotency-Key": str(uuid4())}
    body = {"items": [{"productId": product["id"], "quantity": 1}], "expectedTotalMinor": product["priceMinor"] - 1}
    response = await market.http.post("/api/orders/checkout", json=body, headers=headers)
    assert (response.status_code, response.json()["code"]) == (409, "CONCURRENCY_CONFLICT")


async def test_a_foreign_order_is_not_found(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)

    async def problem(user, order_id):
        response = await market.http.get(f"/api/orders/{order_id}", headers=user.headers)
        document = response.json()
        return response.status_code, {
            name: document[name] for name in document if name not in ("instance", "requestId")
        }

    assert await problem(users.other_buyer, order["id"]) == await problem(users.other_buyer, UNKNOWN_ID)
    assert (await problem(users.other_vendor, order["id"]))[0] == 404


async def test_a_forbidden_move_is_a_conflict_and_a_repeated_one_a_success(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    early = await market.http.post(f"/api/orders/{order['id']}/dispatch", json={}, headers=users.vendor.headers)
    assert (early.status_code, early.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    for _ in range(2):
        cancelled = await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "changed my mind"}, users.buyer)
        assert cancelled["status"] == "cancelled"


async def test_staff_without_the_permission_or_the_second_factor_are_refused_in_that_order(
    market: Marketplace, users: Users
) -> None:
    once = await market.sign_in("maker@campus.example")
    key = {"Idempotency-Key": str(uuid4())}
    for user, code in (
        (users.buyer, "AUTH_FORBIDDEN"),
        (users.auditor, "AUTH_FORBIDDEN"),
        (once, "AUTH_AAL2_REQUIRED"),
    ):
        response = await market.http.post("/api/payouts/dispatch", json={"unknown": 1}, headers={**user.headers, **key})
        assert (response.status_code, response.json()["code"]) == (403, code)


async def test_identity_headers_of_a_client_are_worth_nothing(market: Marketplace, users: Users) -> None:
    order = await placed_order(market, users)
    forged = {"X-User-Id": order["buyerId"], "X-Role": "auditor", "X-Permissions": "orders:read"}
    response = await market.http.get(f"/api/orders/{order['id']}", headers={**users.other_buyer.headers, **forged})
    assert response.status_code == 404


async def test_both_addresses_of_the_api_are_the_same(market: Marketplace) -> None:
    old, new = [
        (await market.http.get(f"{base}/products", params={"limit": 3})).json()["data"] for base in ("/api", "/api/v1")
    ]
    assert old == new


@pytest.mark.parametrize("service", ["identity", "orders", "payments", "payouts", "notifications"])
async def test_dead_letters_of_every_service_are_readable_and_an_absent_one_unresolvable(
    market: Marketplace, users: Users, service: str
) -> None:
    response = await market.http.get(f"/api/dead-letters/{service}", headers=users.ops.headers)
    assert response.status_code == 200
    assert {"page", "limit", "total", "total_pages"} <= set(response.json()["meta"])
    refused = await market.http.get(f"/api/dead-letters/{service}", headers=users.buyer.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
    for verb, body in (("replay", {}), ("close", {"reason": "a test"})):
        absent = await market.http.post(
            f"/api/dead-letters/{service}/{UNKNOWN_ID}/{verb}", json=body, headers=users.ops.headers
        )
        assert absent.status_code == 404, verb


async def test_a_body_that_is_nested_without_end_is_refused(market: Marketplace) -> None:
    body = b'{"a":' * 5_000 + b"1" + b"}" * 5_000
    for path in ("/api/auth/login", "/api/auth/signup", "/api/auth/refresh"):
        response = await market.http.post(path, content=body, headers={"Content-Type": "application/json"})
        assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")


async def test_a_page_of_any_port_of_this_machine_may_call_a_system_of_development(market: Marketplace) -> None:
    for origin in ("http://localhost:5173", "http://127.0.0.1:3000"):
        preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        requested = await market.http.options("/api/orders/checkout", headers=preflight)
        assert (requested.status_code, requested.headers["Access-Control-Allow-Origin"]) == (204, origin)
        assert {"traceparent", "tracestate"} <= set(requested.headers["Access-Control-Allow-Headers"].split(", "))


async def test_a_callback_of_this_machine_is_accepted_and_a_rejected_one_names_the_setting(
    market: Marketplace, users: Users
) -> None:
    order = await placed_order(market, users)
    body = {"orderId": order["id"], "callbackUrl": "https://evil.example/paid"}
    requested = [
        await market.http.post(
            "/api/payments/intent",
            json={**body, "callbackUrl": callback},
            headers={**users.buyer.headers, "Idempotency-Key": str(uuid4())},
        )
        for callback in ("https://evil.example/paid", "http://localhost:5173/paid")
    ]
    assert [response.status_code for response in requested] == [422, 201]
    assert "ALLOWED_ORIGINS" in requested[0].json()["detail"]


async def test_an_anonymous_reader_gets_the_catalog_compressed_and_revalidates_by_etag(market: Marketplace) -> None:
    anybody = {"X-Forwarded-For": new_address(), "Accept-Encoding": "gzip"}
    page = await market.http.get("/api/products", headers=anybody)
    assert (page.headers["Content-Encoding"], page.headers["Cache-Control"]) == ("gzip", "public, no-cache")
    assert "Accept-Encoding" in page.headers["Vary"]
    assert int(page.headers["Content-Length"]) < len(page.content) / 2
    product = f"/api/products/{page.json()['data'][0]['id']}"
    tag = (await market.http.get(product, headers=anybody)).headers["ETag"]
    again = await market.http.get(product, headers={**anybody, "If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


async def test_readiness_names_every_service(market: Marketplace) -> None:
    shown = (await market.http.get("/health/readiness")).json()["data"]
    assert shown["status"] == "ready"
    assert {name: service["status"] for name, service in shown["services"].items()} == dict.fromkeys(
        ("identity", "orders", "payments", "payouts", "notifications"), "ready"
    )


async def test_the_documents_name_the_address_that_serves_them(market: Marketplace, system: System) -> None:
    reference = (await market.http.get("/openapi.json")).json()
    assert [server["url"] for server in reference["servers"]] == [system.base_url]


async def test_an_unknown_parameter_is_named_on_every_service(market: Marketplace, users: Users) -> None:
    for path in ("/api/orders", "/api/payments", "/api/wallets/current", "/api/notifications", "/api/profiles/current"):
        response = await market.http.get(path, params={"colour": "blue"}, headers=users.vendor.headers)
        assert response.status_code == 422, path
        assert [param["name"] for param in response.json()["invalid_params"]] == ["colour"]


async def test_a_problem_of_a_service_names_the_path_of_the_request(market: Marketplace) -> None:
    for prefix in ("/api", "/api/v1"):
        path = f"{prefix}/products/{uuid4()}"
        response = await market.http.get(path)
        assert (response.status_code, response.json()["instance"]) == (404, path)
