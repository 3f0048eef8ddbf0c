"""The checks of calls, responses and events, and the comparison with a specification."""

import httpx
import pytest
import yaml

from testkit.providers.exchanges import CheckedExchanges
from testkit.providers.operations import Operation, operation_of
from testkit.providers.paystack import checking
from testkit.providers.references import OpenApi
from testkit.providers.schemas import TEXT, WHOLE, Nonconformance, nullable, record

SHOW = Operation(
    "GET",
    "/thing/{id}",
    query={"page": WHOLE},
    responses={200: record({"name": TEXT, "size": nullable(WHOLE)}, optional=("size",))},
)


def _specification(tmp_path, properties, required=("name",), parameter="page"):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    described = {
        "parameters": [{"name": parameter, "in": "query", "schema": {"type": "integer"}}],
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}},
    }
    path = tmp_path / "openapi.yaml"
    path.write_text(
        yaml.safe_dump({"paths": {"/thing/{id}": {"get": described}}, "components": {"schemas": {"Thing": schema}}})
    )
    return OpenApi(path)


AGREEING = {"name": {"type": "string"}, "size": {"type": "integer", "nullable": True}}


def test_equal_operations_have_no_difference(tmp_path):
    assert _specification(tmp_path, AGREEING).differences(SHOW) == []


@pytest.mark.parametrize(
    ("properties", "required", "parameter", "difference"),
    [
        ({**AGREEING, "name": {"type": "integer"}}, ("name",), "page", "200.name: is string here and integer there"),
        (
            {**AGREEING, "size": {"type": "integer"}},
            ("name",),
            "page",
            "200.size: is integer or null here and integer there",
        ),
        (AGREEING, (), "page", "200.name: is required here only"),
        (AGREEING, ("name", "size"), "page", "200.size: is required there only"),
        ({"name": {"type": "string"}}, ("name",), "page", "200.size: is not in the specification"),
        ({**AGREEING, "unit": {}}, ("name", "unit"), "page", "200.unit: is required there, and not listed here"),
        (AGREEING, ("name",), "offset", "query.page: is not in the specification"),
    ],
)
def test_each_difference_is_named(tmp_path, properties, required, parameter, difference):
    found = _specification(tmp_path, properties, required, parameter).differences(SHOW)
    assert found == [f"GET /thing/{{id}} {difference}"]


def test_a_departure_that_is_none_is_a_difference(tmp_path):
    departing = Operation(SHOW.method, SHOW.path, SHOW.responses, SHOW.query, departures={"200.name": "a page"})
    assert _specification(tmp_path, AGREEING).differences(departing) == ["GET /thing/{id} 200.name: no difference"]


def test_an_exchange_is_checked_by_its_operation():
    show = operation_of([SHOW], "GET", "/thing/7")
    show.check_request({"page": "1"}, None)
    show.check_response(200, {"name": "a", "more": 1}, record({"message": TEXT}))
    show.check_response(404, {"message": "not found"}, record({"message": TEXT}))
    for call in (
        lambda: operation_of([SHOW], "GET", "/thing/7/more"),
        lambda: show.check_request({"pages": "1"}, None),
        lambda: show.check_request({"page": "one"}, None),
        lambda: show.check_request({}, {}),
        lambda: show.check_response(200, {"size": 1}, {}),
        lambda: show.check_response(201, {"name": "a"}, {}),
    ):
        with pytest.raises(Nonconformance):
            call()


def test_paystack_amounts_are_whole_numbers_and_unknown_fields_are_not_sent():
    body = {"transaction": "T1", "amount": 100, "merchant_note": "n"}
    checking.check_request("POST", "/refund", {}, body)
    for wrong in ({**body, "amount": "100"}, {**body, "amount": 0}, {**body, "note": "x"}, {"amount": 1}):
        with pytest.raises(Nonconformance):
            checking.check_request("POST", "/refund", {}, wrong)


def test_paystack_refund_events_have_no_note():
    data = {
        "status": "processed",
        "transaction_reference": "T1",
        "refund_reference": None,
        "amount": "5000",
        "currency": "NGN",
        "processor": "instant-transfer",
        "customer": {"first_name": None, "last_name": None, "email": "a@b.example"},
        "integration": 1,
        "domain": "test",
    }
    checking.check_event({"event": "refund.processed", "data": data})
    with pytest.raises(Nonconformance):
        checking.check_event({"event": "refund.processed", "data": {**data, "amount": "5,000"}})
    with pytest.raises(Nonconformance):
        checking.check_event({"event": "refund.vanished", "data": data})


async def test_exchanges_through_an_application_are_checked():
    async def respond(scope, receive, send):
        await receive()
        headers = [(b"x-sandbox-fault", b"data")] if scope["path"].endswith("faulty") else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"status": true}'})

    checked = CheckedExchanges("/gateway", ("/refund",), checking.check_request, checking.check_response)
    checked.app = respond
    async with httpx.AsyncClient(transport=httpx.ASGITransport(checked), base_url="http://gateway") as client:
        for path in ("/gateway/refund/faulty", "/gateway/transfer", "/control/refund"):
            await client.get(path)
        assert checked.found == []
        await client.get("/gateway/refund/1")
        await client.post("/gateway/refund", json={"amount": "1"})
    response, request = checked.found
    assert response.startswith("GET /refund/{id}, response 200")
    assert request.startswith("POST /refund, request")
