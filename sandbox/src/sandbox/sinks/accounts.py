"""The state of our accounts at the companies, which each shows in response to a GET.

The fault `account` changes it (`sandbox.states`); a status as the state is the company's error.
"""

from typing import Final
from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox.web import JsonResponse
from sandbox.world import World, world_of

# Status of an error's code; 403 for the others.
S3_STATUS: Final = {"NoSuchBucket": 404, "PermanentRedirect": 301, "SlowDown": 503, "InternalError": 500}


def account_state(world: World, account: str) -> str:
    """Return the state of one of our accounts at a company, by its fault or the sound one."""
    return world.faults.state("account", account)


def _error(state: str, content: object) -> Response | None:
    """Return the error of an account whose state is a status, else None."""
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
    error = _error(state, {"code": 20003, "message": "Authenticate", "status": 401})
    return error or JsonResponse({"account_sid": request.path_params["account"], "balance": state, "currency": "USD"})


async def show_messaging_number(request: Request) -> Response:
    """GET /messaging/{version}/{phone_number_id}?fields=."""
    state = account_state(world_of(request), "messaging_number")
    code, message = (190, "Invalid OAuth access token") if state == "401" else (100, "Unsupported get request")
    error = _error(state, {"error": {"message": message, "type": "OAuthException", "code": code}})
    if error is not None:
        return error
    changes = dict(change.split("=", 1) for change in state.split(","))
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
    return JsonResponse(number | changes)


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


async def show_bucket(request: Request) -> Response:
    """GET /storage/{bucket}?list-type=2&max-keys=0 in the protocol of S3; signatures are not checked."""
    state, bucket = account_state(world_of(request), "image_store"), escape(request.path_params["bucket"])
    if state == "readable":
        listed = (
            f"<Name>{bucket}</Name><Prefix/><KeyCount>0</KeyCount><MaxKeys>0</MaxKeys><IsTruncated>false</IsTruncated>"
        )
        return _xml("ListBucketResult", listed, 200)
    return _xml(
        "Error",
        f"<Code>{state}</Code><Message>{state}</Message><Resource>/{bucket}</Resource>",
        S3_STATUS.get(state, 403),
    )


def _xml(element: str, content: str, status: int) -> Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?><{element}>{content}</{element}>'
    return Response(text, status, media_type="application/xml")


ROUTES = [
    Route("/storage/{bucket}", show_bucket, methods=["GET"]),
    Route("/sms/api/get-balance", show_termii_balance, methods=["GET"]),
    Route("/sms/api/sender-id", list_termii_senders, methods=["GET"]),
    Route("/sms/version1/user", show_africas_talking_user, methods=["GET"]),
    Route("/sms/2010-04-01/Accounts/{account}.json", show_twilio_account, methods=["GET"]),
    Route("/sms/2010-04-01/Accounts/{account}/Balance.json", show_twilio_balance, methods=["GET"]),
    Route("/messaging/{version}/{phone_number_id}", show_messaging_number, methods=["GET"]),
    Route("/model/models", list_models, methods=["GET"]),
    Route("/on-call/api/v2/status", show_alertmanager, methods=["GET"]),
]
