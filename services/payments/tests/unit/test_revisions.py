"""Other content under a recorded key: the time of the query to the gateway, its response's key, and the differing
fields.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from payments.domain.revisions import (
    QueriedEvent,
    changed_fields,
    is_gateway_response,
    next_query_at,
    query_again_at,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _at(seconds: int | None) -> datetime | None:
    return None if seconds is None else NOW + timedelta(seconds=seconds)


def _key(raw: bytes) -> str:
    return QueriedEvent("charge.success", "7", raw, moved_money=True).arrival.id


def test_a_response_has_a_key_for_each_content_and_none_of_a_webhook() -> None:
    arrival = QueriedEvent("charge.success", "7", b'{"a":1,"b":2}', moved_money=True).arrival
    # The SHA-256 of {"a":1,"b":2}.
    digest = "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"
    assert (arrival.id, arrival.event_type) == (f"answer:charge.success:7:{digest}", "charge.success")
    assert _key(b'{ "b": 2, "a": 1 }') == arrival.id
    assert _key(b'{"a":1,"b":3}') != arrival.id
    assert is_gateway_response(arrival.id) is True
    assert is_gateway_response("charge.success:7") is False


@pytest.mark.parametrize(
    ("queried", "due", "expected"),
    [
        (None, None, 0),
        # Thirty seconds after the last query of the key.
        (-1, None, 29),
        (-29, None, 1),
        (-30, None, 0),
        (-31, None, 0),
        # The earlier of both.
        (None, -5, -5),
        (None, 5, 0),
        (-10, 5, 5),
        (-10, 60, 20),
    ],
)
def test_a_revised_key_is_queried_at_once_but_not_again_within_thirty_seconds(
    queried: int | None, due: int | None, expected: int
) -> None:
    assert next_query_at(NOW, _at(queried), _at(due)) == _at(expected)


@pytest.mark.parametrize(("queries", "minutes"), [(0, 1), (1, 2), (6, 60)])
def test_a_query_without_a_response_is_repeated_with_growing_delays(queries: int, minutes: int) -> None:
    assert query_again_at(NOW, queries) == NOW + timedelta(minutes=minutes)


BODY = {
    "event": "charge.success",
    "data": {"id": 7, "amount": 500, "customer": {"name": "A", "card": {"a": 1, "b": 2}}},
}


def _changed(**changes: Any) -> dict[str, Any]:
    return {**BODY, "data": {**BODY["data"], **changes}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("other", "paths"),
    [
        (BODY, []),
        (_changed(customer={"card": {"b": 2, "a": 1}, "name": "A"}), []),
        (_changed(amount=501), ["data.amount"]),
        (_changed(amount="500"), ["data.amount"]),
        (_changed(fees=1), ["data.fees"]),
        (_changed(id=8, amount=501), ["data.amount", "data.id"]),
        (_changed(customer={"name": "B", "card": {"a": 1, "b": 2}}), ["data.customer.name"]),
        # Deeper values are compared as a whole.
        (_changed(customer={"name": "A", "card": {"a": 1, "b": 3}}), ["data.customer.card"]),
        (_changed(customer=[]), ["data.customer"]),
        ({"event": "charge.success"}, ["data"]),
        ([BODY], ["the body"]),
        ("text", ["the body"]),
    ],
)
def test_the_paths_of_differing_fields_are_named(other: Any, paths: list[str]) -> None:
    assert changed_fields(json.dumps(BODY).encode(), json.dumps(other).encode()) == paths


@pytest.mark.parametrize(
    ("fields", "paths"), [("abcdefgh", [*"abcdefgh"]), ("abcdefghi", [*"abcdefgh", "..."]), ("", [])]
)
def test_at_most_eight_differing_fields_are_named(fields: str, paths: list[str]) -> None:
    assert changed_fields(b"{}", json.dumps(dict.fromkeys(fields, 1)).encode()) == paths


def test_a_path_is_cut_at_eighty_characters() -> None:
    assert changed_fields(b"{}", json.dumps({"x" * 100: 1}).encode()) == ["x" * 80]


def test_a_key_order_inside_of_a_list_is_no_difference() -> None:
    sorted_keys, other_order = b'{"rows":[{"a":1,"b":2}]}', b'{"rows":[{"b":2,"a":1}]}'
    assert changed_fields(sorted_keys, other_order) == []
    assert changed_fields(other_order, sorted_keys) == []
