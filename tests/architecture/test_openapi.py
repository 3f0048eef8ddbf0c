"""The OpenAPI document as a product: stable names, described parts, formats and enums (decision 57)."""

import importlib
import json
import re
from functools import cache
from typing import get_args

import pytest

from campus_tools.documents.files import PAGES
from campus_tools.documents.schemas_shown import undescribed
from campus_tools.documents.texts import FIELDS, PARAMETERS
from contracts.work import OwnActionSubject
from tests.architecture.sources import ROOT

BANNED_NAMES = re.compile(
    r"Shape|Answer|_|^(Identity|Orders|Payments|Payouts|Notifications|Envelope|Page)[A-Z]|Told|News|Doors?$"
)
# Words that another company, an operator or a later version may add to.
OPEN_WORDS = {"Charge.channel", "Payment.channel", "Problem.type"}


@cache
def document():
    return json.loads((ROOT / PAGES / "openapi.json").read_text())


def operations():
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def schemas():
    return document()["components"]["schemas"]


def parts_of(value):
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from parts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts_of(inner)


def test_components_have_plain_names_and_no_titles() -> None:
    assert [name for name in schemas() if BANNED_NAMES.search(name)] == []
    titled = [
        name
        for name, schema in schemas().items()
        for part in parts_of(schema)
        if isinstance(part.get("title"), str) and ("type" in part or "$ref" in part or "anyOf" in part)
    ]
    assert titled == []


def test_every_part_is_described() -> None:
    assert list(undescribed(schemas())) == []
    assert [name for name, schema in schemas().items() if not schema.get("description")] == []
    for name, operation in operations():
        description = operation["description"].partition("Needs ")[0]
        assert description.strip(), name
        assert [each["name"] for each in operation.get("parameters", ()) if not each.get("description")] == [], name


def test_every_shared_description_is_used() -> None:
    fields = {name for schema in schemas().values() for name in schema.get("properties", {})}
    own = {f"{name}.{field}" for name, schema in schemas().items() for field in schema.get("properties", {})}
    parameters = {each["name"] for _, operation in operations() for each in operation.get("parameters", ())}
    assert set(FIELDS) - fields - own == set()
    assert set(PARAMETERS) - parameters == set()


def test_every_success_is_the_one_envelope() -> None:
    for name, operation in operations():
        for status, response in operation["responses"].items():
            content = response.get("content", {}).get("application/json")
            if not status.startswith("2") or content is None or ".well-known" in name or "/mcp" in name:
                continue
            envelope = schemas()[content["schema"]["$ref"].rpartition("/")[2]]
            assert list(envelope["properties"]) == ["success", "data", "meta"], name
            assert envelope["properties"]["success"]["const"] is True, name
    metas = {name for name in schemas() if name.endswith("Meta")}
    assert metas == {"Meta", "CursorMeta", "DeadLetterWebhookMeta", "OffsetMeta", "ReviewMeta", "WorkMeta"}


def test_amounts_are_64_bit_and_times_have_a_format() -> None:
    for name, schema in schemas().items():
        for field, inner in schema.get("properties", {}).items():
            kinds = [part for part in [inner, *inner.get("anyOf", [])] if part.get("type") in ("integer", "string")]
            if field.endswith(("Minor", "_minor")):
                assert [part["format"] for part in kinds] == ["int64"], f"{name}.{field}"
            if field.endswith("At"):
                assert [part["format"] for part in kinds] == ["date-time"], f"{name}.{field}"


def test_integers_of_requests_are_bounded_by_their_format() -> None:
    """An unbounded integer is published as 32 bit and validated as any: the document forbids what the API accepts."""
    largest = {"int32": 2**31 - 1, "int64": 2**63 - 1}
    inputs = [part["schema"] for _, operation in operations() for part in operation.get("parameters", ())]
    inputs += [schema for schema in schemas().values() if schema.get("additionalProperties") is False]
    unbounded = [
        part
        for schema in inputs
        for part in parts_of(schema)
        if part.get("type") == "integer"
        and not ("minimum" in part and part.get("maximum", 2**64) <= largest[part["format"]])
    ]
    assert unbounded == []


def test_words_of_a_fixed_list_are_enums() -> None:
    listed = (
        "status",
        "kind",
        "subjectKind",
        "type",
        "sort",
        "template",
        "severity",
        "cause",
        "verdict",
        "channel",
        "role",
        "outcome",
    )
    loose = [
        f"{name}.{field}"
        for name, schema in schemas().items()
        for field, inner in schema.get("properties", {}).items()
        if field in listed and any(part.get("type") == "string" and not is_enum(part) for part in parts_of(inner))
    ]
    assert set(loose) == OPEN_WORDS


def is_enum(part) -> bool:
    return "enum" in part or "const" in part


def test_no_field_of_a_request_has_a_default() -> None:
    with_default = [
        f"{name}.{field}"
        for name, schema in schemas().items()
        if schema.get("additionalProperties") is False
        for field, inner in schema.get("properties", {}).items()
        if "default" in inner
    ]
    assert with_default == []


def test_files_are_binary_and_streams_have_schemas() -> None:
    for name, operation in operations():
        for status, response in operation["responses"].items():
            for media, content in response.get("content", {}).items() if status.startswith("2") else ():
                assert content["schema"], name
                if media.startswith("image/") or media == "application/pdf":
                    assert content["schema"]["format"] == "binary", name
                if media == "text/event-stream":
                    event = content["schema"]["$ref"].rpartition("/")[2]
                    assert event.endswith("StreamEvent"), name
                    schema = schemas()[event]
                    assert all(choice["$ref"] for choice in schema.get("anyOf", [schema])), name
        form = operation.get("requestBody", {}).get("content", {}).get("multipart/form-data")
        if form is not None:
            assert form["schema"]["properties"]["file"]["format"] == "binary", name
            assert form["schema"]["properties"]["file"]["description"], name


def test_every_operation_documents_an_error_of_the_client() -> None:
    assert [name for name, one in operations() if not any(status.startswith("4") for status in one["responses"])] == []


@pytest.mark.parametrize("service", ["identity", "notifications", "orders", "payments", "payouts"])
def test_the_subjects_of_own_actions_are_listed(service) -> None:
    statement = importlib.import_module(f"{service}.app").SERVICE.own_actions
    listed = get_args(OwnActionSubject)
    subjects = [re.split(r",(?![^()]*\))", part)[1] for part in statement.split("UNION ALL")]
    assert [word for text in subjects for word in re.findall(r"'(\w+)'", text) if word not in listed] == []


@pytest.mark.parametrize("service", ["payments", "payouts"])
def test_the_types_of_transactions_are_listed(service) -> None:
    """One function of a service makes postings, and its parameter is the list of types."""
    sources = (ROOT / "services" / service / "src").rglob("*.py")
    makers = [path.name for path in sources if re.search(r"\b(balanced|Posting)\(", path.read_text())]
    assert makers == ["transaction_types.py" if service == "payments" else "accounts.py"]
