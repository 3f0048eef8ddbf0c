"""Public events of the broker as typed objects."""

import json
from pathlib import Path
from uuid import UUID

import pytest
from pydantic import ValidationError

from campus_client.public_events import TYPES, PublicEvent, parse_event

DOCUMENT = json.loads(
    (Path(__file__).parents[3] / "services/api-gateway/src/api_gateway/pages/asyncapi.json").read_text()
)
EXAMPLES = {
    message["name"]: message["examples"][0]["payload"] for message in DOCUMENT["components"]["messages"].values()
}


@pytest.mark.parametrize("event_type", EXAMPLES)
def test_an_event_has_the_class_of_its_type(event_type: str) -> None:
    example = EXAMPLES[event_type]
    event = parse_event(json.dumps(example))
    assert isinstance(event.data, TYPES[event_type])
    assert event.sequence == example["sequence"]
    assert event.id == UUID(example["id"])
    assert event.data.model_dump(mode="json", by_alias=True, exclude_unset=True) == example["data"]


def test_every_documented_type_has_a_class() -> None:
    assert TYPES.keys() == EXAMPLES.keys()


def test_an_unknown_type_is_kept_as_it_came() -> None:
    example = {**next(iter(EXAMPLES.values())), "type": "orders.order_renamed.v1", "data": {"new": 1}}
    assert parse_event(json.dumps(example)).data == {"new": 1}


def test_a_field_of_a_later_release_is_ignored() -> None:
    example = EXAMPLES["orders.order_placed.v1"]
    more = {**example, "data": {**example["data"], "later": True}}
    assert parse_event(json.dumps(more)) == parse_event(json.dumps(example))


@pytest.mark.parametrize("body", ["", "{}", "[]", "no JSON"])
def test_what_is_no_event_is_an_error(body: str) -> None:
    with pytest.raises(ValidationError):
        parse_event(body)


def test_data_of_another_form_is_an_error() -> None:
    example = {**EXAMPLES["orders.order_placed.v1"], "data": {"orderId": "no id"}}
    with pytest.raises(ValidationError):
        parse_event(json.dumps(example))


def test_an_event_cannot_be_changed() -> None:
    event = parse_event(json.dumps(EXAMPLES["orders.order_placed.v1"]))
    assert isinstance(event, PublicEvent)
    with pytest.raises(ValidationError):
        event.sequence = 7  # type: ignore[misc]
