"""Traces over OTLP/HTTP: storing spans, and putting them together as a tree."""

import zlib
from collections.abc import Iterable
from sqlite3 import Row
from typing import Any

import msgspec
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.web import BODY_BYTES_MAX, read_body
from sandbox.world import world_of

# About an hour of a busy development machine; older spans make room.
SPANS_KEPT = 200_000
TRACES_LISTED = 50
# The number of newest spans that are searched for traces.
SPANS_LOOKED_AT = 5_000

STATUS_NAMES = {0: "unset", 1: "ok", 2: "error"}


async def receive_spans(request: Request) -> Response:
    """POST /otlp/v1/traces with a protobuf body, plain or gzip."""
    body = await read_body(request)
    try:
        if request.headers.get("content-encoding") == "gzip":
            body = _unzip(body)
        export = ExportTraceServiceRequest.FromString(body)
    except (DecodeError, zlib.error, ValueError):
        return Response("The body is no ExportTraceServiceRequest", 400)
    save_spans(world_of(request).database, export)
    return Response(ExportTraceServiceResponse().SerializeToString(), media_type="application/x-protobuf")


def _unzip(body: bytes) -> bytes:
    unzip = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    content = unzip.decompress(body, BODY_BYTES_MAX)
    if not unzip.eof:
        raise ValueError("cut off, or too large when unzipped")
    return content


def save_spans(database: Database, export: ExportTraceServiceRequest) -> None:
    rows = [
        _row(service, span)
        for resource_spans in export.resource_spans
        for service in [_attributes(resource_spans.resource.attributes).get("service.name", "unknown")]
        for scope_spans in resource_spans.scope_spans
        for span in scope_spans.spans
    ]
    with database.transaction():
        database.connection.executemany("INSERT OR REPLACE INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        database.run("DELETE FROM spans WHERE rowid <= (SELECT max(rowid) FROM spans) - ?", SPANS_KEPT)


def _row(service: Any, span: Span) -> tuple[Any, ...]:
    return (
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        str(service),
        span.name,
        Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        # Times beyond SQLite's integers, from a broken clock, are stored as its largest.
        min(span.start_time_unix_nano, 2**63 - 1),
        min(span.end_time_unix_nano, 2**63 - 1),
        STATUS_NAMES.get(span.status.code, "unset"),
        msgspec.json.encode(_attributes(span.attributes)).decode(),
    )


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    which = value.WhichOneof("value")
    if which is None:
        return None
    if which == "array_value":
        return [_value(element) for element in value.array_value.values]
    if which == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    if which == "bytes_value":
        return value.bytes_value.hex()
    return getattr(value, which)


def find_spans(database: Database, trace_id: str) -> list[Row]:
    return database.all(
        "SELECT * FROM spans WHERE trace_id = ? ORDER BY started_nanoseconds, span_id", trace_id.lower()
    )


def span_tree(rows: list[Row]) -> list[dict[str, Any]]:
    """Return the spans as trees: a span without a stored parent is a root."""
    nodes = {row["span_id"]: _node(row) for row in rows}
    roots = []
    for node in nodes.values():
        parent = nodes.get(node["parent_span_id"])
        # A span that names itself as its parent would hang below nothing and vanish.
        if parent is None or parent is node:
            roots.append(node)
        else:
            parent["children"].append(node)
    return roots


def _node(row: Row) -> dict[str, Any]:
    return {
        "span_id": row["span_id"],
        "parent_span_id": row["parent_span_id"],
        "service": row["service"],
        "name": row["name"],
        "kind": row["kind"],
        "status": row["status"],
        "started_nanoseconds": row["started_nanoseconds"],
        "duration_milliseconds": max(0, row["ended_nanoseconds"] - row["started_nanoseconds"]) / 1e6,
        "attributes": msgspec.json.decode(row["attributes"]),
        "children": [],
    }


def list_traces(database: Database) -> list[Row]:
    """Return the newest traces with their first span, duration, services and number of spans."""
    return database.all(
        "SELECT trace_id, min(started_nanoseconds) AS started_nanoseconds, count(*) AS spans,"
        " (max(ended_nanoseconds) - min(started_nanoseconds)) / 1e6 AS duration_milliseconds,"
        " count(DISTINCT service) AS services, max(status = 'error') AS failed,"
        " (SELECT service || ' ' || name FROM spans AS first WHERE first.trace_id = spans.trace_id"
        "   ORDER BY started_nanoseconds LIMIT 1) AS title"
        " FROM spans WHERE trace_id IN (SELECT trace_id FROM spans ORDER BY started_nanoseconds DESC LIMIT ?)"
        " GROUP BY trace_id ORDER BY started_nanoseconds DESC LIMIT ?",
        SPANS_LOOKED_AT,
        TRACES_LISTED,
    )
