"""What an operation may answer, as OpenAPI shows it: its success in the envelope, and each refusal as a problem document."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from common.primitives.problems import EXTENSIONS
from common.web.schemas import ResponseShape


class EnvelopeMeta(ResponseShape):
    timestamp: str
    version: str
    request_id: str


class PageMeta(EnvelopeMeta):
    next_cursor: Annotated[str | None, Field(alias="next_cursor")]
    has_more: Annotated[bool, Field(alias="has_more")]
    limit: int


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
    400: "Wrong delivery PIN; `attemptsRemaining` tells how many tries are left.",
    401: "No good token; a token that is sent must be good even where none is needed.",
    403: "The caller's role or part in the order does not permit this.",
    404: "There is no such resource, or the caller may not see it.",
    409: "The present state does not allow this.",
    413: "The body is larger than this door takes.",
    415: "The body is of a media type that this door does not read.",
    422: "The request is not valid; `invalid_params` names what is not.",
    429: "Too many wrong tries: the delivery PIN is locked.",
}


NOT_MODIFIED: Final[dict[int | str, dict[str, Any]]] = {
    304: {"description": "The content of this ETag (`If-None-Match`) is still current; there is no body."}
}


def responses_for(model: type[BaseModel], *errors: int, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """What an operation may answer: its success, the refusals of its own, 401 as everywhere, and what is nobody's fault."""
    shown: dict[int | str, dict[str, Any]] = {status: {"model": model}}
    shown |= {number: _problem(_ERROR_DESCRIPTIONS[number]) for number in sorted({401, *errors})}
    shown["default"] = _problem("The service failed, or is away for the moment.")
    return shown


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/problem+json": {"schema": PROBLEM_SCHEMA}}}
