"""The state of our accounts at the companies, which each shows in answer to a GET, and faults of that state.

The fault `account` with `match` (an account below) and `fail` (its state, or the status of an error) replaces the state of a
sound account: `{"account": {"match": "termii_sender", "fail": "pending"}}`.
"""

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox.web import JsonResponse
from sandbox.world import World, world_of

SOUND: Final[Mapping[str, str]] = {
    "termii_balance": "50000",
    "termii_sender": "active",
    "africas_talking_balance": "NGN 50000.0000",
    "twilio_account": "active",
    "twilio_balance": "100.00",
    # Or one field of the number and its value: `quality_rating=RED`.
    "messaging_number": "status=CONNECTED",
    "language_model": "gpt-4o-mini",
    "alertmanager": "ready",
    "gateway_balance": "NGN",
    "gateway_banks": "all",
}
"""The accounts, and the state of each without a fault."""


def account_state(world: World, account: str) -> str:
    fault = world.faults.claim_fault("account", account)
    return SOUND[account] if fault is None or fault.fail is None else fault.fail


def _error(state: str, content: object) -> Response | None:
    """The error of an account whose state is a status, else None."""
    return JsonResponse(content, int(state)) if state in {"400", "401", "403", "404", "500"} else None


async def show_termii_balance(request: Request) -> Response:
    """GET /sms/api/get-balance?api_key=."""
    state = account_state(world_of(request), "termii_balance")
    error = _error(state, {"message": "Invalid API key"})
    return error or JsonResponse({"user": "Sandbox", "balance": float(state), "currency": "NGN"})


async def list_termii_senders(request: Request) -> Response:
    """GET /sms/api/sender-id?api_key=&name=; the state `absent` lists none."""
    state = account_state(world_of(request), "termii_sender")
    sender = {"sender_id": request.query_params.get("name", "Campus"), "status": state, "country": "Nigeria"}
    senders = [] if state == "absent" else [{**sender, "createdAt": "2026-01-05 10:00:00"}]
    page = {"content": senders, "totalElements": len(senders), "totalPages": 1, "last": True, "number": 0}
    return _error(state, {"message": "Invalid API key"}) or JsonResponse(page)


async def show_africas_talking_user(request: Request) -> Response:
    """GET /sms/version1/user?username=."""
    state = account_state(world_of(request), "africas_talking_balance")
    if not request.headers.get("apikey") or state == "401":
        return Response("The supplied authentication is invalid", 401)
    return JsonResponse({"UserData": {"balance": state}})


async def show_twilio_account(request: Request) -> Response:
    """GET /sms/2010-04-01/Accounts/{account}.json; the state `trial` is an active trial account."""
    state = account_state(world_of(request), "twilio_account")
    error = _error(state, {"code": 20003, "message": "Authenticate", "status": 401})
    kind = "Trial" if state == "trial" else "Full"
    shown = {"sid": request.path_params["account"], "friendly_name": "Campus", "type": kind}
    return error or JsonResponse({**shown, "status": "active" if state == "trial" else state})


async def show_twilio_balance(request: Request) -> Response:
    """GET /sms/2010-04-01/Accounts/{account}/Balance.json."""
    state = account_state(world_of(request), "twilio_balance")
    return JsonResponse({"account_sid": request.path_params["account"], "balance": state, "currency": "USD"})


async def show_messaging_number(request: Request) -> Response:
    """GET /messaging/{version}/{phone_number_id}?fields=."""
    state = account_state(world_of(request), "messaging_number")
    code, message = (190, "Invalid OAuth access token") if state == "401" else (100, "Unsupported get request")
    error = _error(state, {"error": {"message": message, "type": "OAuthException", "code": code}})
    if error is not None:
        return error
    name, _, text = state.partition("=")
    number = {
        "id": request.path_params["phone_number_id"],
        "display_phone_number": "+234 800 000 0000",
        "verified_name": "Campus",
        "code_verification_status": "VERIFIED",
        "quality_rating": "GREEN",
        "name_status": "APPROVED",
        "status": "CONNECTED",
        "account_mode": "LIVE",
    }
    return JsonResponse({**number, name: text})


async def list_models(request: Request) -> Response:
    """GET /model/models: the state is the id of the one model."""
    state = account_state(world_of(request), "language_model")
    error = _error(state, {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}})
    model = {"id": state, "object": "model", "created": 1_721_172_741, "owned_by": "system"}
    return error or JsonResponse({"object": "list", "data": [model]})


async def show_alertmanager(request: Request) -> Response:
    """GET /on-call/api/v2/status."""
    state = account_state(world_of(request), "alertmanager")
    cluster = {"name": "sandbox", "status": state, "peers": []}
    versions = {"version": "0.27.0", "revision": "", "branch": "", "buildUser": "", "buildDate": "", "goVersion": ""}
    shown = {"cluster": cluster, "versionInfo": versions, "config": {"original": ""}, "uptime": "2026-01-05T10:00:00Z"}
    return _error(state, "unavailable") or JsonResponse(shown)


ROUTES = [
    Route("/sms/api/get-balance", show_termii_balance, methods=["GET"]),
    Route("/sms/api/sender-id", list_termii_senders, methods=["GET"]),
    Route("/sms/version1/user", show_africas_talking_user, methods=["GET"]),
    Route("/sms/2010-04-01/Accounts/{account}.json", show_twilio_account, methods=["GET"]),
    Route("/sms/2010-04-01/Accounts/{account}/Balance.json", show_twilio_balance, methods=["GET"]),
    Route("/messaging/{version}/{phone_number_id}", show_messaging_number, methods=["GET"]),
    Route("/model/models", list_models, methods=["GET"]),
    Route("/on-call/api/v2/status", show_alertmanager, methods=["GET"]),
]
