"""What the service says of its doors."""

import pytest

from common.http import create_app
from orders.app import SERVICE

PROBLEMS = {
    ("get", "/api/products"): {401, 422},
    ("get", "/api/products/{product_id}"): {401, 404},
    ("post", "/api/orders/checkout"): {401, 403, 409, 422},
    ("get", "/api/orders"): {401, 422},
    ("get", "/api/orders/{order_id}"): {401, 404},
    ("get", "/api/orders/{order_id}/items"): {401, 404},
    ("post", "/api/orders/{order_id}/cancel"): {401, 403, 404, 409, 422},
    ("post", "/api/orders/{order_id}/dispatch"): {401, 403, 404, 409, 422},
    ("post", "/api/orders/{order_id}/verify-delivery"): {400, 401, 403, 404, 409, 422, 429},
    ("get", "/api/orders/{order_id}/delivery-pin"): {401, 404},
    ("post", "/api/orders/{order_id}/delivery-pin/reissue"): {401, 404, 409, 422},
}
KEYED = {("post", "/api/orders/checkout"), ("post", "/api/orders/{order_id}/verify-delivery")}


@pytest.fixture(scope="module")
def document():
    return create_app(title="orders", routers=SERVICE.routers, context=None, dependencies=None).openapi()


@pytest.fixture(scope="module")
def operations(document):
    return {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_shows_its_problems(operations):
    shown = {
        door: {int(status) for status in operation["responses"] if status.startswith("4")}
        for door, operation in operations.items()
    }
    assert shown == PROBLEMS
    for operation in operations.values():
        for status, answer in operation["responses"].items():
            problem = status == "default" or int(status) >= 400
            assert set(answer["content"]) == {"application/problem+json" if problem else "application/json"}


def test_no_shape_of_the_framework_s_own_errors_is_shown(document):
    assert not {"HTTPValidationError", "ValidationError"} & set(document["components"]["schemas"])


def test_the_idempotency_key_is_shown_where_it_is_required(operations):
    def headers_of(operation):
        return {
            entry["name"]: entry["required"] for entry in operation.get("parameters", ()) if entry["in"] == "header"
        }

    shown = {door: headers_of(operation) for door, operation in operations.items()}
    assert shown == {door: {"Idempotency-Key": True} if door in KEYED else {} for door in operations}


def test_the_product_list_shows_each_of_its_parameters(operations):
    page = operations["get", "/api/products"]
    named = [
        "q",
        "vendorId",
        "campusId",
        "category",
        "minPriceMinor",
        "maxPriceMinor",
        "inStock",
        "sort",
        "limit",
        "cursor",
    ]
    assert [entry["name"] for entry in page["parameters"]] == named
    assert page["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/ProductPageAnswer")
