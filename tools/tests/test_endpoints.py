"""The routes of the edge follow from the declarations of all services."""

import pytest
from starlette.requests import Request
from starlette.responses import Response

from campus_tools.endpoints import Endpoint, merge_parts
from common.auth.guards import PUBLIC, SIGNED_IN, Guard
from common.web.endpoints import Endpoints


def declared(service: str, *, merged: bool = False, allow: Guard = SIGNED_IN) -> Endpoint:
    endpoint = Endpoints("test")

    @endpoint("GET", "/api/things/{thing_id}", allow=allow, merged=merged)
    async def get_thing(request: Request) -> Response:
        return Response()

    [route] = endpoint.routes
    return Endpoint(service, route)


def test_an_endpoint_is_routed_to_its_service() -> None:
    [(route, _)] = merge_parts([declared("orders")])
    assert (route.name, route.upstream, route.parts) == ("GET /api/things/:id", "orders", ())


def test_the_services_of_a_merged_endpoint_are_its_parts_in_their_order() -> None:
    [(route, _)] = merge_parts(declared(service, merged=True) for service in ("orders", "payments", "payouts"))
    assert (route.upstream, route.parts) == ("orders", ("orders", "payments", "payouts"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (declared("orders"), declared("payments")),
        (declared("orders"), declared("payments", merged=True)),
        (declared("orders", merged=True), declared("payments")),
        (declared("orders", merged=True), declared("payments", merged=True, allow=PUBLIC)),
    ],
)
def test_an_endpoint_of_two_services_is_rejected_unless_both_merge_it_alike(first: Endpoint, second: Endpoint) -> None:
    with pytest.raises(ValueError, match="orders and payments declare GET /api/things/:id"):
        merge_parts([first, second])
