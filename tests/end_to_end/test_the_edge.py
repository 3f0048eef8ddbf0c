"""Headers of every response, of each origin, and rejected requests."""

import json
import time
from uuid import uuid4

import pytest

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.end_to_end.conftest import new_address
from tests.end_to_end.steps import a_product, placed_order

from .conftest import People

NOBODY = str(uuid4())


async def test_the_sixty_first_anonymous_request_of_a_minute_waits(market: Marketplace) -> None:
    address = {"X-Forwarded-For": new_address()}
    began = time.time()
    for number in range(60):
        answer = await market.http.get("/api/products", params={"limit": 1}, headers=address)
        if number == 0:
            first_answered = time.time()
        assert (answer.status_code, int(answer.headers["RateLimit-Remaining"])) == (200, 59 - number)
    asked = time.time()
    refused = await market.http.get("/api/products", headers=address)
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")
    wait = int(refused.headers["Retry-After"])
    # Until the first request is a minute old, in whole seconds.
    assert began + 60 <= time.time() + wait
    assert asked + wait <= first_answered + 60 + 1
    assert began + 60 <= int(refused.headers["RateLimit-Reset"]) <= first_answered + 60 + 1
    assert (await market.http.get("/api/products", headers={"X-Forwarded-For": new_address()})).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/products"), ("GET", "/api/v1/products"), ("GET", "/api/orders"), ("GET", "/api/nothing"), ("DELETE", "/api/products"),
        ("GET", "/health/readiness"), ("GET", "/health/liveness"), ("GET", "/openapi.json"), ("GET", "/docs"),
        ("GET", "/.well-known/jwks.json"), ("GET", "/errors/validation-failed"), ("POST", "/functions/v1/gateway-webhook"),
        ("POST", "/api/orders/checkout"), ("GET", "/metrics"),
    ],
)  # fmt: skip
async def test_every_answer_carries_its_headers(market: Marketplace, method: str, path: str) -> None:
    answer = await market.http.request(method, path)
    assert {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "X-Request-Id", "API-Version"} <= {
        name
        for name in ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "X-Request-Id", "API-Version")
        if name in answer.headers
    }
    assert answer.headers["X-Request-Id"].startswith("req_")
    assert answer.headers["API-Version"] == "v1"
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/orders", None, 401, "AUTH_UNAUTHORIZED"),
        ("GET", "/api/nothing", None, 404, "RESOURCE_NOT_FOUND"),
        ("GET", "/api/products/not-a-uuid", None, 404, "RESOURCE_NOT_FOUND"),
        ("GET", f"/api/products/{NOBODY}", None, 404, "RESOURCE_NOT_FOUND"),
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
    answer = await market.http.request(method, path, content=body, headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["status"]) == (status, code, status)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert problem["type"].rsplit("/", 1)[-1] == code.lower().replace("_", "-")
    assert problem["requestId"] == answer.headers["X-Request-Id"]


