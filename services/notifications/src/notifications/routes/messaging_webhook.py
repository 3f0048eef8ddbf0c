"""The messaging app's webhook (contract section 9): the handshake, and what customers and telephones say."""

from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from common.answers import answers
from common.http import RawRoute, before_sign_in, dependencies_of, ok
from common.problems import Forbidden, InvalidParam, Unauthorized, ValidationFailed
from common.schemas import ResponseShape
from notifications.domain.messaging_webhook import is_signed, is_subscription
from notifications.use_cases.accept_messaging_webhook import accept_messaging_webhook

if TYPE_CHECKING:
    from notifications.app import Dependencies

BODY_BYTES_MAX: Final = 4 * 1024 * 1024
_PLAIN: Final[dict[str, str]] = {"Cache-Control": "no-store"}

router = APIRouter(route_class=RawRoute, tags=["support"])


class WebhookTaken(ResponseShape):
    """It was taken, whatever it holds."""

    received: bool


_CHALLENGE: Final[dict[int | str, dict[str, Any]]] = {
    **answers(WebhookTaken, 403, 422),
    200: {"description": "The challenge as it was sent.", "content": {"text/plain": {"schema": {"type": "string"}}}},
}
_QUERY: Final[dict[str, Any]] = {
    "parameters": [
        {"name": name, "in": "query", "required": True, "schema": {"type": "string"}}
        for name in ("hub.mode", "hub.verify_token", "hub.challenge")
    ]
}


class VerifyTokenWrong(Forbidden):
    detail = "This is not how the messaging app subscribes here."


class ChallengeMissing(ValidationFailed):
    """The token is right, but there is nothing to answer with."""

    def __init__(self) -> None:
        super().__init__("hub.challenge: is required", invalid_params=[InvalidParam("hub.challenge", "is required")])


@router.get("/api/messaging/webhook", responses=_CHALLENGE, response_class=PlainTextResponse, openapi_extra=_QUERY)
@before_sign_in
async def verify_messaging_webhook(request: Request) -> Response:
    """`hub.mode=subscribe` and the verify token: the challenge, bare. Without a challenge there is nothing to answer: 422."""
    dependencies: Dependencies = dependencies_of(request)
    given = request.query_params
    if not is_subscription(given.get("hub.mode"), given.get("hub.verify_token"), dependencies.messaging_verify_token):
        raise VerifyTokenWrong
    challenge = given.get("hub.challenge")
    if not challenge:
        raise ChallengeMissing
    return PlainTextResponse(challenge, headers=_PLAIN)


@router.post("/api/messaging/webhook", responses=answers(WebhookTaken, 413))
@before_sign_in
async def messaging_webhook(request: Request) -> Response:
    """`X-Hub-Signature-256: sha256=<64 hex>`, the HMAC of the raw body, is the only thing that is judged; then one commit, then 200."""
    dependencies: Dependencies = dependencies_of(request)
    raw = await _raw_body(request)
    if not is_signed(raw, request.headers.getlist("x-hub-signature-256"), dependencies.messaging_app_secret):
        raise Unauthorized("The signature is not that of this body.")
    await accept_messaging_webhook(dependencies.database, raw, dependencies.clock.now())
    return ok(request, {"received": True})


async def _raw_body(request: Request) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > BODY_BYTES_MAX:
            raise ValidationFailed("The body is too large.", status=413)
        pieces.append(piece)
    return b"".join(pieces)
