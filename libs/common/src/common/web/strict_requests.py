"""Rejection of undeclared parameters, orders, encodings and bodies (contract sections 1 and 1.5)."""

import json
from collections.abc import Set
from typing import Final

import msgspec
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel
from starlette.requests import Request

from common.primitives.problems import INVALID_PARAMS_MAX, InvalidParam, ValidationFailed, shortened

# The sort of every list that declares none (contract section 1.5).
THE_ONE_ORDER: Final = "created_at"
THE_SORT: Final = "sort"
# Its parameter in OpenAPI.
ONE_ORDER_SHOWN: Final[dict[str, object]] = {
    "name": THE_SORT,
    "in": "query",
    "required": False,
    "schema": {"type": "string", "enum": [THE_ONE_ORDER], "default": THE_ONE_ORDER},
}


def names_in_query(dependant: Dependant) -> set[str]:
    """Return the query parameters of an endpoint and of its dependencies."""
    names: set[str] = set()
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            # One model declares several parameters.
            names |= {inner.alias or name for name, inner in model.model_fields.items()}
        else:
            names.add(field.alias)
    return names.union(*(names_in_query(inner) for inner in dependant.dependencies))


def refuse_unknown_parameters(request: Request, known: Set[str]) -> None:
    """Raise ValidationFailed (422) and names each unknown parameter: a mistyped filter must not match everything."""
    unknown = [name for name in request.query_params if name not in known]
    if not unknown:
        return
    params = [
        InvalidParam(shortened(name), "is not a parameter of this operation") for name in unknown[:INVALID_PARAMS_MAX]
    ]
    accepts = f"takes {', '.join(sorted(known))}" if known else "takes no parameters"
    raise ValidationFailed(f"Not valid: {params[0].name}. This operation {accepts}.", invalid_params=params)


def refuse_other_orders(request: Request) -> None:
    """Raise ValidationFailed (422) for another sort than the only one of a list."""
    if any(sort != THE_ONE_ORDER for sort in request.query_params.getlist("sort")):
        raise ValidationFailed.of("sort", f"must be {THE_ONE_ORDER}")


def refuse_other_encodings(body: bytes) -> None:
    """Raise ValidationFailed (422) unless the JSON is UTF-8 without a byte order mark (RFC 8259, 8.1).

    The framework would accept other encodings, which the edge cannot read to count attempts for an account.
    """
    if json.detect_encoding(body) != "utf-8":
        raise ValidationFailed.of("body", "must be JSON in UTF-8")


def refuse_null(body: bytes) -> None:
    """Raise ValidationFailed (422) for `null`, which the framework reads as an absent body."""
    if body.strip() == b"null":
        raise ValidationFailed.of("body", "must be an object")


def refuse_fields(body: bytes) -> None:
    """Raise ValidationFailed (422) for a body other than an empty object, where the operation declares no body."""
    if not body:
        return
    try:
        named = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValidationFailed.of("body", "is not a JSON document") from None
    if not isinstance(named, dict):
        raise ValidationFailed.of("body", "must be an object")
    if named:
        raise ValidationFailed.of(next(iter(named)), "is not a field of this operation")
