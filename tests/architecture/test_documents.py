"""The documents for integrators are up to date and well formed."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from campus_tools.documents.__main__ import stale_documents
from campus_tools.documents.files import PAGES, ROOT, clients
from contracts.topology import PUBLIC

READ_FROM = "urn:document"


@cache
def read(name):
    return json.loads((ROOT / PAGES / name).read_text())


def test_the_served_documents_are_up_to_date() -> None:
    assert stale_documents() == [], "run `make documents`"


def test_generation_is_deterministic() -> None:
    """Another generation of this process gives the committed documents too."""
    assert stale_documents() == []
    assert clients() == clients()


def test_generated_clients_are_not_committed() -> None:
    ignored = subprocess.run(
        ["git", "check-ignore", *map(str, clients())], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert ignored.stdout.split() == [str(path) for path in clients()]


def test_the_reference_is_valid_openapi() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(read("openapi.json")).iter_errors()] == []


def test_names_of_operations_are_unique() -> None:
    names = [operation["operationId"] for _, operation in operations_of(read("openapi.json"))]
    assert len(names) == len(set(names))


def test_the_journey_is_valid_arazzo() -> None:
    schema = yaml.safe_load((Path(__file__).parent / "schemas/arazzo-1.0.yaml").read_text())
    assert [error.message for error in Draft202012Validator(schema).iter_errors(read("arazzo.json"))] == []


def test_the_journey_uses_what_operations_accept_and_earlier_steps_return() -> None:
    document, reference = read("arazzo.json"), read("openapi.json")
    [workflow] = document["workflows"]
    operations = {operation["operationId"]: operation for _, operation in operations_of(reference)}
    known = {f"$inputs.{name}" for name in workflow["inputs"]["properties"]}
    for step in workflow["steps"]:
        operation = operations[step["operationId"]]
        accepted = {(each["in"], each["name"]) for each in operation.get("parameters", ())}
        accepted |= {("header", "Authorization")} if {"bearer": []} in operation["security"] else set()
        required = {(each["in"], each["name"]) for each in operation.get("parameters", ()) if each.get("required")}
        given = {(each["in"], each["name"]) for each in step.get("parameters", ())}
        assert required <= given <= accepted, step["stepId"]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        payload = step.get("requestBody", {}).get("payload", {})
        if body is not None:
            fields = reference["components"]["schemas"][body["$ref"].rpartition("/")[2]]
            assert set(fields.get("required", ())) <= set(payload) <= set(fields["properties"]), step["stepId"]
        used = re.findall(r"\$(?:inputs|steps)[\w.-]+", json.dumps({**step, "outputs": None}))
        assert set(used) <= known, step["stepId"]
        assert re.match(r"\$statusCode == (\d+)", step["successCriteria"][0]["condition"])[1] in operation["responses"]
        known |= {f"$steps.{step['stepId']}.outputs.{name}" for name in step.get("outputs", ())}
    assert set(workflow["outputs"].values()) <= known


@pytest.mark.parametrize("name", ["openapi.json", "asyncapi.json"])
def test_every_reference_resolves(name: str) -> None:
    document = read(name)
    for reference in references_of(document):
        found = document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]


def test_every_operation_has_valid_examples() -> None:
    document = read("openapi.json")
    for where, operation in operations_of(document):
        for parameter in operation.get("parameters", []):
            if parameter["name"] != "cursor":
                must_admit(document, parameter["schema"], parameter["example"], where)
        for media, shown in contents_of(operation):
            if not media.startswith(("image/", "application/pdf", "text/event-stream")):
                must_admit(document, shown["schema"], shown["example"], where)


def test_every_error_response_has_valid_examples() -> None:
    document = read("openapi.json")
    for name, response in document["components"]["responses"].items():
        assert_problem_examples(document, name, name.removeprefix("Error")[:3], response)
    for where, operation in operations_of(document):
        for status, response in operation["responses"].items():
            if status.startswith(("4", "5")) and "$ref" not in response:
                assert_problem_examples(document, where, status, response)


def assert_problem_examples(document, where, status, response):
    if shown := response["content"].get("application/problem+json"):
        assert shown["examples"], where
        for example in shown["examples"].values():
            must_admit(document, shown["schema"], example["value"], where)
            assert str(example["value"]["status"]) == status, where


def test_every_operation_documents_its_guard_and_the_errors_of_the_edge() -> None:
    for where, operation in operations_of(read("openapi.json")):
        assert "security" in operation, where
        assert operation["tags"], where
        if where.startswith(("get /health", "get /.well-known")):
            continue
        assert {"429", "500", "503", "default"} <= set(operation["responses"]), where
        if {"bearer": []} in operation["security"] and {} not in operation["security"]:
            assert {"401", "403"} <= set(operation["responses"]), where


def test_every_public_event_has_a_valid_example() -> None:
    document = read("asyncapi.json")
    assert {channel["address"] for channel in document["channels"].values()} == {event.TYPE for event in PUBLIC}
    for name, message in document["components"]["messages"].items():
        for example in message["examples"]:
            must_admit(document, message["payload"], example["payload"], name)
            assert example["payload"]["subject"] == next(iter(example["payload"]["data"].values()))


def test_the_description_of_an_event_uses_its_wire_names() -> None:
    document = read("asyncapi.json")
    for message in document["components"]["messages"].values():
        schema = message["payload"]["properties"]["data"]["$ref"].removeprefix("#/components/schemas/")
        fields = document["components"]["schemas"][schema]["properties"]
        named = set(re.findall(r"`(\w*[A-Z_]\w*)`", message["summary"]))
        assert named <= set(fields), f"{message['name']} speaks of {named - set(fields)}, which it does not carry"


def test_the_page_of_events_shows_every_public_type() -> None:
    page = (ROOT / PAGES / "events.html").read_text()
    for event in PUBLIC:
        assert f'id="{event.TYPE}"' in page


def operations_of(document):
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"{method} {path}", operation


def contents_of(operation):
    """Each body of a request and of a success."""
    yield from operation.get("requestBody", {}).get("content", {}).items()
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield from response.get("content", {}).items()


def references_of(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references_of(inner)


def must_admit(document, schema, example, where):
    registry = known(document["info"]["title"])
    validator = Draft202012Validator(absolute(schema), registry=registry, format_checker=FormatChecker())
    faults = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(example)]
    assert not faults, where


@cache
def known(title):
    document = read("asyncapi.json" if "events" in title else "openapi.json")
    return Registry().with_resource(READ_FROM, Resource(absolute(document), DRAFT202012))


def absolute(value):
    """Return the same with references relative to the document's root."""
    if isinstance(value, dict):
        return {
            name: READ_FROM + inner if name == "$ref" and isinstance(inner, str) else absolute(inner)
            for name, inner in value.items()
        }
    return [absolute(inner) for inner in value] if isinstance(value, list) else value
