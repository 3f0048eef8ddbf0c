import hashlib
import json
from typing import Any
from uuid import UUID

import pytest

from common.messaging.dead_letters import webhook_alert_key
from payments.clients.paystack_records import identify
from payments.domain.webhooks import content_hash_of, storable_text


def _filed(body: Any) -> tuple[str, str]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    arrival = identify(raw)
    return arrival.id, arrival.event_type


def test_the_key_is_the_event_and_its_id() -> None:
    assert _filed({"event": "charge.success", "data": {"id": 7, "reference": "r"}}) == (
        "charge.success:7",
        "charge.success",
    )


@pytest.mark.parametrize("missing", [{}, {"id": None}, {"id": ""}, {"id": []}, {"id": True}, {"id": 1.5}])
def test_without_an_id_the_reference_is_the_key(missing: dict[str, Any]) -> None:
    filed = _filed({"event": "charge.success", "data": {"reference": "ch-1", **missing}})
    assert filed == ("charge.success:ch-1", "charge.success")


@pytest.mark.parametrize(
    ("body", "event_type"),
    [
        ({"event": "charge.success", "data": {}}, "charge.success"),
        ({"event": "charge.success", "data": []}, "charge.success"),
        ({"event": "charge.success", "data": {"reference": "a\x00b"}}, "charge.success"),
        ({"event": "charge.success", "data": {"reference": "x" * 5_000}}, "charge.success"),
        ({"event": "charge.success", "data": {"reference": "\ud800"}}, "charge.success"),
        ({"event": 5, "data": {"id": 7}}, "unknown"),
        ({"event": "e" * 5_000, "data": {"id": 7}}, "unknown"),
        ({"data": {"id": 7}}, "unknown"),
        ([], "unknown"),
        (0, "unknown"),
        (b"", "unknown"),
        (b"not json", "unknown"),
        (b"\xff\xfe\x00", "unknown"),
        (b"[" * 100_000, "unknown"),
        (b'{"event":"charge.success","data":{"id":' + b"9" * 5_000 + b"}}", "unknown"),
    ],
)
def test_what_names_neither_is_filed_under_the_hash_of_its_bytes(body: Any, event_type: str) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    assert _filed(raw) == (hashlib.sha256(raw).hexdigest(), event_type)


@pytest.mark.parametrize(
    ("raw", "hashed"),
    [
        (b'{"a":1,"b":[{"c":2,"d":3}]}', b'{"a":1,"b":[{"c":2,"d":3}]}'),
        (b'{ "b": [ {"d": 3, "c": 2} ],\n "a": 1 }', b'{"a":1,"b":[{"c":2,"d":3}]}'),
        (b'{"a":1,"b":[{"c":2,"d":4}]}', b'{"a":1,"b":[{"c":2,"d":4}]}'),
        # The order of a list is content.
        (b"[2, 1]", b"[2,1]"),
        # Not JSON: the bytes.
        (b'{"a": 1', b'{"a": 1'),
        (b"", b""),
    ],
)
def test_the_content_is_the_json_value_whatever_its_spelling(raw: bytes, hashed: bytes) -> None:
    assert content_hash_of(raw) == hashlib.sha256(hashed).digest()


def test_any_body_becomes_a_text_that_the_database_stores() -> None:
    assert storable_text(b"a\x00b\xffc") == "a\ufffdb\ufffdc"


def test_the_alert_of_a_dead_webhook_has_its_key() -> None:
    assert webhook_alert_key(UUID(int=1)) == f"dead-letter-webhook:{UUID(int=1)}"
