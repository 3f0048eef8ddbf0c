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
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
# Reasons of a fault that have a status of their own, with the service's own words.
FAULTS = {
    "UNREGISTERED": (404, "Requested entity was not found."),
    "INVALID_TOKEN": (400, "The registration token is not a valid FCM registration token"),
    "SENDER_ID_MISMATCH": (403, "SenderId mismatch"),
    "THIRD_PARTY_AUTH_ERROR": (401, "Auth error from APNS or Web Push Service"),
    "PERMISSION_DENIED": (403, "Permission 'cloudmessaging.messages.create' denied on resource."),
    "QUOTA_EXCEEDED": (429, "Quota exceeded for quota metric."),
    "UNAVAILABLE": (503, "The service is currently unavailable."),
}
# The token endpoint's errors (RFC 6749, section 5.2).
OAUTH_ERRORS = ("invalid_grant", "invalid_client", "unauthorized_client")
FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
RETRY_SECONDS = "30"


def _refuse_native(status: int, message: str) -> Response:
    """Refuse; a fault with a name of FAULTS returns the real service's response."""
    name = message
    status, message = FAULTS.get(name, (status, message))
    error: dict[str, Any] = {"code": status, "message": message, "status": REASONS.get(status, "UNKNOWN")}
    code = {"INVALID_TOKEN": "INVALID_ARGUMENT", "PERMISSION_DENIED": ""}.get(name, name if name in FAULTS else "")
    if code:
        error["details"] = [{"@type": FCM_ERROR, "errorCode": code}]
    headers = {"Retry-After": RETRY_SECONDS} if status in (429, 503) else {}
    return JsonResponse({"error": error}, status, headers)


async def issue_token(request: Request) -> Response:
    """POST /push/oauth/token: an access token for a signed assertion."""
    async with request.form() as form:
        complete = bool(form.get("grant_type")) and bool(form.get("assertion"))
    if not complete:
        return JsonResponse({"error": "invalid_grant", "error_description": "grant_type and assertion are needed"}, 400)

    def work(_fault: object) -> Response:
        token = "ya29." + new_code(length=40)
        return JsonResponse({"access_token": token, "expires_in": TOKEN_SECONDS, "token_type": "Bearer"})

    def refuse(status: int, reason: str) -> Response:
        error = reason if reason in OAUTH_ERRORS else "invalid_grant" if status < 500 else "server_error"
        return JsonResponse({"error": error, "error_description": reason}, status)

    return await respond_with_faults(request, world_of(request).faults, "push_token", (), work, refuse)


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
    # A message with a secret is for the app only: its text is in `data`.
    notification = message.get("notification") or message.get("data")
    shown = notification if isinstance(notification, dict) else {}
    name = f"projects/{request.path_params['project']}/messages/{new_code(length=16)}"

    def work(_fault: object) -> Response:
        if body.get("validate_only") is True:
            # A dry run reaches no device; the token of one that checks the project only is none.
            return _refuse_native(400, "INVALID_TOKEN")
        record_message(
            world.database,
            Message(
                "push", target, name, str(shown.get("body", "")), subject=str(shown.get("title", "")), payload=body
            ),
        )
        return JsonResponse({"name": name})

    return await respond_with_faults(request, world.faults, "push", (target,), work, _refuse_native)


def _refuse_web(status: int, message: str) -> Response:
    """`fail` means that the subscription is gone (410); too many messages and a busy service have their own values."""
    status = {"QUOTA_EXCEEDED": 429, "UNAVAILABLE": 503}.get(message, 410) if status == 400 else status
    return Response(message, status, {"Retry-After": RETRY_SECONDS} if status in (429, 503) else None)


async def send_web(request: Request) -> Response:
    """POST /push/web/{id}: stored as received, encrypted for the browser, in base64."""
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
