"""Each shape of Paystack's transfer events has one meaning."""

from datetime import UTC, datetime

import msgspec
import pytest

from payments.clients.paystack_records import read_event
from payments.domain.errors import MalformedEvent
from testkit.providers.paystack import checking

NARRATION = "Account number is invalid"
DATA = {
    "amount": 200_000,
    "currency": "NGN",
    "reference": "po-1",
    "transfer_code": "TRF_1",
    "reason": NARRATION,
    "failures": None,
    "integration": {"id": 100043, "is_live": True, "business_name": "A shop"},
    "recipient": {"details": {"account_number": "0123456789", "bank_code": "011"}, "integration": 100043},
    "session": {"provider": "nip", "id": "74849400998877667"},
}


TIMES = {"created_at": "2026-02-03T04:05:06.000Z", "updated_at": "2026-02-03T04:06:07.000Z"}
NEWER_TIMES = {"createdAt": "2026-02-03T04:05:06.000Z", "updatedAt": "2026-02-03T04:06:07.000Z"}
WHOLE = {
    **DATA, "domain": "live", "id": 5, "source": "balance", "source_details": None, "titan_code": None,
    "transferred_at": None, "recipient": {
        "active": True, "currency": "NGN", "description": None, "domain": "live", "email": None, "id": 1,
        "integration": 100043, "metadata": None, "name": "Bola Ade", "recipient_code": "RCP_1", "type": "nuban",
        "is_deleted": False, "details": {
            "authorization_code": None, "account_number": "0123456789", "account_name": None, "bank_code": "011",
            "bank_name": "First Bank of Nigeria",
        },
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "times", "newer", "fee_minor"),
    [
        ("success", NEWER_TIMES, {"fee_charged": 0, "gateway_response": None}, 0),
        ("failed", TIMES, {}, None),
        ("reversed", TIMES, {"fee_charged": 1_000, "gateway_response": "Timed out"}, 1_000),
    ],
)
def test_each_event_in_the_shape_of_the_documentation_is_read(status, times, newer, fee_minor):
    data = {**WHOLE, **times, **newer, "status": status, "recipient": {**WHOLE["recipient"], **times}}
    event = {"event": f"transfer.{status}", "data": data}
    checking.check_event(event)
    update = read_event("1", f"transfer.{status}", msgspec.json.encode(event))
    assert (update.outcome, update.fee_minor, update.reason) == (status, fee_minor, newer.get("gateway_response"))
    assert update.occurred_at == datetime(2026, 2, 3, 4, 6, 7, tzinfo=UTC)
    assert (update.account_last4, update.bank_code) == ("6789", "011")


def read(event_type, **changes):
    return read_event("1", event_type, msgspec.json.encode({"event": event_type, "data": {**DATA, **changes}}))


# The fields that differ -> the reason.
REASONS = [
    ({}, None),
    ({"gateway_response": None}, None),
    ({"gateway_response": "Issuer or switch inoperative"}, "Issuer or switch inoperative"),
    ({"gateway_response": " "}, None),
    ({"failures": "Dormant account"}, "Dormant account"),
    ({"failures": {"message": "Dormant account"}}, "Dormant account"),
    ({"failures": [{"reason": "Timed out"}, "Do not honour", 7]}, "Timed out; Do not honour"),
    ({"failures": {"code": 91}}, '{"code":91}'),
    ({"failures": []}, None),
    ({"gateway_response": "Name mismatch", "failures": "switch"}, "Name mismatch"),
]


@pytest.mark.parametrize(("changes", "reason"), REASONS)
@pytest.mark.parametrize("event_type", ["transfer.failed", "transfer.reversed"])
def test_the_reason_is_the_banks_and_never_our_narration(event_type, changes, reason):
    update = read(event_type, **changes)
    assert (update.outcome, update.reason) == (event_type.removeprefix("transfer."), reason)


@pytest.mark.parametrize(
    ("charged", "fee_minor"), [(1000, 1000), ("1000", 1000), (0, 0), (None, None), ([], None), (-1, None)]
)
def test_the_fee_is_read_as_far_as_it_is_an_amount(charged, fee_minor):
    assert read("transfer.success", fee_charged=charged).fee_minor == fee_minor


@pytest.mark.parametrize("name", ["updated_at", "updatedAt", "transferred_at"])
def test_the_time_is_read_in_each_spelling(name):
    update = read("transfer.success", **{name: "2021-04-12T15:41:21.000Z"})
    assert update.occurred_at == datetime(2021, 4, 12, 15, 41, 21, tzinfo=UTC)
    assert read("transfer.success").occurred_at is None


@pytest.mark.parametrize("recipient", [None, 56824902, {}, {"details": None}, {"details": {"account_number": None}}])
def test_a_recipient_of_any_shape_breaks_nothing(recipient):
    assert read("transfer.success", recipient=recipient).account_last4 is None


def test_an_amount_as_digits_is_read():
    assert read("transfer.success", amount="200000").amount_minor == 200_000


@pytest.mark.parametrize(
    "changes", [{"amount": 0}, {"amount": None}, {"amount": "2,000"}, {"reference": None}, {"currency": 1}]
)
def test_an_event_without_amount_reference_or_currency_is_malformed(changes):
    with pytest.raises(MalformedEvent):
        read("transfer.success", **changes)
