"""The declared endpoints with their OpenAPI operations, without a running process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from campus_tools.documents.raised_errors import errors_raised_by
from campus_tools.endpoints import SERVICES_WITH_ENDPOINTS, endpoints_of, public_routes
from common.auth.guards import Guard
from common.primitives.problems import Problem
from common.web.endpoint_table import Route


@dataclass(frozen=True, slots=True)
class Described:
    """A public operation: its route, path with named parameters, the service's OpenAPI operation, its named errors."""

    route: Route
    path: str
    operation: Mapping[str, Any]
    errors: Sequence[type[Problem]]
    required_fields: Sequence[str]

    @property
    def guard(self) -> Guard:
        return self.route.guard


class Drifted(Exception):
    """Two services disagree about a schema or a name."""


def described() -> tuple[list[Described], dict[str, Any]]:
    """Return the public operations in the order of their declaration, and all schemas by the names of their models.

    Raises Drifted.
    """
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for service in SERVICES_WITH_ENDPOINTS:
        document = _document_of(service)
        for name, schema in document.get("components", {}).get("schemas", {}).items():
            if schemas.setdefault(name, schema) != schema:
                raise Drifted(f"two services have different models of the name {name}")
        paths[service] = document["paths"]
    found = []
    for route, declared in public_routes():
        operation = paths[route.upstream][declared.path_format][route.method.lower()]
        errors, required = errors_raised_by(declared.endpoint), _required_fields(operation, schemas)
        found.append(Described(route, declared.path_format, operation, errors, required))
    return _with_one_name_for_each_path(found), schemas


def _document_of(service: str) -> dict[str, Any]:
    app = FastAPI(title=service)
    app.router.routes.extend(route for each in endpoints_of(service) for route in each.routes)
    return app.openapi()


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