@pytest.mark.parametrize("token", ["x", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."])
async def test_a_broken_token_is_401_even_where_none_is_needed(market: Marketplace, token: str) -> None:
    for path in ("/api/orders", "/api/products"):
        answer = await market.http.get(path, headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()["code"]) == (401, "AUTH_UNAUTHORIZED")


async def test_the_request_id_that_a_refused_person_is_shown_leads_to_the_log(
    market: Marketplace, people: People, system: System
) -> None:
    answer = await market.http.post("/api/orders/checkout", json={}, headers=people.buyer.headers)
    assert answer.status_code == 422
    shown, log = answer.json()["requestId"], system.process("api-gateway").log_path

    async def line():
        rows = log.read_text(errors="replace").splitlines(keepends=True)
        return next((json.loads(row) for row in rows if shown in row and row.endswith("\n")), None)

    found = await market.until("the line in the log", line, 60)
    assert (found["event"], found["route"], found["status"]) == ("request failed", "POST /api/orders/checkout", 422)
    assert len(found["trace_id"]) == 32


@pytest.mark.parametrize(
    "body",
    [
        {}, {"items": []}, {"items": [{"productId": "x", "quantity": 1}]}, {"items": [{"productId": NOBODY, "quantity": 0}]},
        {"items": [{"productId": NOBODY, "quantity": 100}]}, {"items": [{"productId": NOBODY, "quantity": "1"}]},
        {"items": [{"productId": NOBODY, "quantity": 1, "unitPriceMinor": 1}]},
        {"items": [{"productId": NOBODY, "quantity": 1}], "totalMinor": 1},
        {"items": [{"productId": NOBODY, "quantity": 1}], "deliveryNote": "\u0000"}, [], "x", 5, None,
    ],
)  # fmt: skip
async def test_a_wrong_checkout_is_refused_and_changes_nothing(market: Marketplace, people: People, body) -> None:
    async def orders():
        """What was ordered: where an order stands may move meanwhile, when the time for its payment is over."""
        listed = await market.get("/api/orders", people.other_buyer, params={"limit": 100})
        return [(order["id"], order["totalMinor"], order["items"]) for order in listed]

    before = await orders()
    headers = {**people.other_buyer.headers, "Idempotency-Key": str(uuid4())}
    answer = await market.http.post("/api/orders/checkout", json=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")
    assert answer.json()["invalid_params"]
    assert await orders() == before


async def test_a_moved_price_is_a_conflict_and_charges_nothing(market: Marketplace, people: People) -> None:
    product = await a_product(market)
    headers = {**people.buyer.headers, "Idempotency-Key": str(uuid4())}
    body = {"items": [{"productId": product["id"], "quantity": 1}], "expectedTotalMinor": product["priceMinor"] - 1}
    answer = await market.http.post("/api/orders/checkout", json=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "CONCURRENCY_CONFLICT")


async def test_a_foreign_order_looks_absent(market: Marketplace, people: People) -> None:
    order = await placed_order(market, people)

    async def problem(person, order_id):
        answer = await market.http.get(f"/api/orders/{order_id}", headers=person.headers)
        document = answer.json()
        return answer.status_code, {name: document[name] for name in document if name not in ("instance", "requestId")}

    assert await problem(people.other_buyer, order["id"]) == await problem(people.other_buyer, NOBODY)
    assert (await problem(people.other_vendor, order["id"]))[0] == 404


async def test_a_forbidden_move_is_a_conflict_and_a_repeated_one_a_success(market: Marketplace, people: People) -> None:
    order = await placed_order(market, people)
    early = await market.http.post(f"/api/orders/{order['id']}/dispatch", json={}, headers=people.vendor.headers)
    assert (early.status_code, early.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    for _ in range(2):
        cancelled = await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "changed my mind"}, people.buyer)
        assert cancelled["status"] == "cancelled"


async def test_staff_without_the_permission_or_the_second_factor_are_refused_in_that_order(
    market: Marketplace, people: People
) -> None:
    once = await market.sign_in("maker@campus.example")
    key = {"Idempotency-Key": str(uuid4())}
    for person, code in (
        (people.buyer, "AUTH_FORBIDDEN"),
        (people.auditor, "AUTH_FORBIDDEN"),
        (once, "AUTH_AAL2_REQUIRED"),
    ):
        answer = await market.http.post("/api/payouts/dispatch", json={"unknown": 1}, headers={**person.headers, **key})
        assert (answer.status_code, answer.json()["code"]) == (403, code)


async def test_identity_headers_of_a_client_are_worth_nothing(market: Marketplace, people: People) -> None:
    order = await placed_order(market, people)
    forged = {"X-User-Id": order["buyerId"], "X-Role": "auditor", "X-Permissions": "orders:read"}
    answer = await market.http.get(f"/api/orders/{order['id']}", headers={**people.other_buyer.headers, **forged})
    assert answer.status_code == 404


async def test_both_addresses_of_the_api_are_the_same(market: Marketplace) -> None:
    old, new = [
        (await market.http.get(f"{base}/products", params={"limit": 3})).json()["data"] for base in ("/api", "/api/v1")
    ]
    assert old == new


@pytest.mark.parametrize("service", ["identity", "orders", "payments", "payouts", "notifications"])
async def test_the_dead_letters_of_every_service_can_be_read_and_an_absent_one_not_replayed(
    market: Marketplace, people: People, service: str
) -> None:
    answer = await market.http.get(f"/api/dead-letters/{service}", headers=people.ops.headers)
    assert answer.status_code == 200
    assert {"page", "limit", "total", "total_pages"} <= set(answer.json()["meta"])
    refused = await market.http.get(f"/api/dead-letters/{service}", headers=people.buyer.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
    absent = await market.http.post(f"/api/dead-letters/{service}/{NOBODY}/replay", json={}, headers=people.ops.headers)
    assert absent.status_code == 404


async def test_a_body_that_is_nested_without_end_is_refused(market: Marketplace) -> None:
    body = b'{"a":' * 5_000 + b"1" + b"}" * 5_000
    for path in ("/api/auth/login", "/api/auth/signup", "/api/auth/refresh"):
        answer = await market.http.post(path, content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")


async def test_a_page_of_any_port_of_this_machine_may_call_a_system_of_development(market: Marketplace) -> None:
    for origin in ("http://localhost:5173", "http://127.0.0.1:3000"):
        asks = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        asked = await market.http.options("/api/orders/checkout", headers=asks)
        assert (asked.status_code, asked.headers["Access-Control-Allow-Origin"]) == (204, origin)
        assert {"traceparent", "tracestate"} <= set(asked.headers["Access-Control-Allow-Headers"].split(", "))


async def test_a_callback_of_this_machine_is_taken_and_a_refused_one_names_the_setting(
    market: Marketplace, people: People
) -> None:
    order = await placed_order(market, people)
    body = {"orderId": order["id"], "callbackUrl": "https://evil.example/paid"}
    asked = [
        await market.http.post(
            "/api/payments/intent",
            json={**body, "callbackUrl": callback},
            headers={**people.buyer.headers, "Idempotency-Key": str(uuid4())},
        )
        for callback in ("https://evil.example/paid", "http://localhost:5173/paid")
    ]
    assert [answer.status_code for answer in asked] == [422, 201]
    assert "ALLOWED_ORIGINS" in asked[0].json()["detail"]


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


async def test_an_unknown_parameter_is_named_on_every_service(market: Marketplace, people: People) -> None:
    for path in ("/api/orders", "/api/payments", "/api/wallets/current", "/api/notifications", "/api/profiles/current"):
        answer = await market.http.get(path, params={"colour": "blue"}, headers=people.vendor.headers)
        assert answer.status_code == 422, path
        assert [param["name"] for param in answer.json()["invalid_params"]] == ["colour"]
