"""The base of response models (contract section 1): built from a row, encoded as they are, and shown in OpenAPI.

FastAPI sees a pydantic model of the same fields, so that the schemas of requests and responses come from one generator
(decision 105).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Protocol,
    Self,
    TypeGuard,
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
# An object whose members no model names.
JsonObject = dict[str, Any]
_INSTANT: Final = get_args(Timestamp)[1:]
_SHOWN: Final = ("description", "examples", "ge", "le")


class Row(Protocol):
    """A row of a query, or a mapping in its place."""

    def __getitem__(self, column: str, /) -> Any: ...


class _ModelMeta(msgspec.StructMeta):
    """Make every field of every model keyword-only: msgspec does not inherit the option."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], *, omit_defaults: bool = False
    ) -> "_ModelMeta":
        return super().__new__(
            cls, name, bases, namespace, kw_only=True, frozen=True, rename="camel", omit_defaults=omit_defaults
        )


@dataclass_transform(field_specifiers=(msgspec.field,), kw_only_default=True)
class ResponseModel(msgspec.Struct, metaclass=_ModelMeta):
    """A response, or a part of one: one field for each member, in the order of its JSON."""

    @classmethod
    def from_row(cls, row: Row, prefix: str = "", /, **others: object) -> Self:
        """Return the model of a row; `others` are fields that no column gives.

        A column has the name of its field, after the prefix. A field that is a model takes the columns
        `<field>__<column>`, and is None where the first of them is null. Instants become text. A list of models comes
        from a JSON column with public names, of either type. Columns without a field are ignored. A field without a
        column has its default, or raises KeyError.
        """
        model: Self = _reader_of(cls, prefix, *others)(row, others)
        return model

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


def _shown(hint: object) -> object:
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


@cache
def _reader_of(model: "type[ResponseModel]", prefix: str, *given: str) -> Callable[[Row, Mapping[str, object]], Any]:
    """Return the function that builds the model of a row and of the given fields.

    It is compiled once, as dataclasses compile `__init__`: a loop over the fields costs twice as much for each row.
    """
    names: dict[str, object] = {"iso": iso, "datetime": datetime, "optional": _optional}
    source = f"lambda row, given: {_call(model, prefix, given, names)}"
    build: Callable[[Row, Mapping[str, object]], Any] = eval(source, names)  # noqa: S307 - made of names of fields
    return build


def _call(model: type[msgspec.Struct], prefix: str, given: Sequence[str], names: dict[str, object]) -> str:
    """Return the call of the model's constructor as source; `names` receives what it refers to."""
    hints = get_type_hints(model, include_extras=True)
    arguments = []
    for field in msgspec.structs.fields(model):
        if field.name in given:
            value = f"given[{field.name!r}]"
        else:
            value = _value(_choices_of(hints[field.name]), f"{prefix}{field.name}", names)
            if not field.required:
                value = f"optional(row, lambda row: {value}, {_bound(field.default, names)})"
        arguments.append(f"{field.name}={value}")
    return f"{_bound(model, names)}({', '.join(arguments)})"


def _value(choices: tuple[object, ...], column: str, names: dict[str, object]) -> str:
    """Return the value of a field as source."""
    if nested := next(filter(_is_model, choices), None):
        call = _call(nested, f"{column}__", (), names)
        first = f"{column}__{nested.__struct_fields__[0]}"
        return f"(None if row[{first!r}] is None else {call})" if NoneType in choices else call
    if Timestamp in choices:
        return f"(iso(value) if isinstance(value := row[{column!r}], datetime) else value)"
    listed = next((choice for choice in choices if get_origin(choice) is list), None)
    if listed is None or not _is_model(get_args(listed)[0]):
        return f"row[{column!r}]"
    return f"{_bound(_list_reader(listed), names)}(row[{column!r}])"


def _is_model(choice: object) -> TypeGuard[type[ResponseModel]]:
    return isinstance(choice, _ModelMeta)


def _bound(value: object, names: dict[str, object]) -> str:
    name = f"_{len(names)}"
    names[name] = value
    return name


def _optional(row: Row, value_of: Callable[[Row], object], default: object) -> object:
    try:
        return value_of(row)
    except KeyError:
        return default


def _list_reader(listed: Any) -> Callable[[object], object]:
    """Return the function for a list of models: a `json` column is text, a `jsonb` column is decoded already."""
    decode = msgspec.json.Decoder(listed).decode
    return lambda value: decode(value) if isinstance(value, msgspec.Raw) else msgspec.convert(value, listed | None)


def _choices_of(hint: object) -> tuple[object, ...]:
    """Return the members of a union, or the type itself, without the metadata of the field."""
    if get_origin(hint) is Annotated and hint is not Timestamp:
        # Further metadata of a Timestamp are in one tuple with its own.
        return (Timestamp,) if get_args(hint)[1 : len(_INSTANT) + 1] == _INSTANT else _choices_of(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return get_args(hint)
    return (hint,)
