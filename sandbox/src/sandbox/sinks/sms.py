"""Text messages, in the shapes of three companies: Termii (JSON), Africa's Talking and Twilio (forms)."""

import base64
import binascii
from email.utils import formatdate
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.gateway.codes import new_code
from sandbox.sinks.inbox import Message, normal_recipient, record_message
from sandbox.sinks.sms_faults import africas_talking_code, termii_fault, twilio_fault
from sandbox.sinks.sms_receipts import SentText, TwilioCallback, enqueue_receipts, enqueue_twilio_statuses
from sandbox.web import JsonResponse, RefusedError, read_json
from sandbox.world import World, world_of

# Both companies cut a text at ten parts; a longer one is a mistake of the sender.
TEXT_MAX = 1600


def _refuse_termii(status: int, message: str) -> Response:
    status, message = termii_fault(status, message)
    return JsonResponse({"code": status, "message": message, "status": "error"}, status)


async def send_termii(request: Request) -> Response:
    """POST /sms/api/sms/send."""
    world = world_of(request)
    try:
        body = await read_json(request)
    except RefusedError as refusal:
        return _refuse_termii(refusal.status, refusal.message)
    given = body.get("to")
    recipients = [given] if isinstance(given, str) else given
    text = body.get("sms")
    if not body.get("api_key"):
        return _refuse_termii(401, "Invalid API key")
    if (
        not isinstance(recipients, list)
        or not recipients
        or not all(isinstance(one, str) and one for one in recipients)
    ):
        return _refuse_termii(400, "Invalid phone number")
    if body.get("type", "plain") not in ("plain", "unicode") or body.get("channel", "generic") not in (
        "generic",
        "dnd",
    ):
        return _refuse_termii(400, "The type and channel fields are invalid")
    if not isinstance(text, str) or not 0 < len(text) <= TEXT_MAX or not isinstance(body.get("from"), str):
        return _refuse_termii(400, "The sms and from fields are required")
    shown = {name: value for name, value in body.items() if name != "api_key"}

    def work(_fault: object) -> Response:
        message_id = new_code(length=20)
        for recipient in recipients:
            _record(world, recipient, message_id, text, body["from"], shown)
            sent = SentText("termii", recipient, message_id, body["from"], text, body.get("channel", ""))
            enqueue_receipts(world, sent)
        return JsonResponse(
            {"code": "ok", "message_id": message_id, "message": "Successfully Sent", "balance": 1000, "user": "Sandbox"}
        )

    keys = tuple(normal_recipient(recipient) for recipient in recipients)
    kind = "sms_termii" if "sms_termii" in world.faults.rules else "sms"
    return await respond_with_faults(request, world.faults, kind, keys, work, _refuse_termii)


async def send_africas_talking(request: Request) -> Response:
    """POST /sms/version1/messaging; `to` may name several numbers, separated by commas."""
    world = world_of(request)
    if not request.headers.get("apikey"):
        return Response("The supplied authentication is invalid", 401)
    async with request.form() as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
    recipients = [number.strip() for number in fields.get("to", "").split(",") if number.strip()]
    text = fields.get("message", "")
    if not fields.get("username") or not recipients or not 0 < len(text) <= TEXT_MAX:
        return Response("Must have username, to and message in the request", 400)

    def work(_fault: object) -> Response:
        responses = [
            _africas_talking_view(number, 101, "Success", "ATXid_" + new_code(length=32)) for number in recipients
        ]
        for response in responses:
            _record(world, response["number"], response["messageId"], text, fields.get("from", ""), fields)
            number, message_id, sender = response["number"], response["messageId"], fields.get("from", "")
            enqueue_receipts(world, SentText("africas-talking", number, message_id, sender, text))
        return _africas_talking_response(responses)

    def refuse(status: int, message: str) -> Response:
        if status >= 500:
            return Response(message, status)
        # This company accepts the request and reports for each number that it was not delivered.
        return _africas_talking_response(
            [_africas_talking_view(number, africas_talking_code(message), message, "None") for number in recipients]
        )

    keys = tuple(normal_recipient(recipient) for recipient in recipients)
    kind = "sms_africas_talking" if "sms_africas_talking" in world.faults.rules else "sms"
    return await respond_with_faults(request, world.faults, kind, keys, work, refuse)


