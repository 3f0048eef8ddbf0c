"""Each declared command calls an operation of the OpenAPI document, with values and columns that it has."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from operations.campusctl.api_commands import Call
from operations.campusctl.commands import api_keys, dead_letters, payouts, refunds, staff
from testkit.cases import for_each

DOCUMENT = json.loads(
    (Path(__file__).parents[2] / "services/api-gateway/src/api_gateway/pages/openapi.json").read_text()
)
CALLS = [
    pytest.param(call, id=f"{call.operation} {choice}".strip())
    for module in (api_keys, dead_letters, payouts, refunds, staff)
    for table in vars(module).values()
    if isinstance(table, dict)
    for call in table.values()
    if isinstance(call, Call)
    for choice in (["orders", "payouts"] if "{service}" in call.path else [""])
]


def operation_of(call: Call) -> dict[str, Any]:
    method, path = call.operation.replace("{service}", "orders").split(" ")
    shape = [part if not part.startswith("{") else "{}" for part in path.split("/")]
    [found] = [
        methods[method.lower()]
        for known, methods in DOCUMENT["paths"].items()
        if [part if not part.startswith("{") else "{}" for part in known.split("/")] == shape
        and method.lower() in methods
    ]
    return found


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema behind references and optional forms."""
    while True:
        if "$ref" in schema:
            schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        elif options := [it for it in schema.get("anyOf", []) if it.get("type") != "null"]:
            schema = options[0]
        else:
            return schema


@for_each("call", CALLS)
def test_a_command_sends_values_that_its_operation_accepts(call: Call) -> None:
    operation = operation_of(call)
    if call.operation.startswith("GET"):
        known = {it["name"]: it["schema"] for it in operation.get("parameters", []) if it["in"] == "query"}
        required: set[str] = set()
    else:
        body = resolved(
            operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        )
        known, required = body.get("properties", {}), set(body.get("required", ()))
    assert {*call.sent, *call.fixed} <= set(known)
    sent = {name for name, value in call.sent.items() if value.required or value.is_argument}
    assert required <= sent | set(call.fixed) | ({"hash"} if call.question else set())
    for name, value in call.sent.items():
        if isinstance(value.kind, type) and issubclass(value.kind, StrEnum) and "enum" in resolved(known[name]):
            assert set(value.kind) <= set(resolved(known[name])["enum"]), name


@pytest.mark.parametrize("call", [it for it in CALLS if it.values[0].columns])
def test_the_columns_of_a_list_are_fields_of_its_rows(call: Call) -> None:
    envelope = resolved(operation_of(call)["responses"]["200"]["content"]["application/json"]["schema"])
    rows = resolved(envelope["properties"]["data"]["items"])
    assert set(call.columns) <= set(rows["properties"])
