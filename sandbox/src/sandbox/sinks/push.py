"""Push: the native service (FCM HTTP v1) with its token endpoint, and a web push service."""

import base64
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.gateway.codes import new_code
from sandbox.sinks.inbox import Message, record_message
from sandbox.web import JsonResponse, RefusedError, read_body, read_json
from sandbox.world import world_of

# Web push services refuse a larger body (RFC 8030, section 7.2).
WEB_PUSH_BYTES_MAX = 4096

TOKEN_SECONDS = 3600
REASONS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
# Reasons of a fault that have a status of their own.
STATUSES = {"UNREGISTERED": 404, "QUOTA_EXCEEDED": 429, "UNAVAILABLE": 503}


def _refuse_native(status: int, message: str) -> Response:
    """A fault that fails with `UNREGISTERED`, `QUOTA_EXCEEDED` or `UNAVAILABLE` answers as the real service does then."""
    status = STATUSES.get(message, status)
    error: dict[str, Any] = {"code": status, "message": message, "status": REASONS.get(status, "UNKNOWN")}
    if message in STATUSES:
        error["details"] = [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": message}]
    return JsonResponse({"error": error}, status)


async def issue_token(request: Request) -> Response:
    """POST /push/oauth/token: an access token for a signed assertion."""
    async with request.form() as form:
        complete = bool(form.get("grant_type")) and bool(form.get("assertion"))
    if not complete:
        return JsonResponse({"error": "invalid_grant", "error_description": "grant_type and assertion are needed"}, 400)
    token = "ya29." + new_code(length=40)
    return JsonResponse({"access_token": token, "expires_in": TOKEN_SECONDS, "token_type": "Bearer"})


async def send_native(request: Request) -> Response:
    """POST /push/v1/projects/{project}/messages:send, with any Bearer token."""
    world = world_of(request)
    if not request.headers.get("authorization", "").startswith("Bearer "):
        return _refuse_native(401, "Request had invalid authentication credentials.")
    try:
        body = await read_json(request)
    except RefusedError as refusal:
        return _refuse_native(400, refusal.message)
    message = body.get("message")
    target = None if not isinstance(message, dict) else message.get("token") or message.get("topic")
    if not isinstance(message, dict) or not isinstance(target, str):
        return _refuse_native(400, "Recipient of the message is not set.")
    # A message with a secret is for the app alone: its words stand in `data`.
    notification = message.get("notification") or message.get("data")
    shown = notification if isinstance(notification, dict) else {}
    name = f"projects/{request.path_params['project']}/messages/{new_code(length=16)}"

    def work(_fault: object) -> Response:
        record_message(
            world.database,
            Message(
                "push", target, name, str(shown.get("body", "")), subject=str(shown.get("title", "")), payload=body
            ),
        )
        return JsonResponse({"name": name})

    return await respond_with_faults(request, world.faults, "push", (target,), work, _refuse_native)


def _refuse_web(status: int, message: str) -> Response:
    """`fail` means here that the subscription is gone (410); too many messages and a busy service have words of their own."""
    return Response(message, {"QUOTA_EXCEEDED": 429, "UNAVAILABLE": 503}.get(message, 410) if status == 400 else status)


async def send_web(request: Request) -> Response:
    """POST /push/web/{id}: kept as it came, encrypted for the browser, in base64."""
    world = world_of(request)
    subscription = request.path_params["id"]
    body = await read_body(request)
    headers = request.headers
    if len(body) > WEB_PUSH_BYTES_MAX:
        return Response("Payload too large", 413)
    if not headers.get("ttl", "").isdigit():
        return Response("The TTL header is required", 400)
    if body and headers.get("content-encoding") not in ("aes128gcm", "aesgcm"):
        return Response("The body must be encrypted", 400)
    message_id = new_code(length=24)
    # The token inside the Authorization header is a credential; its scheme is enough to see that it was there.
    kept = {name: value for name, value in headers.items() if name not in ("authorization", "crypto-key", "host")}
    kept["authorization"] = headers.get("authorization", "").partition(" ")[0]

    def work(_fault: object) -> Response:
        text = f"{len(body)} encrypted bytes"
        payload = {"length": len(body), "body": base64.b64encode(body).decode(), "headers": kept}
        record_message(world.database, Message("web_push", subscription, message_id, text, payload=payload))
        location = f"{world.settings.base_url}/push/messages/{message_id}"
        return Response(status_code=201, headers={"Location": location, "TTL": headers["ttl"]})

    return await respond_with_faults(request, world.faults, "push", (subscription,), work, _refuse_web)
