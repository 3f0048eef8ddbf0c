"""Every operation of the API declares its query parameters, and rejects all others (contract section 1.4)."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from pydantic import TypeAdapter

from campus_tools.endpoints import SERVICES_WITH_ENDPOINTS, endpoints_of
from common.auth.tokens import TokenVerifier
from common.auth.verification_keys import KeySet
from common.primitives.clock import ManualClock
from common.web.endpoint_table import template_of
from common.web.endpoints import EndpointRoute
from common.web.http import create_app
from common.web.http_context import HttpContext
from common.web.request_scope import RequestScope
from contracts.permissions import ROLES_BY_RANK
from testkit.service_kit import BASE_URL, issuing

# Another company calls these, or redirects to them, under an address to which it may add what it likes.
WEBHOOKS = {"GET /api/messaging/webhook", "POST /api/messaging/webhook", "GET /api/auth/oidc/{name}/callback"}


def routes_of(service: str) -> Iterator[tuple[str, EndpointRoute]]:
    for each in endpoints_of(service):
        for route in each.routes:
            if route.path.startswith("/api/"):
                yield f"{route.declared.method} {route.path}", route


def parameters_of(service: str) -> Iterator[tuple[str, list[dict]]]:
    app = FastAPI()
    app.router.routes.extend(route for each in endpoints_of(service) for route in each.routes)
    for path, operations in app.openapi()["paths"].items():
        for method, operation in operations.items():
            shown = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
            yield f"{method.upper()} {path}", shown


def query_fields_of(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for inner in dependant.dependencies:
        yield from query_fields_of(inner)


@pytest.mark.parametrize("service", SERVICES_WITH_ENDPOINTS)
def test_only_webhooks_accept_undeclared_parameters(service: str) -> None:
    lenient = {name for name, route in routes_of(service) if route.query_names is None}
    assert lenient <= WEBHOOKS


@pytest.mark.parametrize("service", SERVICES_WITH_ENDPOINTS)
def test_openapi_documents_every_accepted_parameter(service: str) -> None:
    shown = {template_of(name): {each["name"] for each in parameters} for name, parameters in parameters_of(service)}
    for name, route in routes_of(service):
        if route.query_names is not None:
            assert route.query_names == shown[template_of(name)], name


@pytest.mark.parametrize("service", SERVICES_WITH_ENDPOINTS)
def test_a_date_alone_is_its_midnight_in_lagos_in_every_filter(service: str) -> None:
    """And a time has an offset, or is rejected (contract section 1.8)."""
    for name, route in routes_of(service):
        for field in query_fields_of(route.dependant):
            if '"date-time"' in json.dumps(TypeAdapter(field.field_info.annotation).json_schema()):
                midnight, errors = field.validate("2026-01-31", {}, loc=())
                assert (midnight, errors) == (datetime(2026, 1, 30, 23, tzinfo=UTC), []), (name, field.alias)
                assert field.validate("2026-01-31T12:00:00", {}, loc=())[1], (name, field.alias)
                assert field.validate("0001-01-01", {}, loc=())[1], (name, field.alias)


@pytest.mark.parametrize("service", SERVICES_WITH_ENDPOINTS)
def test_the_sort_of_every_list_is_an_enum_in_its_document(service: str) -> None:
    for name, parameters in parameters_of(service):
        schemas = {each["name"]: each["schema"] for each in parameters}
        if "limit" in schemas:
            assert schemas["sort"].get("enum") or schemas["sort"].get("const"), name


async def test_every_operation_rejects_an_undeclared_parameter() -> None:
    clock = ManualClock()
    async with issuing(clock) as issuer:
        verifier = TokenVerifier(KeySet(issuer.jwks_url, clock), issuer=BASE_URL, clock=clock)
        token = issuer.token(
            uuid4(), roles=ROLES_BY_RANK, vendor_id=UUID(int=1), campus_id=UUID(int=2), stepped_up=True
        )
        for service in SERVICES_WITH_ENDPOINTS:
            app = create_app(
                title=service,
                endpoints=endpoints_of(service),
                context=HttpContext(verifier, clock, BASE_URL),
                dependencies=None,
            )
            transport = httpx.ASGITransport(app=RequestScope(app), raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                for name, _ in routes_of(service):
                    if name in WEBHOOKS:
                        continue
                    method, path = (
                        template_of(name).replace(":id", str(UUID(int=7))).replace(":month", "2026-01").split(" ")
                    )
                    response = await client.request(
                        method, path, params={"colour": "blue"}, headers={"Authorization": f"Bearer {token}"}
                    )
                    assert response.status_code == 422, name
                    assert [param["name"] for param in response.json()["invalid_params"]] == ["colour"], name
