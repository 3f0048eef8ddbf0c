"""What the SMS companies tell of messages: a key first, over the raw bytes; one commit; then 200."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.primitives.problems import Unauthorized, ValidationFailed
from common.web.http import RawRoute, before_sign_in, dependencies_of, ok
from common.web.responses import answers
from common.web.schemas import ResponseShape
from notifications.dependencies import Dependencies
from notifications.domain.receipt_keys import is_accompanied, is_signed
from notifications.use_cases.deliveries.receive_receipt import receive_receipt

# A receipt has a few hundred bytes.
BODY_BYTES_MAX: Final = 16 * 1024

router = APIRouter(route_class=RawRoute, tags=["functions"])


class ReceiptReceived(ResponseShape):
    """It was taken, whether it tells us anything or not."""

    received: bool


@router.post("/functions/v1/sms-receipts/termii", responses=answers(ReceiptReceived, 413))
@before_sign_in
async def termii_receipt(request: Request) -> Response:
    """Termii's report, JSON: `X-Termii-Signature` is the hex HMAC SHA-512 of the body under `SMS_RECEIPT_KEY`."""
    raw = await _raw_body(request)
    if not is_signed(
        raw, request.headers.get("x-termii-signature"), dependencies_of(request, Dependencies).sms_receipt_key
    ):
        raise Unauthorized
    told = _json(raw)
    return await _take(request, "termii", told.get("message_id"), told.get("status"))


@router.post("/functions/v1/sms-receipts/africas-talking", responses=answers(ReceiptReceived, 413))
@before_sign_in
async def africas_talking_report(request: Request) -> Response:
    """Africa's Talking's report, a form. The company signs nothing: the address that it was given ends in `?key=`."""
    raw = await _raw_body(request)
    if not is_accompanied(request.query_params.get("key"), dependencies_of(request, Dependencies).sms_receipt_key):
        raise Unauthorized
    told = dict(parse_qsl(raw.decode(errors="replace"), max_num_fields=50) if raw else [])
    return await _take(request, "africas-talking", told.get("id"), told.get("status"))


async def _take(request: Request, company: str, message_id: object, word: object) -> Response:
    """What is well sent is answered 200 whatever its shape, so that it does not come again for ever."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await receive_receipt(uow, company, message_id, word, dependencies.clock.now())
    return ok(request, {"received": True})


def _json(raw: bytes) -> Mapping[str, Any]:
    try:
        told = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


async def _raw_body(request: Request) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > BODY_BYTES_MAX:
            raise ValidationFailed("The body is too large.", status=413)
        pieces.append(piece)
    return b"".join(pieces)
