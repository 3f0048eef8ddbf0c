"""The gateway's own operations, and the shared schemas: problems, envelopes, health."""

from collections.abc import Mapping
from typing import Any, Final, get_args

from api_gateway.readiness import ServiceStatus
from api_gateway.routes import UPSTREAMS
from campus_tools.documents.error_responses import EVERYWHERE, INVALID_PARAM_SCHEMA, PROBLEM_SCHEMA, headers_shown
from campus_tools.documents.samples import Samples
from common.primitives.problems import Code


def shared_schemas() -> dict[str, Any]:
    """The schemas that no service owns."""
    stamps = {
        "timestamp": {"type": "string", "format": "date-time"},
        "version": {"type": "string", "const": "v1"},
        "requestId": {"type": "string"},
    }
    offset = {name: {"type": "integer"} for name in ("page", "limit", "total", "total_pages")}
    cursor = {
        "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "has_more": {"type": "boolean"},
        "limit": {"type": "integer"},
    }
    return {
        "Problem": dict(PROBLEM_SCHEMA),
        "ProblemCode": {"type": "string", "enum": list(get_args(Code))},
        "InvalidParam": dict(INVALID_PARAM_SCHEMA),
        "Meta": {"type": "object", "required": list(stamps), "properties": stamps},
        "OffsetMeta": {"type": "object", "required": [*stamps, *offset], "properties": {**stamps, **offset}},
        "CursorMeta": {"type": "object", "required": [*stamps, *cursor], "properties": {**stamps, **cursor}},
    }


def envelope_of(payload: Any, meta: str) -> dict[str, Any]:
    """The success envelope around a payload; `meta` names one of the shared schemas."""
    return {
        "type": "object",
        "required": ["success", "data", "meta"],
        "properties": {
            "success": {"type": "boolean", "const": True},
            "data": payload,
            "meta": {"$ref": f"#/components/schemas/{meta}"},
        },
    }


def health_operations() -> dict[str, Any]:
    """The two health pages."""
    return {
        "/health/liveness": {"get": _health("get_health_liveness", _ALIVE, "Whether the gateway runs")},
        "/health/readiness": {"get": _health("get_health_readiness", _READY, "Whether the gateway can serve")},
    }


_ALIVE: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"type": "string", "const": "alive"}},
}
_SERVICE_HEALTH: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["status", "essential"],
    "properties": {
        "status": {"type": "string", "enum": list(get_args(ServiceStatus))},
        "essential": {
            "type": "boolean",
            "description": "The gateway is ready while one essential service is; a missing one takes its own routes away only.",
        },
    },
}
_READY: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["status", "services"],
    "properties": {
        "status": {
            "type": "string",
            "enum": ["ready", "degraded"],
            "description": "`degraded`: a service is not ready.",
        },
        "services": {
            "type": "object",
            "required": list(UPSTREAMS),
            "properties": dict.fromkeys(UPSTREAMS, _SERVICE_HEALTH),
        },
    },
}


def _health(operation_id: str, payload: Mapping[str, Any], summary: str) -> dict[str, Any]:
    schema = envelope_of(payload, "Meta")
    responses: dict[str, Any] = {
        "200": {
            "description": "Yes.",
            "headers": headers_shown(*EVERYWHERE),
            "content": {"application/json": {"schema": schema, "example": Samples(shared_schemas()).of(schema)}},
        }
    }
    if payload is _READY:
        responses["503"] = {"$ref": "#/components/responses/Refused503"}
    return {
        "operationId": operation_id,
        "tags": ["health"],
        "summary": summary,
        "responses": responses,
        "security": [],
    }
