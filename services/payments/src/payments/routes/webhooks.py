"""The payment gateway's webhooks (contract section 9): signature over the raw bytes first, one commit, then 200."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from common.http import GuardedRoute, dependencies_of, ok, public
from common.problems import ValidationFailed
from payments.dependencies import Dependencies
from payments.domain.signature import is_signed
from payments.measures import WEBHOOKS_ACCEPTED, WEBHOOKS_REFUSED
from payments.schemas import WebhookReceived, answers
from payments.use_cases.accept_webhook import accept_webhook

BODY_BYTES_MAX: Final = 1024 * 1024
_REFUSAL: Final = b'{"error":"Invalid signature"}'


class RawRoute(GuardedRoute):
    """A documented route whose endpoint gets the request as it came: the signature is the only thing that is judged.

    No body is parsed and no token is looked at, which also halves the CPU of the hottest path (performance.md).
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        endpoint: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return endpoint


router = APIRouter(route_class=RawRoute, tags=["functions"])


@router.post("/functions/v1/gateway-webhook", responses=answers(200, WebhookReceived))
@public
async def gateway_webhook(request: Request) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    raw = await _raw_body(request)
    if not is_signed(raw, request.headers.get("x-gateway-signature"), dependencies.webhook_secrets):
        WEBHOOKS_REFUSED.inc()
        return Response(_REFUSAL, status_code=401, media_type="application/json")
    is_first = await accept_webhook(dependencies.database, raw)
    WEBHOOKS_ACCEPTED.labels("first" if is_first else "duplicate").inc()
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
