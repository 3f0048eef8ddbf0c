"""The responses of an operation in OpenAPI: its success, and each error as a problem document.

The merged document puts a model, or a list of models, into the envelope.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from common.primitives.problems import EXTENSIONS
from common.web.schemas import ResponseShape


class Meta(ResponseShape):
    """The context of a response."""

    timestamp: datetime
    version: Literal["v1"]
    request_id: str


class CursorMeta(Meta):
    next_cursor: Annotated[str | None, Field(alias="next_cursor")]
    has_more: Annotated[bool, Field(alias="has_more")]
    limit: int


class OffsetMeta(Meta):
    page: int
    limit: int
    total: int
    total_pages: Annotated[int, Field(alias="total_pages")]


PROBLEM_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "title": "Problem",
    "description": "Problem details (RFC 7807).",
    "required": ["type", "title", "status", "detail", "instance", "code", "invalid_params", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string"},
        "invalid_params": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "reason"],
                "properties": {"name": {"type": "string"}, "reason": {"type": "string"}},
            },
        },
        **EXTENSIONS,
    },
}
_ERROR_DESCRIPTIONS: Final[Mapping[int, str]] = {
    400: "Wrong delivery PIN; `attemptsRemaining` is the number of tries that are left.",
    401: "No valid token; a token that is sent must be valid even where none is required.",
    403: "The caller's role or part in the order does not permit this.",
    404: "There is no such resource, or the caller may not see it.",
    409: "The present state does not allow this.",
    413: "The body is larger than this operation accepts.",
    415: "This operation does not accept the media type of the body.",
    422: "The request is not valid; `invalid_params` names the invalid parameters.",
    429: "Too many wrong tries: the delivery PIN is locked.",
}


NOT_MODIFIED: Final[dict[int | str, dict[str, Any]]] = {
    304: {"description": "The content of this ETag (`If-None-Match`) is still current; there is no body."}
}


def responses_for(model: Any, *errors: int, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """Return the responses of an operation: success, its own errors, 401, and a failure of the service as `default`."""
    shown: dict[int | str, dict[str, Any]] = {status: {"model": model}}
    shown |= {number: _problem(_ERROR_DESCRIPTIONS[number]) for number in sorted({401, *errors})}
    shown["default"] = _problem("The service failed, or is temporarily unavailable.")
    return shown


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/problem+json": {"schema": PROBLEM_SCHEMA}}}
