"""The messaging app's cloud API: template and text messages out, statuses and customers' messages in."""

import re
import time
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import Fault, respond_with_faults
from sandbox.gateway.codes import new_code
from sandbox.outbox import enqueue
from sandbox.sinks.inbox import Message, normal_recipient, record_message
from sandbox.web import JsonResponse, RefusedError, read_json
from sandbox.world import World, world_of

STATUSES = ("sent", "delivered", "read")
BUSINESS_ACCOUNT = "102290129340398"
DISPLAY_NUMBER = "2348000000000"
PHONE_NUMBER_ID = "106540352242922"


def _refuse(status: int, message: str) -> Response:
    code = {400: 131026, 401: 190}.get(status, 131000)
    error = {"message": message, "type": "OAuthException", "code": code, "fbtrace_id": new_code(length=11)}
    return JsonResponse({"error": error}, status)


async def send_message(request: Request) -> Response:
    """POST /messaging/{version}/{phone_number_id}/messages, with any Bearer token."""
    world = world_of(request)
    if not request.headers.get("authorization", "").startswith("Bearer "):
        return _refuse(401, "Invalid OAuth access token")
    try:
        body = await read_json(request)
        text = rendered(body)
    except RefusedError as refusal:
        return _refuse(400, refusal.message)
    given = body.get("to")
    number = re.sub(r"[^0-9]", "", given) if isinstance(given, str) else ""
    if body.get("messaging_product") != "whatsapp" or not number:
        return _refuse(400, "(#100) Invalid parameter: messaging_product and to are required")
    phone_number_id = request.path_params["phone_number_id"]

    def work(_fault: object) -> Response:
        message_id = "wamid." + new_code(length=32)
        record_message(
            world.database, Message("messaging", number, message_id, text, sender=phone_number_id, payload=body)
        )
        if world.switches.messaging_statuses:
            _enqueue_statuses(world, phone_number_id, number, message_id, body.get("biz_opaque_callback_data"))
            world.webhook_sender.wake()
        return JsonResponse(
            {
                "messaging_product": "whatsapp",
                "contacts": [{"input": given, "wa_id": number}],
                "messages": [{"id": message_id, "message_status": "accepted"}],
            }
        )

    return await respond_with_faults(request, world.faults, "messaging", (normal_recipient(number),), work, _refuse)


def rendered(body: dict[str, Any]) -> str:
    """What the person reads: the text, or the template's name with its parameters. Raises RefusedError 400."""
    kind = body.get("type", "text")
    try:
        if kind == "text":
            return str(body["text"]["body"])
        if kind == "template":
            template = body["template"]
            parameters = [
                str(parameter.get("text", ""))
                for component in template.get("components", [])
                for parameter in component.get("parameters", [])
            ]
            return f"[{template['name']}, {template['language']['code']}] " + " | ".join(parameters)
    except (KeyError, TypeError, AttributeError):
        raise RefusedError(400, f"(#100) Invalid parameter: {kind}") from None
    raise RefusedError(400, "(#131009) Parameter value is not valid: type must be text or template")


def _enqueue_statuses(world: World, phone_number_id: str, number: str, message_id: str, callback: Any) -> None:
    """Sent, delivered, read; or failed, when a fault says so. What the sender gave along comes back with each of them."""
    fault = world.faults.claim_fault("messaging_status", normal_recipient(number)) or Fault()
    statuses = ("failed",) if fault.fail is not None else STATUSES
    start, delay_seconds = time.time() + fault.delay, world.switches.messaging_status_delay_seconds
    given = {} if callback is None else {"biz_opaque_callback_data": callback}
    with world.database.transaction():
        for position, status in enumerate(statuses, start=1):
            due = start + position * delay_seconds
            reported = {"id": message_id, "status": status, "timestamp": str(int(due)), "recipient_id": number, **given}
            if fault.fail is not None:
                reported["errors"] = [{"code": 131026, "title": fault.fail}]
            body = msgspec.json.encode(notification(phone_number_id, {"statuses": [reported]}))
            for _ in range(1 + fault.duplicate):
                state = "dropped" if fault.drop else "pending"
                enqueue(world.database, "messaging", f"status.{status}", message_id, body, due, state)


def notification(phone_number_id: str, change: dict[str, Any]) -> dict[str, Any]:
    """The frame of every webhook of the platform (specification, Messaging-app inbound message body)."""
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": DISPLAY_NUMBER, "phone_number_id": phone_number_id},
        **change,
    }
    return {
        "object": "whatsapp_business_account",
        "entry": [{"id": BUSINESS_ACCOUNT, "changes": [{"field": "messages", "value": value}]}],
    }


async def receive_incoming(request: Request) -> Response:
    """`POST /control/messaging/incoming` `{from, name?, text or message, id?}`: a customer writes to the business.

    `message` is anything but a text in the platform's own words: `{"type": "image", "image": {"caption": "broken"}}`.
    """
    world = world_of(request)
    body = await read_json(request)
    sender, name = body.get("from"), body.get("name", "")
    number = re.sub(r"[^0-9]", "", sender) if isinstance(sender, str) else ""
    content = _content(body)
    if not number or not isinstance(name, str) or content is None:
        raise RefusedError(400, "from, and text or message, are required")
    message_id = str(body.get("id") or "wamid." + new_code(length=32))
    now = time.time()
    change = {
        "contacts": [{"profile": {"name": name}, "wa_id": number}],
        "messages": [{"from": number, "id": message_id, "timestamp": str(int(now)), **content}],
    }
    return _report(world, "messages", message_id, notification(PHONE_NUMBER_ID, change))


def _content(body: dict[str, Any]) -> dict[str, Any] | None:
    text, message = body.get("text"), body.get("message")
    if isinstance(text, str) and text:
        return {"type": "text", "text": {"body": text}}
    return message if isinstance(message, dict) else None


async def report_status(request: Request) -> Response:
    """`POST /control/messaging/statuses` `{id, status}`: the platform reports the status of an accepted message."""
    world = world_of(request)
    body = await read_json(request)
    message_id, status = body.get("id"), body.get("status")
    if status not in (*STATUSES, "failed"):
        raise RefusedError(400, "status must be sent, delivered, read or failed")
    row = world.database.one("SELECT * FROM messages WHERE channel = 'messaging' AND provider_id = ?", str(message_id))
    if row is None:
        raise RefusedError(404, "No such message")
    sent = msgspec.json.decode(row["payload"])
    given = sent.get("biz_opaque_callback_data")
    reported = {
        "id": message_id,
        "status": status,
        "timestamp": str(int(time.time())),
        "recipient_id": re.sub(r"[^0-9]", "", row["recipient"]),
        **({} if given is None else {"biz_opaque_callback_data": given}),
    }
    body = notification(row["sender"] or PHONE_NUMBER_ID, {"statuses": [reported]})
    return _report(world, f"status.{status}", str(message_id), body)


def _report(world: World, event: str, message_id: str, body: dict[str, Any]) -> Response:
    webhook_id = enqueue(world.database, "messaging", event, message_id, msgspec.json.encode(body), time.time())
    world.webhook_sender.wake()
    return JsonResponse({"id": message_id, "webhook_id": webhook_id}, 202)
