"""The traces of requests: as JSON, and as pages."""

from datetime import UTC, datetime
from sqlite3 import Row
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sandbox.pages import render
from sandbox.sinks.traces import find_spans, list_traces, span_tree
from sandbox.web import JsonResponse, RefusedError
from sandbox.world import world_of


async def show_trace(request: Request) -> Response:
    """Return the spans as trees; 404 when none of them has arrived."""
    rows = find_spans(world_of(request).database, request.path_params["trace_id"])
    if not rows:
        raise RefusedError(404, "No span of this trace has arrived")
    services = sorted({row["service"] for row in rows})
    return JsonResponse(
        {"trace_id": rows[0]["trace_id"], "span_count": len(rows), "services": services, "spans": span_tree(rows)}
    )


async def show_trace_list(request: Request) -> Response:
    """Return the newest traces with their first span, duration and number of spans."""
    return JsonResponse({"traces": [dict(row) for row in list_traces(world_of(request).database)]})


async def show_trace_list_page(request: Request) -> Response:
    traces = [
        {**dict(row), "started": _clock_time(row["started_nanoseconds"])}
        for row in list_traces(world_of(request).database)
    ]
    return render("traces.html", current="/traces", traces=traces)


async def show_trace_page(request: Request) -> Response:
    trace_id = request.path_params["trace_id"]
    rows = find_spans(world_of(request).database, trace_id)
    return render("trace.html", 200 if rows else 404, current="/traces", trace_id=trace_id, bars=waterfall(rows))


def waterfall(rows: list[Row]) -> list[dict[str, Any]]:
    """Return the spans in the order of their tree, each with its depth and its place on the line of time in percent."""
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
