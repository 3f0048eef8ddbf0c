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
from msgspec import UNSET, Meta, UnsetType
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
        public names. Columns without a field are ignored. A field without a column has its default, or raises KeyError.
        """
        return cls(**_values_of(row, cls, prefix, others))

    @classmethod
    def from_record(cls, record: object, /, **others: object) -> Self:
        """Return the model of a record whose attributes are named as the fields; see `from_row`."""
        return cls.from_row(_Attributes(record), **others)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> object:
        return handler.generate_schema(_published(cls))


class _Attributes:
    """A record as a row."""

    __slots__ = ("_record",)

    def __init__(self, record: object) -> None:
        self._record = record

    def __getitem__(self, column: str, /) -> object:
        try:
            return getattr(self._record, column)
        except AttributeError:
            raise KeyError(column) from None


@cache
def _published(model: type[ResponseModel]) -> type[BaseModel]:
    """Return the pydantic model of the same name, fields and descriptions, for OpenAPI alone."""
    hints = get_type_hints(model, include_extras=True)
    fields: dict[str, Any] = {
        field.name: (_shown(hints[field.name]), Field(**_default_of(field), alias=field.encode_name))
        for field in msgspec.structs.fields(model)
    }
    return create_model(model.__name__, __module__=model.__module__, __doc__=model.__doc__, **fields)


def _default_of(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    if field.required:
        return {}
    return {"default": None if field.default is UNSET else field.default}


def _shown(hint: Any) -> Any:
    """Return the type of a field for pydantic, with the metadata of msgspec as that of pydantic."""
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(choice for choice in get_args(hint) if choice is not UnsetType)]  # noqa: UP007 - made from a tuple
    if get_origin(hint) is not Annotated:
        return hint
    kind, *metadata = get_args(hint)
    kind = _shown(kind)
    for place, each in enumerate(metadata):
        if isinstance(each, Meta):
            given = {name: value for name in _SHOWN if (value := getattr(each, name)) is not None}
            metadata[place] = Field(**given)
    return Annotated[(kind, *metadata)]


def _values_of(row: Row, model: type[ResponseModel], prefix: str, values: dict[str, object]) -> dict[str, object]:
    """Add the fields that have a column to the values that are given."""
    for name, value_of, is_required in _columns_of(model, prefix):
        if name not in values:
            try:
                values[name] = value_of(row)
            except KeyError:
                if is_required:
                    raise
    return values


@cache
def _columns_of(model: type[ResponseModel], prefix: str) -> tuple[tuple[str, Callable[[Row], object], bool], ...]:
    """Return each field with the function that reads its value from a row, and whether it must have a column."""
    hints = get_type_hints(model)
    return tuple(
        (field.name, _reader(f"{prefix}{field.name}", hints[field.name]), field.required)
        for field in msgspec.structs.fields(model)
    )


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
    prefix = f"{column}__"
    first = f"{prefix}{model.__struct_fields__[0]}"

    def nested(row: Row) -> object:
        if optional and row[first] is None:
            return None
        return model(**_values_of(row, model, prefix, {}))

    return nested
