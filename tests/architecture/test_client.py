"""The generated Python client is complete, typed, and careful with keys, tokens and pages."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from campus_client import Campus, Refused, Tokens, each, errors, models
from campus_tools.documents.files import PAGES, PYTHON_CLIENT
from campus_tools.documents.python_client import method_name
from tests.architecture.sources import ROOT

# Called by the outside world's servers or by whoever watches the processes.
NOT_FOR_CLIENTS = {
    "get_health_liveness", "get_health_readiness", "get_messaging_webhook", "post_messaging_webhook",
    "post_functions_v1_gateway_webhook", "post_webhooks_flutterwave", "post_functions_v1_sms_receipts_africas_talking",
    "post_functions_v1_sms_receipts_termii", "post_functions_v1_sms_receipts_twilio",
    "get_functions_v1_mail_unsubscribe", "post_functions_v1_mail_unsubscribe",
}  # fmt: skip
META = {"timestamp": "2026-01-31T12:00:00.000Z", "version": "v1", "requestId": "one"}


def reference():
    return json.loads((ROOT / PAGES / "openapi.json").read_text())


def test_every_operation_has_its_method() -> None:
    names = {method_name(method, path) for path, operations in reference()["paths"].items() for method in operations}
    tree = ast.parse((ROOT / PYTHON_CLIENT / "operations.py").read_text())
    methods = {node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)}
    assert names - methods == NOT_FOR_CLIENTS
    assert methods <= names


def test_every_error_code_has_an_exception() -> None:
    assert set(errors.BY_CODE) == set(reference()["components"]["schemas"]["ProblemCode"]["enum"])


def test_every_model_can_be_read() -> None:
    for name, model in vars(models).items():
        if isinstance(model, type) and name[0].isupper() and hasattr(model, "model_rebuild"):
            model.model_rebuild()
            assert model.model_json_schema()


def test_the_client_is_installed_alone_and_brings_its_types(tmp_path: Path) -> None:
    copy = tmp_path / "source"
    shutil.copytree(ROOT / "clients/python", copy, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=copy, check=True, capture_output=True)
    shutil.unpack_archive(tmp_path / "campus_client-0.1.0-py3-none-any.whl", tmp_path / "installed", format="zip")
    assert (tmp_path / "installed/campus_client/py.typed").exists()
    probe = "import sys, campus_client; print(sorted({'common', 'contracts', 'operations', 'campus_tools'} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    output = subprocess.run([sys.executable, "-c", probe], env=environment, check=True, capture_output=True, text=True)
    assert output.stdout.strip() == "[]"


class Server:
    """Plays the gateway: gives its answers in turn and keeps the requests. An exception among them is a lost answer."""

    def __init__(self, *responses):
        self.responses = list(responses)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    def client(self, **more):
        return Campus("http://campus", http=httpx.AsyncClient(transport=httpx.MockTransport(self)), **more)


def given(found, **meta):
    return httpx.Response(200, json={"success": True, "data": found, "meta": META | meta})


def refused(status, code, **more):
    return httpx.Response(status, json={"code": code, "detail": "No.", "requestId": "one", **more})


TOKENS = {"accessToken": "second", "refreshToken": "second-refresh"}


async def test_a_lost_response_is_retried_with_the_same_key() -> None:
    server = Server(httpx.ReadError("gone"), refused(503, "INTERNAL_ERROR"), *[refused(409, "ESCROW_LOCKED")] * 2)
    intent = models.CreatePaymentIntentRequest(order_id="018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47")
    for _ in range(2):
        with pytest.raises(errors.EscrowLocked):
            await server.client(tokens=Tokens("first")).post_payments_intent(intent)
    keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert len(keys) == 4
    assert keys[0] == keys[1] == keys[2] != keys[3]


async def test_a_change_without_a_key_is_not_retried() -> None:
    server = Server(httpx.ReadError("gone"))
    with pytest.raises(httpx.ReadError):
        await server.client(tokens=Tokens("first")).post_auth_mfa_enroll()
    assert len(server.requests) == 1


async def test_an_expired_session_is_refreshed_once() -> None:
    kept = []
    server = Server(refused(401, "AUTH_TOKEN_EXPIRED"), given(TOKENS), given([]))
    client = server.client(tokens=Tokens("first", "first-refresh"), on_tokens=kept.append)
    await client.get_auth_mfa_factors()
    assert [request.url.path for request in server.requests] == [
        "/api/auth/mfa/factors",
        "/api/auth/refresh",
        "/api/auth/mfa/factors",
    ]
    assert server.requests[2].headers["Authorization"] == "Bearer second"
    assert kept == [Tokens("second", "second-refresh")]


async def test_an_ended_session_raises_its_error() -> None:
    kept = []
    server = Server(refused(401, "AUTH_TOKEN_EXPIRED"), refused(401, "AUTH_UNAUTHORIZED"))
    with pytest.raises(errors.AuthTokenExpired):
        await server.client(tokens=Tokens("a", "b"), on_tokens=kept.append).get_auth_mfa_factors()
    assert kept == [None]


async def test_an_error_has_the_fields_of_the_problem_document() -> None:
    fields = [{"name": "pin", "reason": "Six digits."}]
    server = Server(refused(400, "DELIVERY_PIN_INVALID", attemptsRemaining=3, invalid_params=fields))
    with pytest.raises(errors.DeliveryPinInvalid) as raised:
        await server.client().get_auth_mfa_factors()
    assert (raised.value.status, raised.value.attempts_remaining) == (400, 3)
    assert raised.value.invalid_params == fields


async def test_an_error_response_without_a_problem_document_is_an_error() -> None:
    with pytest.raises(Refused) as raised:
        await Server(httpx.Response(404, text="<p>Not here</p>")).client().get_auth_mfa_factors()
    assert raised.value.status == 404


async def test_a_list_is_read_to_its_end() -> None:
    campus = {"domain": None, "active": True, "revision": 1, "createdAt": "2026-01-31T12:00:00.000Z"}
    first, second = (
        [campus | {"id": f"018cc251-f400-7001-8000-00000000000{number}", "name": f"Campus {number}"}]
        for number in (1, 2)
    )
    server = Server(
        given(first, next_cursor="more", has_more=True, limit=1),
        given(second, next_cursor=None, has_more=False, limit=1),
    )
    names = [campus.name async for campus in each(server.client().get_campuses, limit=1)]
    assert names == ["Campus 1", "Campus 2"]
    assert [dict(request.url.params) for request in server.requests] == [
        {"limit": "1"},
        {"limit": "1", "cursor": "more"},
    ]
