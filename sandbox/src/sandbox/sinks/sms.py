"""Text messages, in the shapes of two companies: Termii (JSON) and Africa's Talking (form)."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.gateway.codes import new_code
from sandbox.sinks.inbox import Message, normal_recipient, record_message
from sandbox.sinks.sms_receipts import enqueue_receipts
from sandbox.web import JsonResponse, RefusedError, read_json
from sandbox.world import World, world_of

# Both companies cut a text at ten parts; a longer one is a mistake of the sender.
TEXT_MAX = 1600


def _refuse_termii(status: int, message: str) -> Response:
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
    if not isinstance(text, str) or not 0 < len(text) <= TEXT_MAX or not isinstance(body.get("from"), str):
        return _refuse_termii(400, "The sms and from fields are required")
    shown = {name: value for name, value in body.items() if name != "api_key"}

    def work(_fault: object) -> Response:
        message_id = new_code(length=20)
        for recipient in recipients:
            _record(world, recipient, message_id, text, body["from"], shown)
            enqueue_receipts(world, "termii", recipient, message_id, body["from"], text)
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
            enqueue_receipts(
                world, "africas-talking", response["number"], response["messageId"], fields.get("from", ""), text
            )
        return _africas_talking_response(responses)

    def refuse(status: int, message: str) -> Response:
        if status >= 500:
            return Response(message, status)
        # This company takes the request and says per number that it was not delivered.
        return _africas_talking_response([_africas_talking_view(number, 502, message, "None") for number in recipients])

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


def _record(world: World, recipient: str, message_id: str, text: str, sender: str, payload: Any) -> None:
    message = Message("sms", recipient, message_id, text, sender=sender, payload=msgspec.to_builtins(payload))
    record_message(world.database, message)
