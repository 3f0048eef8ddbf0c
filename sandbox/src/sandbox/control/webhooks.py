"""Lists webhooks, sends them again, and sends arbitrary ones."""

import time
from sqlite3 import Row
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import DUPLICATES_MAX
from sandbox.gateway.fields import read_moment, read_number, row_id
from sandbox.outbox import enqueue
from sandbox.web import JsonResponse, RefusedError, read_body
from sandbox.world import world_of

LISTED_DEFAULT = 100
LISTED_MAX = 1000


async def list_webhooks(request: Request) -> Response:
    """Newest first, each with all its attempts; `reference`, `event`, `status` and `limit` narrow the list."""
    given = request.query_params
    database = world_of(request).database
    limit = read_number(request, "limit", LISTED_DEFAULT, LISTED_MAX)
    named = [name for name in ("reference", "event", "status", "target") if name in given]
    where = " AND ".join(f"{name} = ?" for name in named) or "1"
    rows = database.all(
        f"SELECT * FROM webhooks WHERE {where} ORDER BY id DESC LIMIT ?",
        *(given[name] for name in named),
        limit,
    )
    attempts: dict[int, list[Row]] = {}
    if rows:
        for attempt in database.all(
            "SELECT * FROM webhook_attempts WHERE webhook_id BETWEEN ? AND ? ORDER BY id", rows[-1]["id"], rows[0]["id"]
        ):
            attempts.setdefault(attempt["webhook_id"], []).append(attempt)
    return JsonResponse([_view(row, attempts.get(row["id"], [])) for row in rows])


def _view(row: Row, attempts: list[Row]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "target": row["target"],
        "event": row["event"],
        "reference": row["reference"],
        "status": row["status"],
        "created_at": row["created_at"],
        "body": row["body"].decode(errors="replace"),
        "attempts": [
            {name: attempt[name] for name in ("attempted_at", "status_code", "failure", "duration_milliseconds")}
            for attempt in attempts
        ],
    }


async def send_webhook(request: Request) -> Response:
    """
    Sign and send the body of this request, byte for byte, `?copies=` times (1). `?target=messaging` sends it to the
    messaging webhook instead. The event and reference are read from the body for the list only, when it is JSON.
    """
    world = world_of(request)
    body = await read_body(request)
    copies = read_number(request, "copies", 1, DUPLICATES_MAX)
    target = request.query_params.get("target", "gateway")
    if target not in ("gateway", "messaging"):
        raise RefusedError(400, "target must be gateway or messaging")
    event, reference = _describe(body)
    with world.database.transaction():
        identifiers = [enqueue(world.database, target, event, reference, body, time.time()) for _ in range(copies)]
    world.webhook_sender.wake()
    return JsonResponse({"ids": identifiers}, 202)


def _describe(body: bytes) -> tuple[str, str]:
    try:
        parsed = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "unreadable", ""
    if not isinstance(parsed, dict):
        return "unreadable", ""
    details = parsed.get("data")
    reference = details.get("reference", "") if isinstance(details, dict) else ""
    return str(parsed.get("event", "")), str(reference)


async def resend_webhook(request: Request) -> Response:
    """Send one webhook again with all its attempts, whatever its state."""
    world = world_of(request)
    webhook_id = row_id(request.path_params["id"])
    changed = world.database.connection.execute(
        "UPDATE webhooks SET status = 'pending', attempts = 0, next_attempt_at = ? WHERE id = ?",
        (time.time(), webhook_id),
    )
    if changed.rowcount == 0:
        raise RefusedError(404, "No such webhook")
    world.webhook_sender.wake()
    return JsonResponse({"id": webhook_id}, 202)


async def resend_webhooks(request: Request) -> Response:
    """Send everything of the payment gateway again that was ever sent since `?since=` (ISO 8601), oldest first, as its
    support does after an outage at the merchant's. What a fault dropped stays dropped.
    """
    world = world_of(request)
    since = read_moment(request.query_params.get("since"))
    if since is None:
        raise RefusedError(400, "since is missing")
    changed = world.database.connection.execute(
        "UPDATE webhooks SET status = 'pending', attempts = 0, next_attempt_at = ?"
        " WHERE target = 'gateway' AND status <> 'dropped' AND created_at >= ?",
        (time.time(), since),
    )
    world.webhook_sender.wake()
    return JsonResponse({"count": changed.rowcount}, 202)
