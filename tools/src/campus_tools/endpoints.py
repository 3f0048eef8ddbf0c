"""All endpoints of all services with their guards, read from the running code. Used by the reference and the tests of
roles.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from common.auth.guards import Access, Guard
from common.standard_endpoints.dead_letter_routes import dead_letter_endpoints
from common.standard_endpoints.own_actions import own_action_endpoints
from common.standard_endpoints.pending_work import pending_work_endpoints
from common.standard_endpoints.personal_records import personal_record_endpoints
from common.standard_endpoints.queue_routes import queue_endpoints
from common.standard_endpoints.settings_routes import settings_endpoints
from common.standard_endpoints.stop_routes import stop_endpoints
from common.web.endpoint_table import Route
from common.web.endpoints import EndpointRoute, Endpoints
from contracts.permissions import PERMISSIONS_BY_ROLE, ROLES_BY_RANK

SERVICES_WITH_ENDPOINTS: Final = ("identity", "orders", "payments", "payouts", "notifications")
# Endpoints between services, which the edge does not route.
_INTERNAL: Final = "/internal/"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation of a service."""

    service: str
    route: EndpointRoute

    @property
    def method(self) -> str:
        return self.route.declared.method

    @property
    def path(self) -> str:
        """The path with `:id` and `:month`, as in the table."""
        return self.route.declared.path

    @property
    def name(self) -> str:
        return self.route.declared.name

    @property
    def guard(self) -> Guard:
        return self.route.declared.guard

    @property
    def permissions(self) -> tuple[str, ...]:
        return self.guard.permissions

    @property
    def roles(self) -> tuple[str, ...]:
        """Return the roles that its guard admits, highest first. Row policies limit what they see."""
        if self.guard.access is Access.SERVICE_KEY:
            return ()
        return tuple(
            role
            for role in ROLES_BY_RANK
            if not self.permissions or not PERMISSIONS_BY_ROLE[role].isdisjoint(self.permissions)
        )


def endpoints_of(service: str) -> Sequence[Endpoints]:
    """Return the endpoints of a service without health: its own and the common ones."""
    return [*_own(service), *_common(service)]


def _own(service: str) -> Sequence[Endpoints]:
    found: Sequence[Endpoints] = importlib.import_module(f"{service}.app").SERVICE.endpoints
    return found


def _common(service: str) -> Sequence[Endpoints]:
    absent: Any = None  # Dependencies of the handlers, which are never called here.
    stoppable = importlib.import_module(f"{service}.app").SERVICE.stoppable
    return [
        *([] if stoppable is None else [stop_endpoints(stoppable, absent, absent)]),
        dead_letter_endpoints(service, absent, absent),
        queue_endpoints(service, absent, absent),
        personal_record_endpoints(service, (), absent),
        pending_work_endpoints((), absent, absent),
        own_action_endpoints(service, "", absent),
        settings_endpoints(service, absent),
    ]


def endpoints() -> tuple[Endpoint, ...]:
    """Return all endpoints, ordered by path and method."""
    return tuple(sorted(_declared(), key=lambda endpoint: (endpoint.path, endpoint.method)))


def endpoints_by_permission() -> Mapping[str, tuple[Endpoint, ...]]:
    """Return the endpoints of each permission."""
    known = sorted({permission for held in PERMISSIONS_BY_ROLE.values() for permission in held})
    every = endpoints()
    return {
        permission: tuple(endpoint for endpoint in every if permission in endpoint.permissions) for permission in known
    }


def public_routes() -> tuple[tuple[Route, EndpointRoute], ...]:
    """Return each endpoint that the edge routes with the route of its first service, in the order of declaration."""
    return merge_parts(endpoint for endpoint in _declared() if not endpoint.path.startswith(_INTERNAL))


def merge_parts(declared: Iterable[Endpoint]) -> tuple[tuple[Route, EndpointRoute], ...]:
    """Return the routes of endpoints. The services of a `merged` one are the parts of one route.

    Raises ValueError when two services declare one endpoint that is not `merged`, or declare it differently.
    """
    found: dict[str, tuple[Route, EndpointRoute]] = {}
    for endpoint in declared:
        first, route = found.get(endpoint.name, (None, endpoint.route))
        if first is None:
            found[endpoint.name] = (replace(route.declared, upstream=endpoint.service), route)
            continue
        if not endpoint.route.is_merged or (route.declared, route.is_merged) != (endpoint.route.declared, True):
            raise ValueError(f"{first.upstream} and {endpoint.service} declare {endpoint.name}")
        found[endpoint.name] = (replace(first, parts=(*(first.parts or (first.upstream,)), endpoint.service)), route)
    return tuple(found.values())


def _declared() -> Iterator[Endpoint]:
    return (
        Endpoint(service, route)
        for part in (_own, _common)
        for service in SERVICES_WITH_ENDPOINTS
        for each in part(service)
        for route in each.routes
    )
