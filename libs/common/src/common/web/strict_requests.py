"""What a door does not know and so refuses, though it declares neither an order nor a body (contract sections 1 and 1.5)."""

import json
from collections.abc import Set
from typing import Any, Final

import msgspec
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel
from starlette.requests import Request

from common.primitives.problems import INVALID_PARAMS_MAX, InvalidParam, ValidationFailed, shortened

# What every list may be sorted by (contract section 1.5).
THE_ONE_ORDER: Final = "created_at"


# As the document of a list shows it that declares no sort.
ONE_ORDER_SHOWN: Final[dict[str, Any]] = {
    "name": "sort",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "enum": [THE_ONE_ORDER], "default": THE_ONE_ORDER},
}


def names_in_query(dependant: Dependant) -> set[str]:
    """The query parameters of an endpoint and of all that it depends on."""
    names: set[str] = set()
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            # One model of several parameters.
            names |= {inner.alias or name for name, inner in model.model_fields.items()}
        else:
            names.add(field.alias)
    return names.union(*(names_in_query(inner) for inner in dependant.dependencies))


def refuse_unknown_parameters(request: Request, known: Set[str]) -> None:
    """Parameters that the operation does not take, each named: a mistyped filter must not look like one that found everything.

    Raises ValidationFailed (422).
    """
    unknown = [name for name in request.query_params if name not in known]
    if not unknown:
        return
    params = [
        InvalidParam(shortened(name), "is not a parameter of this operation") for name in unknown[:INVALID_PARAMS_MAX]
    ]
    accepts = f"takes {', '.join(sorted(known))}" if known else "takes no parameters"
    raise ValidationFailed(f"Not valid: {params[0].name}. This operation {accepts}.", invalid_params=params)


def refuse_other_orders(request: Request) -> None:
    """The order of a list that has one. Raises ValidationFailed (422)."""
    if any(sort != THE_ONE_ORDER for sort in request.query_params.getlist("sort")):
        raise ValidationFailed.of("sort", f"must be {THE_ONE_ORDER}")


def refuse_other_encodings(body: bytes) -> None:
    """JSON that is exchanged is UTF-8 without a mark in front (RFC 8259, 8.1). The framework guesses others, which nobody before
    us reads: the edge would not know the account that it counts. Raises ValidationFailed (422)."""
    if json.detect_encoding(body) != "utf-8":
        raise ValidationFailed.of("body", "must be JSON in UTF-8")


def refuse_fields(body: bytes) -> None:
    """An operation without a body takes none, or an empty object: a field that it does not know is refused like any other."""
    if not body:
        return
    try:
        named = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValidationFailed.of("body", "is not a JSON document") from None
    if not isinstance(named, dict):
        raise ValidationFailed.of("body", "must be an object")
    if named:
        raise ValidationFailed.of(next(iter(named)), "is not known here")
