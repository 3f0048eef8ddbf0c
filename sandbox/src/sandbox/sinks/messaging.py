"""The messaging app's cloud API: template and text messages out, statuses and customers' messages in."""

import hashlib
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
from sandbox.sinks.message_templates import check_message, is_authorized
from sandbox.sinks.messaging_errors import refuse, refuse_code, refuse_parameter, reported_error
from sandbox.web import JsonResponse, RefusedError, read_json
from sandbox.world import World, world_of

STATUSES = ("sent", "delivered", "read")
BUSINESS_ACCOUNT = "102290129340398"
DISPLAY_NUMBER = "2348000000000"
PHONE_NUMBER_ID = "106540352242922"
USER_ID = re.compile(r"[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}")


async def send_message(request: Request) -> Response:
    """POST /messaging/{version}/{phone_number_id}/messages, with any Bearer token."""
    world = world_of(request)
    if not is_authorized(request):
        return refuse_code(190)
    try:
        body = await read_json(request)
        text = rendered(body)
    except RefusedError as refusal:
        return refuse_parameter(refusal.message)
    contact = _recipient(body)
    if body.get("messaging_product") != "whatsapp" or contact is None:
        return refuse_parameter("(#100) Invalid parameter: messaging_product, and to or recipient, are required")
    if (error := _check_template(world, body, contact)) is not None:
        return error
    phone_number_id, recipient = request.path_params["phone_number_id"], contact.get("wa_id") or contact["user_id"]

    def work(_fault: object) -> Response:
        message_id = "wamid." + new_code(length=32)
        record_message(
            world.database, Message("messaging", recipient, message_id, text, sender=phone_number_id, payload=body)
        )
        if world.switches.messaging_statuses:
            _enqueue_statuses(world, phone_number_id, contact, message_id, body.get("biz_opaque_callback_data"))
            world.webhook_sender.wake()
        paced = {"message_status": "accepted"} if body.get("type") == "template" else {}
        return JsonResponse(
            {
                "messaging_product": "whatsapp",
                "contacts": [contact],
                "messages": [{"id": message_id, **paced}],
            }
        )

    return await respond_with_faults(request, world.faults, "messaging", (normal_recipient(recipient),), work, refuse)


def _recipient(body: dict[str, Any]) -> dict[str, str] | None:
    """Return the contact of the response: by number (`to`), or by the platform's id of the user (`recipient`)."""
    to, recipient = body.get("to"), body.get("recipient")
    number = re.sub(r"[^0-9]", "", to) if isinstance(to, str) else ""
    if number:
        return {"input": str(to), "wa_id": number}
    if isinstance(recipient, str) and USER_ID.fullmatch(recipient):
        return {"input": recipient, "user_id": recipient}
    return None


def _check_template(world: World, body: dict[str, Any], contact: dict[str, str]) -> Response | None:
    """Refuse a template that is not approved, and a code to a user whose number the business does not have."""
    if body.get("type") != "template":
        return None
    has_button = any(one.get("type") == "button" for one in body["template"].get("components", []))
    if has_button and "wa_id" not in contact:
        return refuse_code(131062)
    return check_message(world.database, body["template"])


def rendered(body: dict[str, Any]) -> str:
    """Return the shown text, or the template's name with its parameters. Raises RefusedError 400."""
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


def _enqueue_statuses(
    world: World, phone_number_id: str, contact: dict[str, str], message_id: str, callback: Any
) -> None:
    """Sent, delivered, read; or failed, by a fault. Each contains the sender's own data."""
    key = normal_recipient(contact.get("wa_id") or contact["user_id"])
    fault = world.faults.claim_fault("messaging_status", key) or Fault()
    statuses = ("failed",) if fault.fail is not None else STATUSES
    start, delay_seconds = time.time() + fault.delay, world.switches.messaging_status_delay_seconds
    with world.database.transaction():
        for position, status in enumerate(statuses, start=1):
            due = start + position * delay_seconds
            change = _status_change(contact, message_id, status, int(due), callback, fault.fail)
            body = msgspec.json.encode(notification(phone_number_id, change))
            for _ in range(1 + fault.duplicate):
                state = "dropped" if fault.drop else "pending"
                enqueue(world.database, "messaging", f"status.{status}", message_id, body, due, state)


