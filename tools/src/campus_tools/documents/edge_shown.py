"""The gateway's own operations, and the shared schemas: problems, envelopes, health."""

from collections.abc import Mapping
from typing import Any, Final, get_args

from pydantic import TypeAdapter

from api_gateway.readiness import ServiceStatus
from api_gateway.services import UPSTREAMS
from campus_tools.documents.error_responses import (
    EVERYWHERE,
    INVALID_PARAM_SCHEMA,
    PROBLEM_SCHEMA,
    SHARED,
    headers_shown,
    shared_error,
)
from campus_tools.documents.samples import Samples
from common.primitives.problems import Code
from common.web.endpoints import AUDIENCE
from common.web.responses import CursorMeta, Meta, OffsetMeta


def shared_schemas() -> dict[str, Any]:
    """Return the schemas that no service owns."""
    return {
        "Problem": dict(PROBLEM_SCHEMA),
        "ProblemCode": {"type": "string", "description": "The error codes.", "enum": list(get_args(Code))},
        "InvalidParam": dict(INVALID_PARAM_SCHEMA),
        "Liveness": dict(_ALIVE),
        "Readiness": dict(_READY),
        "ServiceReadiness": dict(_SERVICE_HEALTH),
        **{model.__name__: TypeAdapter(model).json_schema() for model in (Meta, OffsetMeta, CursorMeta)},
    }


def envelope_of(payload: Any, meta: str, description: str) -> dict[str, Any]:
    """Return the success envelope around a payload; `meta` names one of the shared schemas."""
    return {
        "description": description,
        "type": "object",
        "required": ["success", "data", "meta"],
        "properties": {
            "success": {"type": "boolean", "const": True},
            "data": payload,
            "meta": {"$ref": f"#/components/schemas/{meta}"},
        },
    }


def health_operations(components: dict[str, Any]) -> dict[str, Any]:
    """Return the two health pages."""
    return {
        "/health/liveness": {
            "get": _health("health.liveness", "Liveness", "Whether the gateway process runs", components)
        },
        "/health/readiness": {
            "get": _health("health.readiness", "Readiness", "Whether the gateway can serve requests", components)
        },
    }


_ALIVE: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "The gateway process runs.",
    "required": ["status"],
    "properties": {"status": {"type": "string", "const": "alive", "description": "Always `alive`."}},
}
_SERVICE_HEALTH: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "The health of one service.",
    "required": ["status", "essential"],
    "properties": {
        "status": {
            "type": "string",
            "enum": list(get_args(ServiceStatus)),
            "description": "The state of the service.",
        },
        "essential": {
            "type": "boolean",
            "description": (
                "The gateway is ready while one essential service is; a missing one takes its own routes away only."
            ),
        },
    },
}
_READY: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "The gateway serves requests.",
    "required": ["status", "services"],
    "properties": {
        "status": {
            "type": "string",
            "enum": ["ready", "degraded"],
            "description": "`degraded`: a service is not ready.",
        },
        "services": {
            "type": "object",
            "description": "Each service by its name.",
            "required": list(UPSTREAMS),
            "properties": {name: {"$ref": "#/components/schemas/ServiceReadiness"} for name in UPSTREAMS},
        },
    },
}


def health_envelopes() -> dict[str, Any]:
    """Return the responses of the health pages."""
    return {
        f"{name}Response": envelope_of({"$ref": f"#/components/schemas/{name}"}, "Meta", "The health of the gateway.")
        for name in ("Liveness", "Readiness")
    }


def _health(operation_id: str, payload: str, summary: str, components: dict[str, Any]) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{payload}Response"}
    samples = Samples({**shared_schemas(), **health_envelopes()})
    responses: dict[str, Any] = {
        "200": {
            "description": "Yes.",
            "headers": headers_shown(*EVERYWHERE),
            "content": {"application/json": {"schema": schema, "example": samples.of(schema)}},
        },
        **{str(status): shared_error(status, SHARED[status], components) for status in (414, 431)},
    }
    if payload == "Readiness":
        responses["503"] = shared_error(503, SHARED[503], components)
    return {
        "operationId": operation_id,
        "tags": ["health"],
        "summary": summary,
        "description": f"{summary}. It is not counted against any quota.",
        "responses": responses,
        "security": [],
        AUDIENCE: "protocol",
    }
