"""The messaging app's webhook (contract section 9): handshake, customer messages and delivery statuses."""

from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from common.auth.guards import SIGNATURE
from common.primitives.problems import Forbidden, Unauthorized
from common.web.endpoint_table import MIB
from common.web.endpoints import Endpoints
from common.web.http import dependencies_of, ok
from common.web.raw_bodies import read_raw_body
from common.web.responses import WebhookReceipt
from notifications.dependencies import Dependencies
from notifications.support.domain.messaging_webhook import is_signed, is_subscription
from notifications.support.use_cases.messaging.receive_messaging_webhook import receive_messaging_webhook as receive

BODY_BYTES_MAX: Final = 4 * MIB
_PLAIN: Final[dict[str, str]] = {"Cache-Control": "no-store"}

endpoint = Endpoints("support")


_QUERY: Final[dict[str, object]] = {
    "parameters": [
        {"name": name, "in": "query", "required": True, "schema": {"type": "string"}}
        for name in ("hub.mode", "hub.verify_token", "hub.challenge")
    ]
}


class HandshakeRejected(Forbidden):
    detail = "The handshake needs hub.mode=subscribe, the verify token (MESSAGING_VERIFY_TOKEN) and a challenge."


class SignatureInvalid(Unauthorized):
    """Its member `error` equals that of the payment gateway's webhook (contract section 9.4)."""

    def __init__(self) -> None:
        super().__init__("X-Hub-Signature-256 is not the signature of this body.")
        self.extensions["error"] = "Invalid signature"


@endpoint(
    "GET",
    "/api/messaging/webhook",
    id="webhooks.verifyMessaging",
    content="text/plain",
    errors=(403,),
    allow=SIGNATURE,
    raw=True,
    any_query=True,
    openapi_extra=_QUERY,
)
async def verify_messaging_webhook(request: Request) -> Response:
    """Return the plain challenge for `hub.mode=subscribe` with the verify token. Anything else is 403."""
    dependencies = dependencies_of(request, Dependencies)
    given, token = request.query_params, dependencies.messaging_verify_token
    challenge = given.get("hub.challenge")
    if not challenge or not is_subscription(given.get("hub.mode"), given.get("hub.verify_token"), token):
        raise HandshakeRejected
    return PlainTextResponse(challenge, headers=_PLAIN)


@endpoint(
    "POST",
    "/api/messaging/webhook",
    id="webhooks.receiveMessaging",
    returns=WebhookReceipt,
    errors=(413,),
    allow=SIGNATURE,
    raw=True,
    any_query=True,
    body_bytes_max=BODY_BYTES_MAX,
)
async def receive_messaging_webhook(request: Request) -> Response:
    """Accept any body with a valid `X-Hub-Signature-256: sha256=<64 hex>`, the HMAC of the raw body.

    A 401 also has `error: "Invalid signature"`.
    """
    dependencies = dependencies_of(request, Dependencies)
    raw = await read_raw_body(request, BODY_BYTES_MAX)
    if not is_signed(raw, request.headers.getlist("x-hub-signature-256"), dependencies.messaging_app_secret):
        raise SignatureInvalid
    await receive(dependencies.database, raw, dependencies.clock.now())
    return ok(request, WebhookReceipt(received=True))
