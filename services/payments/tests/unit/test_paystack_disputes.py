"""Paystack's disputes and settlements in every documented shape, and the calls about them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from payments.clients.gateway import GatewayRejected, GatewayUnavailable
from payments.clients.paystack import PaystackGateway
from payments.clients.paystack_disputes import event_of, read_dispute, read_settlement
from payments.clients.paystack_records import read_event
from payments.domain.chargeback_responses import DisputeEvidence, DisputeResolution
from payments.domain.chargebacks import ChargebackUpdate
from payments.domain.errors import MalformedEvent
from payments.domain.settlements import Settlement
from testkit.providers.paystack import checking

PDF = b"%PDF-1.4"
DUE = datetime(2026, 3, 5, 18, tzinfo=UTC)
TRANSACTION = {
    "id": 4100200,
    "domain": "live",
    "status": "success",
    "reference": "pi-7f3a",
    "amount": 580_000,
    "message": None,
    "gateway_response": "Approved",
    "paid_at": "2026-03-04T09:12:40.000Z",
    "created_at": "2026-03-04T09:11:02.000Z",
    "channel": "card",
    "currency": "NGN",
    "ip_address": None,
    "metadata": "",
    "log": None,
    "fees": 18_700,
    "fees_split": None,
    "authorization": {},
    "customer": {"international_format_phone": None},
    "plan": {},
    "subaccount": {},
    "split": {},
    "order_id": None,
    "paidAt": "2026-03-04T09:12:40.000Z",
    "requested_amount": 580_000,
    "pos_transaction_data": None,
}
PAYER = {
    "id": 77,
    "first_name": "Ngozi",
    "last_name": None,
    "email": "ngozi@campus.example",
    "customer_code": "CUS_a1b2c3",
    "phone": None,
    "metadata": {},
    "risk_action": "allow",
    "international_format_phone": None,
}
OPENED = {
    "id": 9001,
    "refund_amount": 580_000,
    "currency": "NGN",
    "status": "awaiting-merchant-feedback",
    "resolution": None,
    "domain": "live",
    "transaction": TRANSACTION,
    "transaction_reference": None,
    "category": "chargeback",
    "customer": PAYER,
    "bin": "408408",
    "last4": "4081",
    "dueAt": "2026-03-05T18:00:00.000Z",
    "resolvedAt": None,
    "evidence": None,
    "attachments": None,
    "note": None,
    "history": [{"status": "pending", "by": "bank@issuer.example", "createdAt": "2026-03-04T10:00:00.000Z"}],
    "messages": [{"sender": "bank@issuer.example", "body": "No value", "createdAt": "2026-03-04T10:00:00.000Z"}],
    "created_at": "2026-03-04T10:00:00.000Z",
    "updated_at": "2026-03-04T12:00:02.000Z",
}
CREATE, REMIND, RESOLVE = (f"charge.dispute.{action}" for action in ("create", "remind", "resolve"))
READ = ChargebackUpdate("9001", "pi-7f3a", "4100200", 580_000, "NGN", None, "chargeback", DUE, True)
RESOLVED = {
    **OPENED,
    "status": "resolved",
    "transaction": {**TRANSACTION, "status": "reversed"},
    "resolvedAt": "2026-03-05T18:00:02.000Z",
}
# As `GET /dispute/:id` and the list return it.
FETCHED = {
    **{name: value for name, value in OPENED.items() if name not in ("created_at", "updated_at")},
    "transaction": {
        **TRANSACTION,
        "createdAt": "2026-03-04T09:11:02.000Z",
        "source": None,
        "fees_breakdown": None,
        "connect": None,
    },
    "dueAt": None,
    "createdAt": "2026-03-04T10:00:00.000Z",
    "updatedAt": "2026-03-04T12:00:02.000Z",
}


def _changed(**changes: Any) -> ChargebackUpdate:
    fields = {name: getattr(READ, name) for name in ChargebackUpdate.__dataclass_fields__}
    return ChargebackUpdate(**{**fields, **changes})


EVENTS = [
    (CREATE, OPENED, READ),
    (REMIND, OPENED, READ),
    (RESOLVE, {**RESOLVED, "resolution": "auto-accepted"}, _changed(outcome="lost", awaits_response=False)),
    (RESOLVE, {**RESOLVED, "resolution": "merchant-accepted"}, _changed(outcome="lost", awaits_response=False)),
    (RESOLVE, {**RESOLVED, "resolution": "declined"}, _changed(outcome="won", awaits_response=False)),
    (CREATE, {**OPENED, "dueAt": None}, _changed(due_at=None)),
    (REMIND, {**OPENED, "status": "awaiting-bank-feedback"}, _changed(awaits_response=False)),
]


@pytest.mark.parametrize(("event_type", "data", "expected"), EVENTS)
def test_a_documented_event_is_read(event_type: str, data: dict[str, Any], expected: ChargebackUpdate) -> None:
    body = {"event": event_type, "data": data}
    checking.check_event(body)
    assert read_event("w", event_type, json.dumps(body).encode()) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # The other spelling of times; amounts as texts; a transaction as its id.
        ({"dueAt": None, "due_at": "2026-03-05T19:00:00+01:00"}, READ),
        ({"refund_amount": "580000"}, READ),
        ({"refund_amount": None}, _changed(amount_minor=None)),
        ({"transaction": 4100200, "merchant_transaction_reference": "pi-7f3a"}, READ),
        ({"transaction": None, "transaction_reference": "pi-7f3a"}, _changed(gateway_id=None)),
        # Odd, unknown and absent optional values.
        ({"dueAt": 1772733600}, _changed(due_at=None)),
        ({"dueAt": "soon", "category": {"name": "fraud"}}, _changed(due_at=None, reason=None)),
        ({"status": None, "customer": 77, "messages": None, "history": "x", "later": {"a": [1]}}, READ),
        ({"evidence": {"id": 5}, "attachments": ["a"], "resolution": {"by": "bank"}}, READ),
        ({"currency": 566}, _changed(currency=None)),
    ],
)
def test_an_odd_shape_of_a_dispute_is_read(changes: dict[str, Any], expected: ChargebackUpdate) -> None:
    assert read_dispute(CREATE, {**OPENED, **changes}) == expected


@pytest.mark.parametrize(
    ("event_type", "changes", "expected"),
    [
        (CREATE, {"transaction": []}, {"reference": None, "gateway_id": None}),
        (CREATE, {"refund_amount": 5.5}, {"amount_minor": None}),
        (CREATE, {"refund_amount": True}, {"amount_minor": None}),
        (RESOLVE, {"resolution": "pending"}, {"is_unclear": True, "awaits_response": False}),
        (RESOLVE, {"resolution": None}, {"is_unclear": True, "awaits_response": False}),
    ],
)
def test_a_dispute_with_an_unusable_field_is_open(
    event_type: str, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert read_dispute(event_type, {**OPENED, **changes}) == _changed(**expected)


@pytest.mark.parametrize(
    ("changes", "event_type"),
    [
        ({}, CREATE),
        ({"resolution": "declined", "status": "awaiting-bank-feedback"}, CREATE),
        ({"resolution": "declined", "status": "resolved"}, RESOLVE),
        ({"status": "resolved"}, CREATE),
    ],
)
def test_only_the_banks_decision_resolves_a_queried_dispute(changes: dict[str, Any], event_type: str) -> None:
    assert event_of({**FETCHED, **changes}) == event_type


SETTLEMENT = {
    "id": 3090,
    "domain": "live",
    "status": "success",
    "currency": "NGN",
    "integration": 100043,
    "total_amount": 9_610,
    "effective_amount": 9_610,
    "total_fees": 390,
    "total_processed": 10_000,
    "deductions": None,
    "settlement_date": "2026-03-05T00:00:00.000Z",
    "settled_by": None,
    "createdAt": "2026-03-05T01:14:11.000Z",
    "updatedAt": "2026-03-05T08:10:00.000Z",
}
CREATED = datetime(2026, 3, 5, 1, 14, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Settlement("3090", "settled", 9_610, "NGN", CREATED)),
        ({"effective_amount": 9_000, "deductions": 610}, Settlement("3090", "settled", 9_000, "NGN", CREATED)),
        ({"effective_amount": "9000"}, Settlement("3090", "settled", 9_000, "NGN", CREATED)),
        ({"effective_amount": None}, Settlement("3090", "settled", 9_610, "NGN", CREATED)),
        ({"status": "processing"}, Settlement("3090", "pending", 9_610, "NGN", CREATED)),
        ({"status": "pending", "effective_amount": 0}, Settlement("3090", "pending", 0, "NGN", CREATED)),
        ({"status": "failed"}, Settlement("3090", "failed", 9_610, "NGN", CREATED)),
        ({"status": {"now": "x"}, "deductions": [1]}, Settlement("3090", "pending", 9_610, "NGN", CREATED)),
        ({"currency": "ghs"}, Settlement("3090", "settled", 9_610, "GHS", CREATED)),
        ({"currency": None, "createdAt": None}, Settlement("3090", "settled", 9_610, "XXX", None)),
    ],
)
def test_a_settlement_is_read(changes: dict[str, Any], expected: Settlement) -> None:
    assert read_settlement({**SETTLEMENT, **changes}) == expected


@pytest.mark.parametrize("changes", [{"id": None}, {"effective_amount": 0}, {"effective_amount": -5}])
def test_a_settlement_that_cannot_be_posted_is_malformed(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedEvent):
        read_settlement({**SETTLEMENT, **changes})


Respond = Callable[[str, str], tuple[int, Any]]


class Calls:
    """A gateway whose calls are checked against Paystack's facts; the file store is another host."""

    def __init__(self, response: Respond) -> None:
        self.response, self.made, self.files = response, list[tuple[str, str, Any]](), list[httpx.Request]()
        self.gateway = PaystackGateway("https://api.gateway.example", "sk_test")
        transport = httpx.MockTransport(self.respond)
        self.gateway._api.client = httpx.AsyncClient(transport=transport, base_url="https://api.gateway.example")
        self.gateway._uploads = httpx.AsyncClient(transport=transport)

    def respond(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != "api.gateway.example":
            self.files.append(request)
            return httpx.Response(200)
        path = request.url.path
        body = json.loads(request.content) if request.content else None
        checking.check_request(request.method, path, dict(request.url.params), body)
        self.made.append((request.method, path, body))
        status, data = self.response(request.method, path)
        content = {"status": status < 400, "message": "m", "data": data}
        if status == 200:
            checking.check_response(request.method, path, status, content)
        return httpx.Response(status, json=content)


EVIDENCE = DisputeEvidence("ngozi@campus.example", "Ngozi Bello", "+2348012345678", "Two books", None, "2026-03-04")
RESPONSE = {
    "currency": "NGN", "last4": "4081", "bin": "408408", "transaction_reference": None, "refund_amount": 0,
    "merchant_transaction_reference": "pi-7f3a", "status": "awaiting-bank-feedback", "domain": "live", "note": None,
    "resolution": "declined", "category": "chargeback", "attachments": "f1", "id": 9001, "integration": 1,
    "transaction": 4100200, "created_by": 3, "evidence": 21, "resolvedAt": None, "dueAt": None,
    "createdAt": "2026-03-04T10:00:00.000Z", "updatedAt": "2026-03-04T12:00:02.000Z",
    "message": {
        "dispute": 9001, "sender": "a@b.example", "body": "Delivered", "id": 1,
        "createdAt": "2026-03-04T10:00:00.000Z", "updatedAt": "2026-03-04T10:00:00.000Z",
    },
}  # fmt: skip


def _respond(method: str, path: str) -> tuple[int, Any]:
    if path.endswith("/evidence"):
        sent = {"customer_email": "e", "customer_name": "n", "customer_phone": "p", "service_details": "s"}
        times = {"createdAt": "2026-03-04T10:00:00.000Z", "updatedAt": "2026-03-04T10:00:00.000Z"}
        return 200, {**sent, "dispute": 9001, "id": 21, **times}
    if path.endswith("/upload_url"):
        return 200, {"signedUrl": "https://files.store.example/f1?signature=s", "fileName": "f1"}
    return 200, RESPONSE if path.endswith("/resolve") else FETCHED


async def test_evidence_and_the_resolution_are_sent_in_the_gateways_form() -> None:
    calls = Calls(_respond)
    assert await calls.gateway.add_dispute_evidence("9001", EVIDENCE) == "21"
    await calls.gateway.resolve_dispute("9001", DisputeResolution("contest", "Delivered", 0, PDF, "21"))
    await calls.gateway.resolve_dispute("9001", DisputeResolution("accept", "Our fault", 500, PDF, None))
    assert calls.made[0] == (
        "POST",
        "/dispute/9001/evidence",
        {
            "customer_email": "ngozi@campus.example",
            "customer_name": "Ngozi Bello",
            "customer_phone": "+2348012345678",
            "service_details": "Two books",
            "delivery_date": "2026-03-04",
        },
    )
    contest = {"resolution": "declined", "message": "Delivered", "refund_amount": 0, "uploaded_filename": "f1"}
    assert calls.made[2][2] == {**contest, "evidence": 21}
    assert calls.made[4][2] == {
        "resolution": "merchant-accepted",
        "message": "Our fault",
        "refund_amount": 500,
        "uploaded_filename": "f1",
    }
    assert [(one.method, one.content, one.headers["content-type"]) for one in calls.files] == [
        ("PUT", PDF, "application/pdf")
    ] * 2
    # Our key is never sent to another host.
    assert all("authorization" not in one.headers for one in calls.files)


@pytest.mark.parametrize("address", ["http://files.store.example/f1", "file:///etc/passwd", "", None])
async def test_an_upload_address_without_tls_is_not_used(address: Any) -> None:
    calls = Calls(lambda method, path: (202, {"signedUrl": address, "fileName": "f1"}))
    with pytest.raises(GatewayUnavailable):
        await calls.gateway.resolve_dispute("9001", DisputeResolution("contest", "x", 0, PDF, None))
    assert calls.files == []


async def test_a_dispute_is_queried_and_settlements_are_listed() -> None:
    calls = Calls(_respond)
    assert await calls.gateway.find_dispute("9001") == _changed(due_at=None)
    meta = {"total": 1, "skipped": 0, "perPage": 100, "page": 1, "pageCount": 1}
    listed = {"status": True, "message": "m", "data": [SETTLEMENT], "meta": meta}
    checking.check_response("GET", "/settlement", 200, listed)
    calls.response = lambda method, path: (201, [SETTLEMENT] if path == "/settlement" else [])
    page = await calls.gateway.page_of_settlements(CREATED, DUE, 1)
    assert (page.rows[0].id, page.is_last) == ("3090", True)
    assert (await calls.gateway.page_of_settlement_charges("3090", 1)).rows == []


async def test_a_rejected_response_is_distinguished_from_one_without_a_response() -> None:
    for status, error in ((400, GatewayRejected), (404, GatewayRejected), (401, GatewayUnavailable)):
        calls = Calls(lambda method, path, status=status: (status, None))  # type: ignore[misc]
        with pytest.raises(error):
            await calls.gateway.add_dispute_evidence("9001", EVIDENCE)
