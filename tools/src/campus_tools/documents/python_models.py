"""Schemas of the OpenAPI document as pydantic models of the Python client."""

import keyword
import re
from typing import Any, Final

from pydantic.alias_generators import to_camel

_FORMATS: Final = {"uuid": "UUID", "date-time": "datetime", "date": "date", "time": "time"}
_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_REFERENCE: Final = r"'#/components/schemas/([^']+)'"
_LINE_MAX: Final = 100


class NotUnderstood(Exception):
    """The document has a form of schema that the client's generator does not support."""


def model_name(name: str) -> str:
    """Return a valid Python name."""
    return re.sub(r"\W", "_", name)


def fields_of(name: str) -> str:
    """Return the Python name of a field or parameter: `priceMinor` → `price_minor`, `from` → `from_`."""
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def type_of(schema: dict[str, Any], models: str = "", *, is_received: bool = False) -> str:
    """Return the annotation of a schema; `models` is the prefix of a model's name.

    A received enum is open: a later server may add a value, and an order with a new status can still be read.

    Raises:
        NotUnderstood: an unsupported form of schema.
    """
    if "$ref" in schema:
        return models + model_name(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(one, models, is_received=is_received) for one in schema["anyOf"]))
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        literal = f"Literal[{', '.join(map(repr, values))}]"
        return f"{literal} | str" if is_received and schema.get("type") == "string" else literal
    match schema.get("type"):
        case None:
            return "Any"
        case "array":
            return f"list[{type_of(schema.get('items', {}), models, is_received=is_received)}]"
        case "object":
            return _mapping(schema, models)
        case "string":
            return _FORMATS.get(schema.get("format", ""), "str")
        case kind if kind in _PLAIN:
            return _PLAIN[kind]
    raise NotUnderstood(schema)


def _mapping(schema: dict[str, Any], models: str) -> str:
    if schema.get("properties"):
        raise NotUnderstood(schema)
    inner = schema.get("additionalProperties", True)
    return f"dict[str, {type_of(inner, models) if isinstance(inner, dict) else 'Any'}]"


def model_source(name: str, schema: dict[str, Any]) -> str:
    """Return a class for an object; a name for anything else. A request has no further properties."""
    docstring = _docstring(schema)
    if schema.get("type") != "object" or "properties" not in schema:
        return f"{model_name(name)} = {type_of(schema)}\n"
    parent = "RequestModel" if schema.get("additionalProperties") is False else "ResponseModel"
    required = set(schema.get("required", []))
    lines = (
        [f"class {model_name(name)}({parent}):", f'    """{docstring}"""\n']
        if docstring
        else [f"class {model_name(name)}({parent}):"]
    )
    fields = sorted(schema["properties"].items(), key=lambda field: field[0] not in required)
    is_received = parent == "ResponseModel"
    lines += [_field(field, inner, field in required, is_received=is_received) for field, inner in fields]
    return "\n".join(lines if docstring or fields else [*lines, "    pass"]) + "\n"


def _field(name: str, schema: dict[str, Any], required: bool, *, is_received: bool) -> str:
    python, kind = fields_of(name), type_of(schema, is_received=is_received)
    options = [] if to_camel(python) == name else [f'validation_alias="{name}"', f'serialization_alias="{name}"']
    if not required:
        # Unset fields are not sent (`exclude_unset`), so that the server's default applies.
        kind = kind if kind == "Any" or kind.endswith("None") else f"{kind} | None"
        options.insert(0, "default=None")
    if options == ["default=None"]:
        return f"    {python}: {kind} = None"
    return f"    {python}: {kind} = Field({', '.join(options)})" if options else f"    {python}: {kind}"


def _docstring(schema: dict[str, Any]) -> str:
    """Return the start of the schema's description."""
    text = " ".join(schema.get("description", "").split()).replace("\\", "").replace('"', "'")
    return text if len(text) <= _LINE_MAX else text[:_LINE_MAX].rpartition(" ")[0] + " ..."


def in_order(schemas: dict[str, Any]) -> list[str]:
    """Return the names of the schemas, each after those that it references.

    Raises:
        NotUnderstood: schemas that reference each other.
    """
    ordered: dict[str, None] = {}
    open_: list[str] = []

    def visit(name: str) -> None:
        if name in open_:
            raise NotUnderstood(" -> ".join([*open_, name]))
        if name not in ordered:
            open_.append(name)
            for reference in re.findall(_REFERENCE, repr(schemas[name])):
                visit(reference)
            ordered[open_.pop()] = None

    for name in sorted(schemas):
        visit(name)
    return list(ordered)


def reach(schemas: dict[str, Any], named: set[str]) -> set[str]:
    """Return these models and all that they reference, by Python names."""
    by_name = {model_name(name): schema for name, schema in schemas.items()}
    found: set[str] = set()
    left = list(named)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [model_name(ref) for ref in re.findall(_REFERENCE, repr(by_name[name]))]
    return found
