"""The receivers of alerts: Alertmanager, PagerDuty Events v2, or a plain webhook."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.gateway.codes import new_code
from sandbox.sinks.inbox import Message, record_message
from sandbox.web import JsonResponse, RefusedError, read_body, read_json
from sandbox.world import world_of

RECIPIENT = "on-call"
PAGERDUTY_SEVERITIES = ("critical", "error", "warning", "info")


def _refuse(status: int, message: str) -> Response:
    return JsonResponse({"status": "invalid event" if status < 500 else "error", "message": message}, status)


def _refuse_alertmanager(status: int, message: str) -> Response:
    """Its errors are JSON texts."""
    return JsonResponse(message, status)


async def post_alertmanager(request: Request) -> Response:
    """POST /on-call/api/v2/alerts: a list of alerts, each with labels."""
    world = world_of(request)
    try:
        alerts = msgspec.json.decode(await read_body(request), type=list[dict[str, Any]])
    except msgspec.DecodeError:
        return _refuse_alertmanager(400, "The body must be a JSON array of alerts")
    if not all(isinstance(alert.get("labels"), dict) and alert["labels"].get("alertname") for alert in alerts):
        return _refuse_alertmanager(400, "Every alert needs the label alertname")

    def work(_fault: object) -> Response:
        for alert in alerts:
            annotations = alert.get("annotations") or {}
            labels = alert["labels"]
            text = str(annotations.get("summary") or annotations.get("description") or labels["alertname"])
            subject = f"{labels['alertname']} {labels.get('severity', '')}".strip()
            record_message(
                world.database,
                Message("on_call", RECIPIENT, new_code(), text, sender="alertmanager", subject=subject, payload=alert),
            )
        return Response(status_code=200)

    names = tuple(str(alert["labels"]["alertname"]) for alert in alerts)
    return await respond_with_faults(request, world.faults, "on_call", names, work, _refuse_alertmanager)


async def post_pagerduty(request: Request) -> Response:
    """POST /on-call/v2/enqueue: trigger, acknowledge or resolve one event."""
    world = world_of(request)
    try:
        body = await read_json(request)
    except RefusedError as refusal:
        return _refuse(400, refusal.message)
    details = body.get("payload")
    action = body.get("event_action")
    if not body.get("routing_key") or action not in ("trigger", "acknowledge", "resolve"):
        return _refuse(400, "routing_key and event_action are required")
    if action != "trigger" and not body.get("dedup_key"):
        return _refuse(400, "dedup_key is required for acknowledge and resolve")
    if action == "trigger" and not (
        isinstance(details, dict)
        and details.get("summary")
        and details.get("source")
        and details.get("severity") in PAGERDUTY_SEVERITIES
    ):
        return _refuse(400, "payload needs summary, source and severity")
    shown = details if isinstance(details, dict) else {}
    dedup_key = str(body.get("dedup_key") or new_code(length=32))

    def work(_fault: object) -> Response:
        kept = {name: value for name, value in body.items() if name != "routing_key"}
        subject = f"{action} {shown.get('severity', '')}".strip()
        text = str(shown.get("summary", dedup_key))
        record_message(
            world.database,
            Message("on_call", RECIPIENT, dedup_key, text, sender="pagerduty", subject=subject, payload=kept),
        )
        return JsonResponse({"status": "success", "message": "Event processed", "dedup_key": dedup_key}, 202)

    return await respond_with_faults(request, world.faults, "on_call", (dedup_key,), work, _refuse)


async def post_webhook(request: Request) -> Response:
    """POST /on-call/webhook: any JSON object; its summary, message or text is what the engineer reads."""
    world = world_of(request)
    body = await read_json(request)
    text = next((str(body[name]) for name in ("summary", "message", "text", "title") if body.get(name)), "")

    def work(_fault: object) -> Response:
        record_message(
            world.database,
            Message(
                "on_call", RECIPIENT, new_code(), text, "webhook", subject=str(body.get("severity", "")), payload=body
            ),
        )
        return JsonResponse({"status": "ok"})

    return await respond_with_faults(request, world.faults, "on_call", (), work, _refuse)
