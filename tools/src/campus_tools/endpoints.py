"""All endpoints of all services with their guards, read from the running code. Used by the reference and the tests of roles."""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fastapi import APIRouter
from fastapi.routing import APIRoute

from common.auth.guards import Guard
from common.web.dead_letter_routes import dead_letter_router
from common.web.own_actions import own_action_router
from common.web.pending_work import pending_work_router
from common.web.personal_records import personal_record_router
from common.web.queue_routes import queue_router
from contracts.permissions import PERMISSIONS_BY_ROLE, ROLES_BY_RANK

SERVICES_WITH_ENDPOINTS: Final = ("identity", "orders", "payments", "payouts", "notifications")
# A month is called one; everything else in a path is an id.
_PARAMETER: Final = re.compile(r"\{(?!month\})[^}]*\}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation of a service; ids in the path are written `:id`, months `:month`, as in the gateway's route table."""

    service: str
    method: str
    path: str
    guard: Guard
    function: Callable[..., Any] = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def permissions(self) -> tuple[str, ...]:
        """Any of these permissions suffices; none: no permission is needed."""
        return (self.guard.permission,) if self.guard.permission is not None else self.guard.one_of

    @property
    def roles(self) -> tuple[str, ...]:
        """Return the roles that its guard admits, highest first. Row policies limit what they see."""
        if self.guard.service_key:
            return ()
        return tuple(
            role
            for role in ROLES_BY_RANK
            if not self.permissions or not PERMISSIONS_BY_ROLE[role].isdisjoint(self.permissions)
        )


def template_of(path: str) -> str:
    """Return a path of a service as the gateway's route table writes it."""
    return _PARAMETER.sub(":id", path).replace("{month}", ":month")


def routers_of(service: str) -> Sequence[APIRouter]:
    """Return the routers of a service without health: its own and the common ones."""
    absent: Any = None  # Dependencies of the handlers, which are never called here.
    own: Sequence[APIRouter] = importlib.import_module(f"{service}.app").SERVICE.routers
    common = [
        dead_letter_router(service, absent, absent),
        queue_router(service, absent, absent),
        personal_record_router(service, (), absent, absent),
        pending_work_router((), absent, absent),
        own_action_router(service, "", absent),
    ]
    return [*common, *own]


def endpoints() -> tuple[Endpoint, ...]:
    """Return all endpoints, ordered by path and method."""
    found = [endpoint for service in SERVICES_WITH_ENDPOINTS for endpoint in _endpoints_of(service)]
    return tuple(sorted(found, key=lambda endpoint: (endpoint.path, endpoint.method)))


def endpoints_by_permission() -> Mapping[str, tuple[Endpoint, ...]]:
    """Return the endpoints of each permission."""
    known = sorted({permission for held in PERMISSIONS_BY_ROLE.values() for permission in held})
    every = endpoints()
    return {
        permission: tuple(endpoint for endpoint in every if permission in endpoint.permissions) for permission in known
    }


def _endpoints_of(service: str) -> Iterator[Endpoint]:
    for router in routers_of(service):
        for route in router.routes:
            if isinstance(route, APIRoute):
                guard: Guard = route.endpoint.__guard__  # type: ignore[attr-defined]
                for method in route.methods or ():
                    yield Endpoint(service, method, template_of(route.path), guard, route.endpoint)
