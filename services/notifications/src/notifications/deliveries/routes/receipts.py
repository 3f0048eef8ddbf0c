"""Delivery receipts of the SMS companies: verify the key, commit, respond 200."""

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNATURE
from common.primitives.json_records import decode_record
from common.primitives.problems import Unauthorized
from common.web.endpoint_table import KIB
from common.web.endpoints import Endpoints
from common.web.http import dependencies_of, ok
from common.web.raw_bodies import read_raw_body
from common.web.responses import WebhookReceipt
from notifications.deliveries.domain.receipt_signatures import is_key_valid, is_signed, is_signed_by_twilio
from notifications.deliveries.domain.sms_receipts import TermiiReport, read_receipt
from notifications.deliveries.use_cases.deliveries.receive_receipt import receive_receipt
from notifications.dependencies import Dependencies

# A receipt has a few hundred bytes.
BODY_BYTES_MAX: Final = 16 * KIB
FIELDS_MAX: Final = 50
TWILIO_RECEIPTS: Final = "/functions/v1/sms-receipts/twilio"

endpoint = Endpoints("functions")


@endpoint(
    "POST",
    "/functions/v1/sms-receipts/termii",
    id="webhooks.receiveTermiiReceipt",
    returns=WebhookReceipt,
    errors=(413,),
    allow=SIGNATURE,
    raw=True,
    body_bytes_max=BODY_BYTES_MAX,
)
async def receive_termii_receipt(request: Request) -> Response:
    """Receive Termii's report, JSON.

    `X-Termii-Signature` is the hex HMAC SHA-512 of the body under `SMS_RECEIPT_KEY`.
    """
    raw = await read_raw_body(request, BODY_BYTES_MAX)
    if not is_signed(
        raw, request.headers.get("x-termii-signature"), dependencies_of(request, Dependencies).receipt_keys.shared
    ):
        raise Unauthorized
    report = decode_record(raw, TermiiReport)
    return await _receive(request, "termii", report.message_id, report.status)


@endpoint(
    "POST",
    "/functions/v1/sms-receipts/africas-talking",
    id="webhooks.receiveAfricasTalkingReport",
    returns=WebhookReceipt,
    errors=(413,),
    allow=SIGNATURE,
    raw=True,
    body_bytes_max=BODY_BYTES_MAX,
)
async def receive_africas_talking_report(request: Request) -> Response:
    """Receive Africa's Talking's report, a form. The company does not sign: its callback address has `?key=`."""
    raw = await read_raw_body(request, BODY_BYTES_MAX)
    if not is_key_valid(request.query_params.get("key"), dependencies_of(request, Dependencies).receipt_keys.shared):
        raise Unauthorized
    report = dict(_form(raw))
    error = report.get("failureReason", "")
    return await _receive(request, "africas-talking", report.get("id"), report.get("status"), error)


@endpoint(
    "POST",
    TWILIO_RECEIPTS,
    id="webhooks.receiveTwilioStatus",
    returns=WebhookReceipt,
    errors=(413,),
    allow=SIGNATURE,
    raw=True,
    body_bytes_max=BODY_BYTES_MAX,
)
async def receive_twilio_status(request: Request) -> Response:
    """Receive Twilio's status callback, a form.

    `X-Twilio-Signature` covers our address and the fields under the auth token.
    """
    form = _form(await read_raw_body(request, BODY_BYTES_MAX))
    keys = dependencies_of(request, Dependencies).receipt_keys
    if not is_signed_by_twilio(form, request.headers.get("x-twilio-signature"), keys):
        raise Unauthorized
    report = dict(form)
    error = report.get("ErrorCode", "")
    return await _receive(request, "twilio", report.get("MessageSid"), report.get("MessageStatus"), error)


async def _receive(
    request: Request, company: str, message_id: str | None, reported: str | None, error: str = ""
) -> Response:
    """Respond 200 to any authentic receipt, so that the company stops retrying."""
    receipt, dependencies = read_receipt(company, message_id, reported, error), dependencies_of(request, Dependencies)
    if receipt is not None:
        await receive_receipt(dependencies.database, receipt, dependencies.clock.now())
    return ok(request, WebhookReceipt(received=True))


def _form(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(raw.decode(errors="replace"), keep_blank_values=True, max_num_fields=FIELDS_MAX)
    except ValueError:
        return []
