"""Flutterwave's envelope and its amounts, which are naira with at most two decimals."""

from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import AMOUNT_MINOR_MAX
from sandbox.web import RefusedError, read_body

GATEWAY = "flutterwave"
# Decimals are written as numbers; the default writes them as strings.
ENCODER = msgspec.json.Encoder(decimal_format="number")
DECODER = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)


def succeeded(message: str, data: Any, meta: Any = None) -> Response:
    """Return the envelope of a success."""
    body = {"status": "success", "message": message, "data": data}
    if meta is not None:
        body["meta"] = meta
    return Response(ENCODER.encode(body), media_type="application/json")


def initiated(message: str, meta: Any) -> Response:
    """Return the envelope of a charge that awaits its payer, which has no `data`."""
    body = ENCODER.encode({"status": "success", "message": message, "meta": meta})
    return Response(body, media_type="application/json")


def failed(status: int, message: str) -> Response:
    """Return the envelope of an error, which names no code."""
    body = ENCODER.encode({"status": "error", "message": message, "data": None})
    return Response(body, status, media_type="application/json")


async def read_fields(request: Request) -> dict[str, Any]:
    """Return the body's object, with exact decimals. Raises RefusedError 400 for anything else."""
    try:
        return DECODER.decode(await read_body(request))
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RefusedError(400, "Invalid request body") from None


def naira(amount_minor: int) -> int | Decimal:
    """Kobo as naira: a whole number, or a decimal with the places that it needs."""
    whole, kobo = divmod(amount_minor, 100)
    return whole if kobo == 0 else Decimal(amount_minor).scaleb(-2).normalize()


def naira_text(amount_minor: int) -> str:
    """Kobo as naira in text, with two decimals."""
    return f"{amount_minor // 100}.{amount_minor % 100:02d}"


def read_amount(value: Any, name: str = "amount") -> int:
    """Naira, as a number or a string, in kobo. Raises RefusedError 400 for more than two decimals."""
    try:
        amount = Decimal(value) if isinstance(value, (int, str, Decimal)) and not isinstance(value, bool) else None
    except InvalidOperation:
        amount = None
    if amount is None or not amount.is_finite() or amount != round(amount, 2):
        raise RefusedError(400, f"{name} is invalid")
    amount_minor = int(amount * 100)
    if not 0 < amount_minor <= AMOUNT_MINOR_MAX:
        raise RefusedError(400, f"{name} is invalid")
    return amount_minor
