"""Operations of the services, joined with the gateway's route table and the guards, without a running process."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastapi import FastAPI

from api_gateway.routes import ROUTES
from api_gateway.routing import Route
from campus_tools.documents.raised_errors import errors_raised_by
from campus_tools.endpoints import SERVICES_WITH_ENDPOINTS, endpoints, routers_of, template_of
from common.auth.guards import Guard
from common.primitives.problems import Problem

# Internal endpoints between services.
_INTERNAL: Final = "/internal/"


@dataclass(frozen=True, slots=True)
class Described:
    """A public operation: gateway route, guard, path with named parameters, the service's OpenAPI operation, its named errors."""

    route: Route
    guard: Guard
    path: str
    operation: Mapping[str, Any]
    errors: Sequence[type[Problem]]
    required_fields: Sequence[str]


class Drifted(Exception):
    """The route table and the services disagree about what is public, or two services about a schema or a name."""


def described() -> tuple[list[Described], dict[str, Any]]:
    """Return the public operations in the table's order, and all schemas by the names of their models. Raises Drifted."""
    routes = {(route.upstream, route.method, route.path): route for route in ROUTES}
    known = {(endpoint.service, endpoint.method, endpoint.path): endpoint for endpoint in endpoints()}
    schemas: dict[str, Any] = {}
    operations: dict[tuple[str, str, str], tuple[str, Mapping[str, Any]]] = {}
    for service in SERVICES_WITH_ENDPOINTS:
        document = _document_of(service)
        for name, schema in document.get("components", {}).get("schemas", {}).items():
            if schemas.setdefault(name, schema) != schema:
                raise Drifted(f"two services have different models of the name {name}")
        for path, method, operation in _operations_of(document):
            operations[(service, method, template_of(path))] = (path, operation)
    expected = {(part, route.method, route.path) for route in ROUTES for part in route.parts or (route.upstream,)}
    _must_agree(expected, {key for key in operations if not key[2].startswith(_INTERNAL)})
    found = [
        Described(
            route,
            known[key].guard,
            *operations[key],
            errors_raised_by(known[key].function),
            _required_fields(operations[key][1], schemas),
        )
        for key, route in routes.items()
    ]
    return _with_one_name_for_each_path(found), schemas


def _must_agree(routes: set[tuple[str, str, str]], operations: set[tuple[str, str, str]]) -> None:
    without_operation = sorted(" ".join(key) for key in routes - operations)
    without_route = sorted(" ".join(key) for key in operations - routes)
    if without_operation or without_route:
        raise Drifted(f"routes without an operation: {without_operation}; operations without a route: {without_route}")


def _document_of(service: str) -> dict[str, Any]:
    app = FastAPI(title=service)
    for router in routers_of(service):
        app.include_router(router)
    return app.openapi()


def _operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield path, method.upper(), operation


def _required_fields(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Sequence[str]:
    """Return the fields that an absent body is rejected for."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return schemas.get(body.get("$ref", "").removeprefix("#/components/schemas/"), {}).get("required", ())  # type: ignore[no-any-return]


def _with_one_name_for_each_path(found: list[Described]) -> list[Described]:
    """Reject a path with two names of one parameter: OpenAPI would treat it as two paths."""
    names: dict[str, str] = {}
    for entry in found:
        names.setdefault(entry.route.path, entry.path)
    differing = [entry.path for entry in found if names[entry.route.path] != entry.path]
    if differing:
        raise Drifted(f"the same path under two names: {differing}")
    return found
