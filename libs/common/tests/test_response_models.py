"""Response models: from a row to the bytes of the response, and to OpenAPI."""

from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Annotated, Literal
from uuid import UUID

import msgspec
import pytest
from fastapi import FastAPI
from msgspec import UNSET, Meta, UnsetType, field

from common.web.response_models import ResponseModel, Timestamp

ID = UUID("018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47")
INSTANT = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


class Part(ResponseModel):
    """A part."""

    id: UUID
    seen_at: Timestamp | None


class Whole(ResponseModel):
    id: UUID
    amount_minor: Annotated[int, Meta(description="In kobo.", ge=0)]
    status: Literal["open", "closed"]
    begin: Annotated[Timestamp, Meta(description="Inclusive.")] = field(name="from")
    part: Annotated[Part | None, Meta(description="The part; null without one.")]


class Detail(Whole):
    parts: list[Part]


ROW = {
    "id": ID,
    "amount_minor": 5,
    "status": "open",
    "begin": INSTANT,
    "part__id": ID,
    "part__seen_at": None,
    "position": 7,
}


def test_a_row_becomes_json_in_the_order_of_the_fields() -> None:
    assert msgspec.json.encode(Whole.from_row(ROW)).decode() == (
        f'{{"id":"{ID}","amountMinor":5,"status":"open","from":"2026-01-31T12:00:00.000Z",'
        f'"part":{{"id":"{ID}","seenAt":null}}}}'
    )


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (INSTANT, "2026-01-31T12:00:00.000Z"),
        (INSTANT + timedelta(milliseconds=7), "2026-01-31T12:00:00.007Z"),
        (INSTANT + timedelta(microseconds=1_999), "2026-01-31T12:00:00.001Z"),
        (INSTANT.astimezone(timezone(timedelta(hours=1))), "2026-01-31T12:00:00.000Z"),
    ],
)
def test_an_instant_has_milliseconds_in_utc(instant: datetime, text: str) -> None:
    assert Whole.from_row({**ROW, "begin": instant, "part__seen_at": instant}) == Whole.from_row(
        {**ROW, "begin": text, "part__seen_at": text}
    )
    assert Whole.from_row({**ROW, "begin": instant}).begin == text


def test_a_nested_model_is_none_where_its_first_column_is_null() -> None:
    assert Whole.from_row({**ROW, "part__id": None}).part is None


def test_a_prefix_names_the_columns_of_a_part() -> None:
    assert Part.from_row(ROW, "part__", seen_at="later") == Part(id=ID, seen_at="later")


def test_a_record_of_the_domain_becomes_a_model() -> None:
    record = SimpleNamespace(id=ID, seen_at=INSTANT)
    assert Part.from_record(record) == Part(id=ID, seen_at="2026-01-31T12:00:00.000Z")
    assert Part.from_record(record, seen_at=None) == Part(id=ID, seen_at=None)
    with pytest.raises(KeyError, match="seen_at"):
        Part.from_record(SimpleNamespace(id=ID))


def test_fields_that_no_column_gives_are_passed() -> None:
    part = Part(id=ID, seen_at=None)
    assert Detail.from_row(ROW, amount_minor=6, parts=[part]) == Detail(
        id=ID, amount_minor=6, status="open", begin="2026-01-31T12:00:00.000Z", part=part, parts=[part]
    )


def test_a_list_of_models_comes_from_a_json_column() -> None:
    detail = Detail.from_row({**ROW, "parts": [{"id": str(ID), "seenAt": "2026-01-31T12:00:00.000Z"}]})
    assert detail.parts == [Part(id=ID, seen_at="2026-01-31T12:00:00.000Z")]


class Guarded(ResponseModel):
    id: UUID
    owner: Annotated[str | UnsetType | None, Meta(description="For staff only.")] = UNSET


def test_an_unset_field_is_absent_and_a_null_one_is_not() -> None:
    assert msgspec.json.encode(Guarded.from_row({"id": ID})).decode() == f'{{"id":"{ID}"}}'
    assert msgspec.json.encode(Guarded.from_row({"id": ID, "owner": None})).decode() == f'{{"id":"{ID}","owner":null}}'
    app = FastAPI()
    app.add_api_route("/guarded", lambda: None, responses={200: {"model": Guarded}})
    shown = app.openapi()["components"]["schemas"]["Guarded"]
    assert shown["required"] == ["id"]
    assert shown["properties"]["owner"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert shown["properties"]["owner"]["description"] == "For staff only."


def test_a_field_without_a_column_is_an_error() -> None:
    with pytest.raises(KeyError, match="parts"):
        Detail.from_row(ROW)


def test_fields_are_named_and_never_changed() -> None:
    with pytest.raises(TypeError):
        Part(ID, None)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Part(id=ID, seen_at=None).seen_at = "later"


def test_openapi_shows_the_model_itself() -> None:
    app = FastAPI()
    app.add_api_route("/details", lambda: None, responses={200: {"model": list[Detail]}})
    document = app.openapi()
    [schema] = [
        response["content"]["application/json"]["schema"]
        for status, response in document["paths"]["/details"]["get"]["responses"].items()
        if status == "200"
    ]
    assert schema["items"] == {"$ref": "#/components/schemas/Detail"}
    shown = document["components"]["schemas"]
    assert set(shown) == {"Detail", "Part"}
    assert shown["Part"]["description"] == "A part."
    assert list(shown["Detail"]["properties"]) == ["id", "amountMinor", "status", "from", "part", "parts"]
    assert shown["Detail"]["required"] == list(shown["Detail"]["properties"])
    without_titles = {
        name: {word: value for word, value in inner.items() if word != "title"}
        for name, inner in shown["Detail"]["properties"].items()
    }
    assert without_titles == {
        "id": {"type": "string", "format": "uuid"},
        "amountMinor": {"type": "integer", "minimum": 0, "description": "In kobo."},
        "status": {"type": "string", "enum": ["open", "closed"]},
        "from": {"type": "string", "format": "date-time", "description": "Inclusive."},
        "part": {
            "anyOf": [{"$ref": "#/components/schemas/Part"}, {"type": "null"}],
            "description": "The part; null without one.",
        },
        "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
    }
