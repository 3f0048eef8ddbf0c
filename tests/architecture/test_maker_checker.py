"""Every approval by a checker names the decision hash, behind a second factor (contract section 5.5)."""

from typing import Any, Final

from campus_tools.endpoints import endpoints
from common.web.endpoints import EndpointRoute
from common.web.schemas import DecisionApproval

# Another user decides on a user's request; no prepared content could differ from the one that was read.
DECIDED: Final = {
    "/api/vendor-applications/:id/approve",
    "/api/return-requests/:id/approve",
    "/api/flash-sales/:id/approve",
}


def _routes() -> dict[tuple[str, str], EndpointRoute]:
    return {(endpoint.method, endpoint.path): endpoint.route for endpoint in endpoints()}


def _approvals() -> dict[str, EndpointRoute]:
    return {
        path: route for (method, path), route in _routes().items() if method == "POST" and path.endswith("/approve")
    }


def _body_of(route: EndpointRoute) -> Any:
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
                assert route.declared.guard.step_up, (path, verb)


def test_a_prepared_decision_can_be_read() -> None:
    routes = _routes()
    for path in _approvals():
        assert ("GET", path.removesuffix("/approve")) in routes, path
