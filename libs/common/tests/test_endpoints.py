"""A declaration gives an endpoint its rules at the edge, and the line of the table keeps all of them."""

from datetime import UTC, datetime, timedelta

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from common.auth.guards import (
    CREDENTIALS,
    OPEN,
    PUBLIC,
    SERVICE_KEY,
    SIGNATURE,
    SIGNED_IN,
    STEPPED_UP,
    Access,
    Guard,
    one_of,
    permission,
)
from common.web.endpoint_table import Idempotency, Media, Quota, Route, line_of, read_routes, route_of
from common.web.endpoints import EndpointRoute, Endpoints
from common.web.uploads import IMAGE_BYTES_MAX

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def declared(method: str, path: str, allow: Guard, **rules) -> EndpointRoute:
    endpoint = Endpoints("test")

    @endpoint(method, path, allow=allow, **rules)
    async def respond(request: Request) -> Response:
        return Response()

    [route] = endpoint.routes
    return route


@pytest.mark.parametrize(
    "route",
    [
        *(
            Route("POST", "/api/things/:id", "orders", guard=guard)
            for guard in (CREDENTIALS, OPEN, PUBLIC, SERVICE_KEY, SIGNATURE, SIGNED_IN, STEPPED_UP)
        ),
        Route("POST", "/api/things", "orders", guard=permission("things:sell", step_up=True)),
        Route("POST", "/api/things", "orders", guard=one_of("things:sell", "things:buy", step_up_with="things:buy")),
        Route("GET", "/api/things", "orders", parts=("orders", "payments")),
        *(Route("GET", "/api/things", "orders", quota=quota) for quota in Quota),
        *(Route("POST", "/api/things", "orders", idempotency=role) for role in Idempotency),
        *(Route("POST", "/api/things", "orders", media=media, body_bytes_max=1, seconds_max=0.5) for media in Media),
        Route("GET", "/api/things", "orders", guard=PUBLIC, shared=True, compressed=True, page=True, passes_token=True),
        Route(
            "GET",
            "/api/things",
            "orders",
            deprecated_at=NOW,
            sunset_at=NOW + timedelta(days=200),
            successor="https://campus.example/docs#v2",
        ),
    ],
)
def test_a_line_of_the_table_keeps_every_rule(route: Route) -> None:
    assert route_of(line_of(route, "things.list", {200, 401})) == route


def test_a_line_names_operation_and_statuses_for_its_readers() -> None:
    line = line_of(Route("GET", "/api/things", "orders"), "things.list", {401, 200})
    assert line.split()[-2:] == ["things.list", "200,401"]


def test_an_unknown_rule_is_rejected() -> None:
    line = line_of(Route("GET", "/api/things", "orders"), "things.list", {200})
    with pytest.raises(TypeError, match="colour"):
        route_of(f"{line} colour")


def test_the_committed_table_has_each_endpoint_once() -> None:
    names = [route.name for route in read_routes()]
    assert len(names) == len(set(names)) > 200


@pytest.mark.parametrize(
    ("method", "guard", "expected"),
    [
        ("POST", SIGNED_IN, Idempotency.ACCEPTED),
        ("POST", permission("things:sell"), Idempotency.ACCEPTED),
        ("POST", CREDENTIALS, Idempotency.IGNORED),
        ("PUT", SIGNED_IN, Idempotency.IGNORED),
    ],
)
def test_a_post_with_a_token_accepts_a_key(method: str, guard: Guard, expected: Idempotency) -> None:
    assert declared(method, "/api/things", guard).declared.idempotency is expected


def test_webhooks_and_functions_are_counted_as_machines() -> None:
    webhook, function = (declared("POST", "/functions/v1/thing", guard).declared for guard in (SIGNATURE, SERVICE_KEY))
    assert (webhook.quota, webhook.media, webhook.access) == (Quota.MACHINES, Media.ANY, Access.OPEN)
    assert (function.quota, function.media, function.access) == (Quota.MACHINES, Media.JSON, Access.OPEN)


def test_an_upload_has_room_for_the_image_and_is_documented() -> None:
    route = declared("POST", "/api/things/{thing_id}/images", SIGNED_IN, media=Media.IMAGE)
    assert route.declared.body_bytes_max > IMAGE_BYTES_MAX
    assert route.openapi_extra is not None
    assert list(route.openapi_extra["requestBody"]["content"]) == ["multipart/form-data"]


def test_ids_have_one_name_in_the_table_and_months_theirs() -> None:
    route = declared("GET", "/api/things/{thing_id}/months/{month}", SIGNED_IN)
    assert route.declared.path == "/api/things/:id/months/:month"


@pytest.mark.parametrize(
    ("template", "method", "path", "match"),
    [
        ("/api/things", "GET", "/api/things", Match.FULL),
        ("/api/things", "POST", "/api/things", Match.PARTIAL),
        ("/api/things", "GET", "/api/things/", Match.NONE),
        ("/api/things/{thing_id}", "GET", "/api/things/1", Match.FULL),
        ("/api/things/{thing_id}", "GET", "/api/things/", Match.NONE),
        ("/api/things/{thing_id}", "GET", "/api/things/1/parts", Match.NONE),
        ("/api/things/{thing_id}/parts/{part}.csv", "GET", "/api/things/1/parts/2.csv", Match.FULL),
        ("/api/things/{thing_id}/parts/{part}.csv", "GET", "/api/things/1/parts/2.txt", Match.NONE),
        ("/api/things/{thing_id}/parts/{part}.csv", "GET", "/api/things/1/others/2.csv", Match.NONE),
    ],
)
def test_a_route_matches_its_template_only(template: str, method: str, path: str, match: Match) -> None:
    route = declared("GET", template, PUBLIC, id="test.get")
    assert route.matches({"type": "http", "method": method, "path": path})[0] == match


def test_a_parameter_of_several_segments_is_refused() -> None:
    with pytest.raises(TypeError, match="one segment"):
        declared("GET", "/api/things/{rest:path}", PUBLIC, id="test.get")
