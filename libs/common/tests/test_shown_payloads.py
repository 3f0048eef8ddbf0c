"""Staff see what a dead letter is about, and no text, address or secret of it."""

import json
from typing import Any

import msgspec
import pytest

from common.messaging.shown_payloads import show_message, show_webhook
from common.primitives.ids import new_id
from contracts.topology import SUBSCRIPTIONS

ORDER, BUYER = str(new_id()), str(new_id())


def message(data: Any, event_type: str = "payments.escrow_held.v1", subject: str = ORDER) -> bytes:
    return json.dumps({"type": event_type, "subject": subject, "data": data}).encode()


def test_an_event_shows_its_ids_amounts_and_numbers() -> None:
    data = {"orderId": ORDER, "amountMinor": 150_000, "reference": "ch-5", "number": "CM-R80T-M2NG", "heldAt": "2026"}
    shown = show_message(message(data), "payments.escrow_held.v1")
    assert (shown.subject, shown.values, shown.withheld) == ("CM-R80T-M2NG", data, [])


def test_a_field_of_another_type_or_name_is_withheld() -> None:
    data = {"orderId": "Ada Obi", "amountMinor": "0803 555 0101", "paidOrders": True, "pin": "4711"}
    shown = show_message(message(data), "payments.escrow_held.v1")
    assert (shown.subject, shown.values) == (ORDER, {})
    assert shown.withheld == ["orderId", "amountMinor", "paidOrders", "pin"]


def test_members_of_a_declared_struct_are_shown() -> None:
    statement = {"sequence": 3, "netMinor": 7, "keyId": "k1", "signature": "c2lnbmVk"}
    shown = show_message(message({"statement": statement}), "payments.escrow_released.v1")
    assert shown.values == {"statement.sequence": 3, "statement.netMinor": 7}
    assert shown.withheld == ["statement.keyId", "statement.signature"]


def test_an_unknown_message_shows_ids_and_amounts_only() -> None:
    data = {"userId": BUYER, "amountMinor": 5, "code": 4711, "to": "ada@campus.test", "inner": {"orderId": ORDER}}
    shown = show_message(message(data, "identity.codes", subject="ada@campus.test"), "identity.codes")
    assert (shown.subject, shown.values) == (None, {"userId": BUYER, "amountMinor": 5, "inner.orderId": ORDER})
    assert shown.withheld == ["code", "to"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"data": []}', b"[" * 100_000])
def test_a_malformed_body_shows_nothing(body: bytes) -> None:
    shown = show_message(body, "payments.escrow_held.v1")
    assert (shown.subject, shown.values, shown.withheld) == (None, {}, [])


def test_no_event_shows_a_free_text() -> None:
    """Every text of every event has a value that only a free text has."""
    for event in {event for events in SUBSCRIPTIONS.values() for event in events}:
        fields = msgspec.structs.fields(event)
        named = {"reference", "currency"}
        texts = {
            each.encode_name: "Ada Obi, 0803 555 0101"
            for each in fields
            if each.encode_name not in named and not each.encode_name.endswith("At")
        }
        shown = show_message(message(texts, event.TYPE), event.TYPE)
        shown_texts = {name for name in shown.values if name != "number" and not name.endswith("Number")}
        assert shown_texts == set(), event.TYPE


def test_a_webhook_shows_the_transaction_and_withholds_the_payer() -> None:
    body = {
        "event": "charge.success",
        "data": {
            "id": 5,
            "reference": "ch-5",
            "amount": 150_000,
            "customer": {"email": "ada@campus.test", "id": 9},
            "authorization": {"last4": "4081"},
        },
    }
    shown = show_webhook(body)
    assert shown.subject == "ch-5"
    assert shown.values == {
        "event": "charge.success",
        "data.id": 5,
        "data.reference": "ch-5",
        "data.amount": 150_000,
        "data.customer.id": 9,
    }
    assert shown.withheld == ["data.customer.email", "data.authorization.last4"]
    assert show_webhook(body, members=()).values == {}


def test_names_and_values_of_a_sender_are_bounded() -> None:
    shown = show_webhook({"x" * 500 + str(number): 1 for number in range(100)} | {"reference": "y" * 101})
    assert (len(shown.withheld), max(map(len, shown.withheld)), shown.values) == (50, 100, {})
