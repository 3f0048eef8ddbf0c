"""The pages and lists for developers: received messages, and the traces of requests."""

import asyncio
import time
from datetime import UTC, datetime
from sqlite3 import Row
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import AMOUNT_MINOR_MAX as SQLITE_INTEGER_MAX
from sandbox.gateway.fields import read_number
from sandbox.pages import render
from sandbox.sinks.inbox import delete_messages, list_messages
from sandbox.sinks.traces import find_spans, list_traces, span_tree
from sandbox.web import JsonResponse, RefusedError
from sandbox.world import world_of

MESSAGES_DEFAULT = 200
MESSAGES_MAX = 1000
# A client asks again after a minute; a proxy in between may cut longer requests.
MESSAGE_WAIT_SECONDS_MAX = 60
# A message is seen within this time, and a wait costs ten short reads a second.
POLL_SECONDS = 0.1


async def show_inbox(request: Request) -> Response:
    """The messages of each recipient: groups in the order of their newest message."""
    database = world_of(request).database
    words = request.query_params.get("q", "")
    groups: dict[str, list[Row]] = {}
    for message in list_messages(database, words=words):
        groups.setdefault(message["recipient"], []).append(message)
    return render("inbox.html", groups=groups, words=words, balance_minor=database.balance_minor("NGN"))


async def show_messages(request: Request) -> Response:
    """`GET /control/messages?to=&channel=&q=&after=&limit=&wait=`: newest first.

    With `wait` the response is sent when a message matches, or after so many seconds.
    """
    given, database = request.query_params, world_of(request).database
    limit = read_number(request, "limit", MESSAGES_DEFAULT, MESSAGES_MAX)
    after = read_number(request, "after", 0, SQLITE_INTEGER_MAX)
    deadline = time.monotonic() + read_number(request, "wait", 0, MESSAGE_WAIT_SECONDS_MAX)
    while True:
        rows = list_messages(database, given.get("to"), given.get("channel"), given.get("q"), limit, after)
        if rows or time.monotonic() >= deadline:
            return JsonResponse([_message_view(row) for row in rows])
        await asyncio.sleep(POLL_SECONDS)


def _message_view(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "channel": row["channel"],
        "to": row["recipient"],
        "from": row["sender"],
        "subject": row["subject"],
        "text": row["text"],
        "html": row["html"],
        "provider_id": row["provider_id"],
        "payload": msgspec.json.decode(row["payload"]),
        "created_at": row["created_at"],
    }


async def clear_messages(request: Request) -> Response:
    delete_messages(world_of(request).database)
    return Response(status_code=204)


async def show_trace(request: Request) -> Response:
    """`GET /control/traces/{trace_id}`: the spans as trees; 404 when none of them has arrived."""
    rows = find_spans(world_of(request).database, request.path_params["trace_id"])
    if not rows:
        raise RefusedError(404, "No span of this trace has arrived")
    services = sorted({row["service"] for row in rows})
    return JsonResponse(
        {"trace_id": rows[0]["trace_id"], "span_count": len(rows), "services": services, "spans": span_tree(rows)}
    )


async def show_trace_list(request: Request) -> Response:
    """`GET /control/traces`: the newest traces with their first span, duration and number of spans."""
    return JsonResponse({"traces": [dict(row) for row in list_traces(world_of(request).database)]})


async def show_trace_list_page(request: Request) -> Response:
    traces = [
        {**dict(row), "started": _clock_time(row["started_nanoseconds"])}
        for row in list_traces(world_of(request).database)
    ]
    return render("traces.html", traces=traces)


async def show_trace_page(request: Request) -> Response:
    trace_id = request.path_params["trace_id"]
    rows = find_spans(world_of(request).database, trace_id)
    return render("trace.html", 200 if rows else 404, trace_id=trace_id, bars=waterfall(rows))


def waterfall(rows: list[Row]) -> list[dict[str, Any]]:
    """The spans in the order of their tree, each with its depth and its place on the line of time in percent."""
    if not rows:
        return []
    start = min(row["started_nanoseconds"] for row in rows)
    length = max(1, max(row["ended_nanoseconds"] for row in rows) - start)
    bars = []
    waiting = [(0, node) for node in reversed(span_tree(rows))]
    while waiting:
        depth, node = waiting.pop()
        left = 100 * (node["started_nanoseconds"] - start) / length
        width = 100 * node["duration_milliseconds"] * 1e6 / length
        bars.append({**node, "depth": depth, "left": round(left, 3), "width": round(max(width, 0.2), 3)})
        waiting += [(depth + 1, child) for child in reversed(node["children"])]
    return bars


def _clock_time(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%H:%M:%S.%f")[:-3]
