"""The merged API reference."""

from api_gateway.reference import merge
from api_gateway.routes import ROUTES

ORDERS = {
    "paths": {
        "/api/orders/{order_id}": {
            "get": {"responses": {"200": {"content": {"x": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}}
        },
        "/api/orders/checkout": {"post": {"responses": {"201": {}, "422": {}}}},
        "/api/orders/{order_id}/hidden": {"get": {}},
    },
    "components": {"schemas": {"Thing": {"properties": {"next": {"$ref": "#/components/schemas/Thing"}}}}},
}
PAYMENTS = {
    "paths": {"/api/orders/{id}/release": {"post": {}}, "/api/orders/checkout": {"post": {}}},
    "components": {"schemas": {"Thing": {}}},
}


def test_only_public_routes_of_the_service_that_serves_them_are_shown() -> None:
    merged = merge(ROUTES, {"orders": ORDERS, "payments": PAYMENTS}, "http://x")
    assert set(merged["paths"]) == {"/api/orders/{order_id}", "/api/orders/checkout", "/api/orders/{id}/release"}
    assert merged["paths"]["/api/orders/checkout"]["post"]["tags"] == ["orders"]


def test_schemas_of_two_services_never_collide() -> None:
    merged = merge(ROUTES, {"orders": ORDERS, "payments": PAYMENTS}, "http://x")
    assert {"OrdersThing", "PaymentsThing", "Problem"} == set(merged["components"]["schemas"])
    thing = merged["components"]["schemas"]["OrdersThing"]
    assert thing["properties"]["next"]["$ref"] == "#/components/schemas/OrdersThing"


def test_an_operation_shows_its_key_its_token_and_problems() -> None:
    merged = merge(ROUTES, {"orders": ORDERS}, "http://x")
    checkout = merged["paths"]["/api/orders/checkout"]["post"]
    assert [(entry["name"], entry["required"]) for entry in checkout["parameters"]] == [("Idempotency-Key", True)]
    assert checkout["security"] == [{"bearer": []}]
    assert set(checkout["responses"]) == {"201", "default"}
