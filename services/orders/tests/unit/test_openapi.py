"""The OpenAPI document of the service's endpoints."""

import pytest

from common.web.http import create_app
from orders.app import SERVICE

PROBLEMS = {
    ("get", "/api/products"): {401, 422},
    ("post", "/api/products"): {401, 403, 409, 422},
    ("get", "/api/products/mine"): {401, 403, 422},
    ("put", "/api/products/{product_id}"): {401, 403, 404, 409, 422},
    ("patch", "/api/products/{product_id}"): {401, 403, 404, 409, 422},
    ("delete", "/api/products/{product_id}"): {401, 403, 404, 409},
    ("get", "/api/products/{product_id}"): {401, 404},
    ("post", "/api/products/{product_id}/images"): {401, 403, 404, 409, 413, 415, 422},
    ("delete", "/api/products/{product_id}/images/{image_id}"): {401, 403, 404, 409},
    ("get", "/api/categories"): {401},
    ("get", "/media/{image_id}"): {401, 404},
    ("get", "/media/{image_id}/thumbnail"): {401, 404},
    ("post", "/api/orders/checkout"): {401, 403, 409, 422},
    ("get", "/api/orders"): {401, 422},
    ("get", "/api/orders/{order_id}"): {401, 404},
    ("get", "/api/orders/{order_id}/items"): {401, 404, 422},
    ("get", "/api/orders/{order_id}/timeline"): {401, 404},
    ("post", "/api/orders/{order_id}/cancel"): {401, 403, 404, 409, 422},
    ("post", "/api/orders/{order_id}/dispatch"): {401, 403, 404, 409, 422},
    ("post", "/api/orders/{order_id}/verify-delivery"): {400, 401, 403, 404, 409, 422, 429},
    ("get", "/api/orders/{order_id}/delivery-pin"): {401, 404, 409},
    ("post", "/api/orders/{order_id}/delivery-pin/reissue"): {401, 404, 409, 422},
    ("post", "/api/orders/{order_id}/dispute"): {401, 403, 404, 409, 422},
    ("get", "/api/orders/{order_id}/dispute"): {401, 404},
    ("post", "/api/orders/{order_id}/dispute/evidence"): {401, 403, 404, 409, 413, 415, 422},
    ("get", "/api/orders/{order_id}/dispute/evidence"): {401, 404},
    ("get", "/api/orders/{order_id}/dispute/evidence/{evidence_id}"): {401, 404},
    ("post", "/api/orders/{order_id}/resolve"): {401, 403, 404, 409, 422},
    ("get", "/api/dispute-resolutions"): {401, 403, 422},
    ("get", "/api/dispute-resolutions/{resolution_id}"): {401, 403, 404},
    ("post", "/api/dispute-resolutions/{resolution_id}/approve"): {401, 403, 404, 409, 422},
    ("post", "/api/dispute-resolutions/{resolution_id}/reject"): {401, 403, 404, 409, 422},
    ("post", "/api/orders/{order_id}/return-requests"): {401, 403, 404, 409, 422},
    ("get", "/api/orders/{order_id}/return-requests"): {401, 404, 422},
    ("get", "/api/return-requests"): {401, 422},
    ("get", "/api/return-requests/{request_id}"): {401, 404},
    ("post", "/api/return-requests/{request_id}/approve"): {401, 403, 404, 409, 422},
    ("post", "/api/return-requests/{request_id}/reject"): {401, 403, 404, 409, 422},
    ("get", "/api/campus-orders"): {401, 403, 422},
    ("get", "/api/campus-orders/export"): {401, 403, 422},
    ("get", "/api/vendors/{vendor_id}/sales"): {401, 403, 404, 422},
    ("get", "/api/sales"): {401, 403, 422},
    ("get", "/api/vendors/{vendor_id}/reviews"): {401, 404, 422},
    ("post", "/api/vendors/{vendor_id}/reviews"): {401, 403, 404, 409, 422},
    ("get", "/api/products/{product_id}/reviews"): {401, 404, 422},
    ("post", "/api/products/{product_id}/reviews"): {401, 403, 404, 409, 422},
    ("get", "/api/reviews"): {401, 403, 422},
    ("post", "/api/reviews/{review_id}/hide"): {401, 403, 404, 422},
    ("post", "/api/reviews/{review_id}/restore"): {401, 403, 404, 422},
    ("get", "/api/carts/current"): {401, 403},
    ("delete", "/api/carts/current"): {401, 403},
    ("put", "/api/carts/current/items/{product_id}"): {401, 403, 404, 409, 422},
    ("delete", "/api/carts/current/items/{product_id}"): {401, 403},
    ("get", "/api/flash-sales"): {401, 422},
    ("post", "/api/flash-sales"): {401, 403, 409, 422},
    ("get", "/api/flash-sales/{sale_id}"): {401, 404},
    ("post", "/api/flash-sales/{sale_id}/approve"): {401, 403, 404, 409, 422},
    ("post", "/api/flash-sales/{sale_id}/end"): {401, 403, 404, 422},
}
# The content of a success without JSON: nothing, an image, a file.
OTHER_CONTENT = {
    ("delete", "/api/products/{product_id}", "204"): set(),
    ("delete", "/api/products/{product_id}/images/{image_id}", "204"): set(),
    ("get", "/media/{image_id}", "200"): {"image/webp"},
    ("get", "/media/{image_id}/thumbnail", "200"): {"image/webp"},
    ("get", "/api/orders/{order_id}/dispute/evidence/{evidence_id}", "200"): {"image/webp"},
    ("get", "/api/campus-orders/export", "200"): {"text/csv"},
    ("get", "/api/vendors/{vendor_id}/sales", "200"): {"application/json", "text/csv"},
    ("get", "/api/sales", "200"): {"application/json", "text/csv"},
}
IDEMPOTENT = {("post", "/api/orders/checkout"), ("post", "/api/orders/{order_id}/verify-delivery")}


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


def test_every_operation_shows_its_problems(operations) -> None:
    shown = {
        endpoint: {int(status) for status in operation["responses"] if status.startswith("4")}
        for endpoint, operation in operations.items()
    }
    assert shown == PROBLEMS
    for endpoint, operation in operations.items():
        for status, response in operation["responses"].items():
            problem = status == "default" or int(status) >= 400
            usual = set() if status == "304" else {"application/json"}
            content = {"application/problem+json"} if problem else OTHER_CONTENT.get((*endpoint, status), usual)
            assert set(response.get("content", ())) == content, endpoint


def test_no_shape_of_the_framework_s_own_errors_is_shown(document) -> None:
    assert not {"HTTPValidationError", "ValidationError"} & set(document["components"]["schemas"])


def test_the_idempotency_key_is_shown_where_it_is_required(operations) -> None:
    def headers_of(operation):
        return {
            entry["name"]: entry["required"] for entry in operation.get("parameters", ()) if entry["in"] == "header"
        }

    shown = {endpoint: headers_of(operation) for endpoint, operation in operations.items()}
    revised = {(method, "/api/products/{product_id}") for method in ("put", "patch", "delete")}
    expected = {endpoint: {"If-Match": False} if endpoint in revised else {} for endpoint in operations}
    assert shown == expected | {endpoint: {"Idempotency-Key": True} for endpoint in IDEMPOTENT}


def test_the_product_list_shows_each_of_its_parameters(operations) -> None:
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
    assert page["responses"]["200"]["content"]["application/json"]["schema"]["items"]["$ref"].endswith("/Product")
