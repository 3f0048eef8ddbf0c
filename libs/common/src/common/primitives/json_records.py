"""Read JSON of another program into typed records. Odd values raise nothing.

A record is a frozen `msgspec.Struct` whose members all have a default. A member that is absent, or of another type than
declared, has its default; a list keeps the items of its type; a boolean is no number. Names are those of the JSON, or
`rename` of the Struct.
"""

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
JsonObject: TypeAlias = dict[str, Json]
Record = TypeVar("Record", bound=msgspec.Struct)

# Returns the values of one declared type: none, or the one that was read.
_Reader = Callable[[object], "tuple[object, ...]"]


def decode_record(content: bytes, kind: type[Record]) -> Record:
    """Return the JSON object of a body; the record of defaults for anything else."""
    return read_record(decode_json(content), kind)


def decode_json(content: bytes) -> Json:
    """Return the JSON value of a body; None when it is invalid."""
    try:
        value: Json = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value


def read_record(value: object, kind: type[Record]) -> Record:
    """Return the object as a record; the record of defaults for any other value."""
    given = value if isinstance(value, dict) else {}
    found = {name: read for name, member, reader in _members(kind) for read in reader(given.get(member))}
    return kind(**found)


def read_records(value: object, kind: type[Record]) -> list[Record]:
    """Return the objects of a list as records; none for any other value."""
    return [read_record(item, kind) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


@cache
def _members(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, _Reader], ...]:
    hints = get_type_hints(kind)
    return tuple((one.name, one.encode_name, _reader_of(hints[one.name])) for one in msgspec.structs.fields(kind))


def _reader_of(declared: type) -> _Reader:
    if get_origin(declared) in (Union, UnionType):
        readers = [_reader_of(one) for one in get_args(declared)]
        return lambda value: next(filter(None, (reader(value) for reader in readers)), ())
    if get_origin(declared) is list:
        [item] = get_args(declared)
        reader = _reader_of(item)
        return lambda value: ([read for one in value for read in reader(one)],) if isinstance(value, list) else ()
    if issubclass(declared, msgspec.Struct):
        return lambda value: (read_record(value, declared),) if isinstance(value, dict) else ()
    return lambda value: (value,) if type(value) is declared else ()
