"""The base of response models (contract section 1): built from a row, encoded as they are, and shown in OpenAPI.

FastAPI sees a pydantic model of the same fields, so that the schemas of requests and responses come from one generator
(decision 105).
"""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from operator import itemgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Protocol,
    Self,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta
from pydantic import BaseModel, Field, GetCoreSchemaHandler, create_model

from common.primitives.clock import iso

# An instant in the text form of the contract (section 1): ISO 8601 UTC with milliseconds and `Z`, from `iso`.
# The pattern holds where a test reads a response again.
Timestamp = Annotated[
    str,
    Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"),
    Field(json_schema_extra={"format": "date-time"}),
]
_SHOWN: Final = ("description", "examples", "ge", "le")


class Row(Protocol):
    """A row of a query, or a mapping in its place."""

    def __getitem__(self, column: str, /) -> Any: ...


@dataclass_transform(field_specifiers=(msgspec.field,), kw_only_default=True, frozen_default=True)
class _ModelMeta(msgspec.StructMeta):
    """Make every field of every model keyword-only: msgspec does not inherit the option."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], *, omit_defaults: bool = False
    ) -> "_ModelMeta":
        return super().__new__(
            cls, name, bases, namespace, kw_only=True, frozen=True, rename="camel", omit_defaults=omit_defaults
        )


class ResponseModel(msgspec.Struct, metaclass=_ModelMeta):
    """A response, or a part of one: one field for each member, in the order of its JSON."""

    @classmethod
    def from_row(cls, row: Row, prefix: str = "", /, **others: object) -> Self:
        """Return the model of a row; `others` are fields that no column gives.

        A column has the name of its field, after the prefix. A field that is a model takes the columns `<field>__<column>`,
        and is None where the first of them is null. Instants become text. A list of models comes from a JSON column with
        public names. Columns without a field are ignored; a field without a column raises KeyError.
        """
        values = others
        for name, value_of in _columns_of(cls, prefix):
            if name not in values:
                values[name] = value_of(row)
        return cls(**values)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> object:
        return handler.generate_schema(_published(cls))


@cache
def _published(model: type[ResponseModel]) -> type[BaseModel]:
    """Return the pydantic model of the same name, fields and descriptions, for OpenAPI alone."""
    hints = get_type_hints(model, include_extras=True)
    fields: dict[str, Any] = {
        field.name: (_shown(hints[field.name]), Field(alias=field.encode_name))
        for field in msgspec.structs.fields(model)
    }
    return create_model(model.__name__, __module__=model.__module__, __doc__=model.__doc__, **fields)


def _shown(hint: Any) -> Any:
    """Return the type of a field for pydantic, with the metadata of msgspec as that of pydantic."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *metadata = get_args(hint)
    for place, each in enumerate(metadata):
        if isinstance(each, Meta):
            given = {name: value for name in _SHOWN if (value := getattr(each, name)) is not None}
            metadata[place] = Field(**given)
    return Annotated[(kind, *metadata)]


@cache
def _columns_of(model: type[ResponseModel], prefix: str) -> tuple[tuple[str, Callable[[Row], object]], ...]:
    """Return each field with the function that reads its value from a row."""
    hints = get_type_hints(model)
    return tuple((field, _reader(f"{prefix}{field}", hints[field])) for field in hints)


def _reader(column: str, hint: Any) -> Callable[[Row], object]:
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kind = next(choice for choice in choices if choice is not NoneType)
    if isinstance(kind, type) and issubclass(kind, ResponseModel):
        return _nested_reader(column, kind, optional=NoneType in choices)
    if get_origin(kind) is list and isinstance(get_args(kind)[0], _ModelMeta):
        return lambda row: msgspec.convert(row[column], hint)
    if str not in choices:
        return itemgetter(column)

    def text(row: Row) -> object:
        value = row[column]
        return iso(value) if isinstance(value, datetime) else value

    return text


def _nested_reader(column: str, model: type[ResponseModel], *, optional: bool) -> Callable[[Row], object]:
    members = _columns_of(model, f"{column}__")
    first = f"{column}__{members[0][0]}"

    def nested(row: Row) -> object:
        if optional and row[first] is None:
            return None
        return model(**{name: value_of(row) for name, value_of in members})

    return nested