def _status_change(
    contact: dict[str, str], message_id: str, status: str, at: int, callback: Any, reason: str | None = None
) -> dict[str, Any]:
    """Return the change of one status. A failed one has errors and no contact; the others have both ids of the user."""
    number = contact.get("wa_id")
    user_id = contact.get("user_id") or user_id_of(str(number))
    reported: dict[str, Any] = {"id": message_id, "status": status, "timestamp": str(at)}
    if number is not None:
        reported["recipient_id"] = number
    if status != "failed" or number is None:
        reported["recipient_user_id"] = user_id
    if callback is not None:
        reported["biz_opaque_callback_data"] = callback
    if status == "failed":
        return {"statuses": [{**reported, "errors": [reported_error(reason or "131026")]}]}
    pricing = {"billable": True, "pricing_model": "PMP", "type": "regular", "category": "utility"}
    known = {"user_id": user_id} if number is None else {"wa_id": number, "user_id": user_id}
    return {"contacts": [{"profile": {"name": ""}, **known}], "statuses": [{**reported, "pricing": pricing}]}


def user_id_of(number: str) -> str:
    """Return the platform's id of the user with that number, the same for every message."""
    return f"NG.{int.from_bytes(hashlib.sha256(number.encode()).digest()[:8], 'big')}"


def notification(phone_number_id: str, change: dict[str, Any]) -> dict[str, Any]:
    """Return the frame of every webhook of the platform (specification, Messaging-app inbound message body)."""
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
    """Write as a customer: `from` or `user_id`, optionally `name` and `username`, and `text` or `message`; the same
    `id` is the same message again.

    `message` is anything but a text in the platform's own words: `{"type": "image", "image": {"caption": "broken"}}`.
    Without `from` the user hides the number, and the platform names its own id of the user alone.
    """
    world = world_of(request)
    body = await read_json(request)
    sender, name = body.get("from"), body.get("name", "")
    number = re.sub(r"[^0-9]", "", sender) if isinstance(sender, str) else ""
    user_id = body.get("user_id") or (user_id_of(number) if number else "")
    content = _content(body)
    if not user_id or not isinstance(user_id, str) or not isinstance(name, str) or content is None:
        raise RefusedError(400, "from or user_id, and text or message, are required")
    message_id = str(body.get("id") or "wamid." + new_code(length=32))
    username = {"username": str(body["username"])} if body.get("username") else {}
    wa_id, by_number = ({"wa_id": number}, {"from": number}) if number else ({}, {})
    at = str(int(time.time()))
    change = {
        "contacts": [{"profile": {"name": name, **username}, **wa_id, "user_id": user_id}],
        "messages": [{**by_number, "from_user_id": user_id, "id": message_id, "timestamp": at, **content}],
    }
    return _report(world, "messages", message_id, notification(PHONE_NUMBER_ID, change))


def _content(body: dict[str, Any]) -> dict[str, Any] | None:
    text, message = body.get("text"), body.get("message")
    if isinstance(text, str) and text:
        return {"type": "text", "text": {"body": text}}
    return message if isinstance(message, dict) else None


async def report_status(request: Request) -> Response:
    """Report the status of an accepted message: `sent`, `delivered`, `read`, or `failed` with a `reason`."""
    world = world_of(request)
    body = await read_json(request)
    message_id, status = body.get("id"), body.get("status")
    if status not in (*STATUSES, "failed"):
        raise RefusedError(400, "status must be sent, delivered, read or failed")
    row = world.database.one("SELECT * FROM messages WHERE channel = 'messaging' AND provider_id = ?", str(message_id))
    if row is None:
        raise RefusedError(404, "No such message")
    sent = msgspec.json.decode(row["payload"])
    contact = _recipient(sent)
    if contact is None:
        raise RefusedError(404, "No such message")
    callback, reason = sent.get("biz_opaque_callback_data"), body.get("reason")
    change = _status_change(contact, str(message_id), str(status), int(time.time()), callback, reason)
    report = notification(row["sender"] or PHONE_NUMBER_ID, change)
    return _report(world, f"status.{status}", str(message_id), report)


def _report(world: World, event: str, message_id: str, body: dict[str, Any]) -> Response:
    webhook_id = enqueue(world.database, "messaging", event, message_id, msgspec.json.encode(body), time.time())
    world.webhook_sender.wake()
    return JsonResponse({"id": message_id, "webhook_id": webhook_id}, 202)
