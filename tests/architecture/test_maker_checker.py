"""Every approval by a checker names the decision hash, behind a second factor (contract section 5.5)."""

from typing import Any, Final

from fastapi.routing import APIRoute

from campus_tools.endpoints import SERVICES_WITH_ENDPOINTS, routers_of, template_of
from common.web.schemas import DecisionApproval

# Another user decides on a user's request; no prepared content could differ from the one that was read.
DECIDED: Final = {
    "/api/vendor-applications/:id/approve",
    "/api/return-requests/:id/approve",
    "/api/flash-sales/:id/approve",
}


def _routes() -> dict[tuple[str, str], APIRoute]:
    return {
        (method, template_of(route.path)): route
        for service in SERVICES_WITH_ENDPOINTS
        for router in routers_of(service)
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }


def _approvals() -> dict[str, APIRoute]:
    return {
        path: route for (method, path), route in _routes().items() if method == "POST" and path.endswith("/approve")
    }


def _body_of(route: APIRoute) -> Any:
    return route.body_field.field_info.annotation if route.body_field is not None else None


def test_an_approval_requires_the_hash_of_the_decision() -> None:
    approvals = _approvals()
    assert set(approvals) >= DECIDED
    assert {path for path, route in approvals.items() if _body_of(route) is not DecisionApproval} == DECIDED
    assert DecisionApproval.model_fields["hash"].is_required()


def test_every_step_of_a_decision_needs_a_second_factor() -> None:
    routes = _routes()
    for path in set(_approvals()) - DECIDED:
        for verb in ("approve", "reject", "prepare"):
            route = routes.get(("POST", path.replace("/approve", f"/{verb}")))
            if route is not None:
                assert route.endpoint.__guard__.step_up, (path, verb)  # type: ignore[attr-defined]


def test_a_prepared_decision_can_be_read() -> None:
    routes = _routes()
    for path in _approvals():
        assert ("GET", path.removesuffix("/approve")) in routes, path