def _africas_talking_view(number: str, code: int, status: str, message_id: str) -> dict[str, Any]:
    cost = "NGN 2.2000" if code == 101 else "0"
    return {"statusCode": code, "number": number, "status": status, "cost": cost, "messageId": message_id}


def _africas_talking_response(recipients: list[dict[str, Any]]) -> Response:
    sent = sum(recipient["statusCode"] == 101 for recipient in recipients)
    summary = f"Sent to {sent}/{len(recipients)} Total Cost: NGN {sent * 2.2:.4f}"
    return JsonResponse({"SMSMessageData": {"Message": summary, "Recipients": recipients}}, 201)


async def send_twilio(request: Request) -> Response:
    """POST /sms/2010-04-01/Accounts/{account}/Messages.json, with the account and any password in Basic."""
    world = world_of(request)
    account = request.path_params["account"]
    login, _, token = _basic_login(request).partition(":")
    if login != account or not token:
        return _refuse_twilio(401, "20003")
    async with request.form() as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
    sender = fields.get("From") or fields.get("MessagingServiceSid")
    recipient, text = fields.get("To", ""), fields.get("Body", "")
    if not recipient or not sender or not 0 < len(text) <= TEXT_MAX:
        return _refuse_twilio(400, "21604")

    def work(_fault: object) -> Response:
        sid = "SM" + new_code(length=32)
        _record(world, recipient, sid, text, sender, fields)
        callback = fields.get("StatusCallback", "")
        if callback:
            enqueue_twilio_statuses(world, recipient, sid, sender, account, TwilioCallback(callback, token))
        path = f"/2010-04-01/Accounts/{account}/Messages/{sid}"
        return JsonResponse(_twilio_view(account, sid, recipient, sender, text, path), 201)

    kind = "sms_twilio" if "sms_twilio" in world.faults.rules else "sms"
    keys = (normal_recipient(recipient),)
    return await respond_with_faults(request, world.faults, kind, keys, work, _refuse_twilio)


def _twilio_view(account: str, sid: str, recipient: str, sender: str, text: str, path: str) -> dict[str, Any]:
    now = formatdate()
    return {
        "sid": sid,
        "account_sid": account,
        "messaging_service_sid": sender if sender.startswith("MG") else None,
        "to": recipient,
        "from": None if sender.startswith("MG") else sender,
        "body": text,
        "status": "accepted" if sender.startswith("MG") else "queued",
        "direction": "outbound-api",
        "num_segments": "1",
        "num_media": "0",
        "price": None,
        "price_unit": "USD",
        "error_code": None,
        "error_message": None,
        "date_created": now,
        "date_updated": now,
        "date_sent": None,
        "api_version": "2010-04-01",
        "uri": f"{path}.json",
        "subresource_uris": {"media": f"{path}/Media.json"},
    }


def _refuse_twilio(status: int, reason: str) -> Response:
    status, code, message = twilio_fault(status, reason)
    more = f"https://www.twilio.com/docs/errors/{code}"
    return JsonResponse({"code": code, "message": message, "more_info": more, "status": status}, status)


def _basic_login(request: Request) -> str:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    try:
        return base64.b64decode(given, validate=True).decode() if scheme.lower() == "basic" else ""
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _record(world: World, recipient: str, message_id: str, text: str, sender: str, payload: Any) -> None:
    message = Message("sms", recipient, message_id, text, sender=sender, payload=msgspec.to_builtins(payload))
    record_message(world.database, message)
