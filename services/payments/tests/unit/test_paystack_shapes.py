"""Every documented shape of Paystack's transactions, refunds and their events has its expected reading; no odd one
breaks it.
"""

import asyncio
import copy
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from payments.clients.gateway import GatewayRejected, GatewayUnavailable
from payments.clients.paystack import PaystackGateway
from payments.clients.paystack_records import KNOWN_EVENTS, identify, read_event, subject_of
from payments.domain.bank_transfers import TransferAccount
from payments.domain.charges import Charge
from payments.domain.errors import MalformedEvent
from payments.domain.refunds import RefundEvent, RefundUpdate
from payments.domain.revisions import GatewaySubject
from testkit.providers.paystack.checking import check_event, check_request, check_response

from .paystack_examples import NOTE, PAID, UNNAMED, refund_event, shown_charge, shown_refund, verified_charge

EVENTS = [
    ({"event": "charge.success", "data": shown_charge()}, PAID),
    ({"event": "charge.success", "data": shown_charge(metadata=0)}, replace(PAID, **UNNAMED)),
    ({"event": "charge.success", "data": shown_charge(metadata="", fees=None)}, replace(PAID, fee_minor=0, **UNNAMED)),
    (
        {
            "event": "charge.failed",
            "data": shown_charge(status="failed", gateway_response="Insufficient Funds", paid_at=None),
        },
        replace(PAID, status="failed", failure_reason="Insufficient Funds", paid_at=None),
    ),
    (refund_event("pending"), RefundEvent("ch-1", 100_000, "pending")),
    (refund_event("processing"), RefundEvent("ch-1", 100_000, "processing")),
    (refund_event("processed", refund_reference="132013318360"), RefundEvent("ch-1", 100_000, "processed")),
    (refund_event("failed", amount=100_000, refund_reference="TRF_1"), RefundEvent("ch-1", 100_000, "failed")),
    (refund_event("needs-attention", id="77"), RefundEvent("ch-1", 100_000, "needs-attention")),
]


@pytest.mark.parametrize(("body", "reading"), EVENTS, ids=lambda value: str(value)[:30])
def test_each_documented_event_has_its_reading(body: dict[str, Any], reading: Any) -> None:
    check_event(body)
    raw = json.dumps(body).encode()
    assert identify(raw).event_type == body["event"]
    assert body["event"] in KNOWN_EVENTS
    assert read_event("webhook", body["event"], raw) == reading


def _gateway(status: int, body: Any, calls: list[httpx.Request] | None = None) -> PaystackGateway:
    def respond(request: httpx.Request) -> httpx.Response:
        if calls is not None:
            calls.append(request)
        # `json=` of the client rejects infinities, which a body such as `1e999` has.
        return httpx.Response(status, content=json.dumps(body))

    gateway = PaystackGateway("http://gateway", "sk")
    gateway._api.client = httpx.AsyncClient(base_url="http://gateway", transport=httpx.MockTransport(respond))
    return gateway


def _success(data: Any, **more: Any) -> dict[str, Any]:
    return {"status": True, "message": "done", "data": data, **more}


@pytest.mark.parametrize(
    ("changes", "reading"),
    [
        ({}, PAID),
        ({"status": "reversed"}, replace(PAID, status="reversed")),
        ({"status": "abandoned", "paid_at": None, "paidAt": None}, replace(PAID, status="pending", paid_at=None)),
        (
            {"status": "ongoing", "fees": None, "metadata": "plain"},
            replace(PAID, status="pending", fee_minor=0, **UNNAMED),
        ),
        (
            {"status": "failed", "gateway_response": "Declined"},
            replace(PAID, status="failed", failure_reason="Declined"),
        ),
    ],
)
async def test_each_status_of_a_transaction_has_its_reading(changes: dict[str, Any], reading: Charge) -> None:
    body = _success(verified_charge(**changes))
    check_response("GET", "/transaction/verify/ch-1", 200, body)
    assert await _gateway(200, body).find_transaction("ch-1") == reading


@pytest.mark.parametrize(
    ("changes", "status", "updated_at"),
    [
        ({}, "processed", PAID.paid_at),
        ({"status": "pending", "refunded_at": None, "reason": "PENDING"}, "pending", None),
        ({"status": "processing", "refunded_at": None, "reason": "PROCESSING"}, "processing", None),
        ({"status": "needs-attention", "refunded_at": None, "collect_account_number": True}, "needs-attention", None),
        ({"status": "failed", "refunded_at": None}, "failed", None),
    ],
)
async def test_each_status_of_a_refund_has_its_reading(changes: dict[str, Any], status: str, updated_at: Any) -> None:
    body = _success(shown_refund(**changes))
    check_response("GET", "/refund/77", 200, body)
    reason = changes.get("reason", "PROCESSED")
    expected = RefundUpdate(
        "77",
        NOTE,
        status,
        100_000,
        "NGN",
        reason,
        updated_at,
        transaction_reference="ch-1",
        transaction_id="5501",
    )
    assert await _gateway(200, body).find_refund("77") == expected
    meta = {"total": 1, "skipped": 0, "perPage": "100", "page": 1, "pageCount": 1, "failedRefundCount": 0}
    page = _success([shown_refund(**changes)], meta=meta)
    check_response("GET", "/refund", 200, page)
    assert await _gateway(200, page).list_refunds("5501") == [expected]


FAULT = {"status": False, "message": "x", "meta": {"nextStep": "y"}, "type": "validation_error"}


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (400, FAULT | {"code": "transaction_not_found"}, None),
        (404, {"status": False, "message": "Entity not found"}, None),
        (400, FAULT | {"code": "invalid_params"}, GatewayRejected),
        (422, {"status": False, "message": "x"}, GatewayRejected),
        (401, {"status": False, "message": "Invalid key"}, GatewayUnavailable),
        (404, {"detail": "a proxy"}, GatewayUnavailable),
        (429, FAULT, GatewayUnavailable),
        (500, FAULT, GatewayUnavailable),
        (200, {"status": True, "message": "x", "data": [1]}, GatewayUnavailable),
    ],
)
async def test_each_error_of_a_query_has_its_reading(status: int, body: dict[str, Any], outcome: Any) -> None:
    gateway = _gateway(status, body)
    if outcome is None:
        assert await gateway.find_transaction("ch-1") is None
        assert await gateway.find_event(GatewaySubject("charge", "ch-1")) is None
        return
    with pytest.raises(outcome):
        await gateway.find_transaction("ch-1")


@pytest.mark.parametrize(
    ("code", "outcome"), [("duplicate_reference", GatewayUnavailable), ("invalid_params", GatewayRejected)]
)
async def test_only_a_used_reference_of_a_new_payment_is_tried_again(code: str, outcome: Any) -> None:
    with pytest.raises(outcome):
        await _open(_gateway(400, FAULT | {"code": code}))


async def _open(gateway: PaystackGateway) -> Any:
    return await gateway.open_transaction(
        email="payer@unilag.edu.ng",
        amount_minor=250_000,
        currency="NGN",
        reference="ch-1",
        callback_url="https://shop.example/paid",
        channel="bank_transfer",
        metadata={"orderId": "1"},
    )


PENDING = {
    "status": "pending_bank_transfer",
    "display_text": "Please make a transfer to the account specified",
    "reference": "ch-1",
    "amount": 250_000,
    "account_name": "PAYSTACK CHECKOUT",
    "account_number": "1231057042",
    "bank": {"slug": "titan-paystack", "name": "Titan", "id": 629},
    "account_expires_at": "2026-03-04T10:50:30.000Z",
}
PENDING_ACCOUNT = TransferAccount(
    "Titan", "1231057042", "PAYSTACK CHECKOUT", 250_000, datetime(2026, 3, 4, 10, 50, 30, tzinfo=UTC)
)


async def _charge_transfer(gateway: PaystackGateway) -> TransferAccount | None:
    now = datetime(2026, 3, 4, 10, 20, 30, tzinfo=UTC)
    return await gateway.charge_bank_transfer(
        email="payer@unilag.edu.ng",
        amount_minor=250_000,
        reference="ch-1",
        now=now,
        expires_at=now + timedelta(minutes=15),
        metadata={"orderId": "1"},
    )


async def test_a_charge_by_bank_transfer_has_the_documented_shapes() -> None:
    calls: list[httpx.Request] = []
    check_response("POST", "/charge", 200, _success(PENDING))
    assert await _charge_transfer(_gateway(200, _success(PENDING), calls)) == PENDING_ACCOUNT
    assert await _gateway(200, _success(PENDING), calls).find_transfer_account("ch-1") == PENDING_ACCOUNT
    for call in calls:
        check_request(call.method, call.url.path, dict(call.url.params), json.loads(call.content or "null"))
    assert [call.url.path for call in calls] == ["/charge", "/charge/ch-1"]


@pytest.mark.parametrize(
    "lacks",
    [
        {"status": "success"},
        {"account_number": None},
        {"account_number": ""},
        {"bank": None},
        {"bank": {"name": 7}},
        {"amount": 0},
        {"amount": "much"},
        {"account_expires_at": None},
        {"account_expires_at": "soon"},
    ],
)
async def test_a_charge_without_a_whole_account_has_none(lacks: dict[str, Any]) -> None:
    assert await _charge_transfer(_gateway(200, _success(PENDING | lacks))) is None
    assert await _gateway(200, _success(PENDING | lacks)).find_transfer_account("ch-1") is None


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_an_unknown_charge_has_no_account(status: int) -> None:
    assert await _gateway(status, FAULT).find_transfer_account("ch-1") is None


@pytest.mark.parametrize(
    ("code", "outcome"), [("duplicate_reference", GatewayUnavailable), ("invalid_params", GatewayRejected)]
)
async def test_only_a_used_reference_of_a_charge_is_queried(code: str, outcome: Any) -> None:
    with pytest.raises(outcome):
        await _charge_transfer(_gateway(400, FAULT | {"code": code}))


async def test_every_call_about_transactions_and_refunds_has_the_specified_request() -> None:
    calls: list[httpx.Request] = []
    period = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 8, tzinfo=UTC))
    opened = {"authorization_url": "https://pay.example", "access_code": "a", "reference": "ch-1"}
    await _open(_gateway(200, _success(opened), calls))
    await _gateway(200, _success(verified_charge()), calls).find_transaction("ch-1")
    listing = _gateway(200, _success([]), calls)
    await listing.page_of_paid_transactions(*period, 1)
    await listing.page_of_refunds(*period, 1)
    await listing.list_refunds("5501")
    refunds = _gateway(200, _success(shown_refund()), calls)
    for currency in ("NGN", None):
        await refunds.start_refund(transaction="5501", amount_minor=1, currency=currency, note=NOTE)
    await refunds.find_refund("77")
    account = {"details": {"account_number": "0123456789", "bank_code": "058"}, "bank_id": 9}
    await _gateway(200, _success(shown_refund() | account), calls).retry_refund("77", "RCP_1", "NGN")
    checked = 0
    for call in calls:
        if call.url.path.startswith(("/transaction/", "/refund")) or call.url.path == "/transaction":
            body = json.loads(call.content) if call.content else None
            check_request(call.method, call.url.path, dict(call.url.params), body)
            checked += 1
    assert (checked, len(calls)) == (9, 11)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e-999", "250000.0", "NaN"])
@pytest.mark.parametrize("field", ["id", "amount", "fees"])
def test_a_number_that_is_no_integer_is_absent(field: str, number: str) -> None:
    body = {"event": "charge.success", "data": shown_charge(**{field: "#"})}
    raw = json.dumps(body).replace('"#"', number).encode()
    assert identify(raw).event_type == "charge.success"
    if field == "amount":
        with pytest.raises(MalformedEvent):
            read_event("webhook", "charge.success", raw)
        return
    absent = {"id": {"gateway_id": None}, "fees": {"fee_minor": 0}}[field]
    assert read_event("webhook", "charge.success", raw) == replace(PAID, **absent)


ACCOUNT = ("0123456789", "044")
NO_SUCH_ACCOUNT = {"status": False, "message": "Could not resolve account name. Check parameters or try again."}
INVALID_ACCOUNT = {**NO_SUCH_ACCOUNT, "type": "validation_error", "code": "invalid_bank_code"}


@pytest.mark.parametrize(
    ("status", "body"), [(422, NO_SUCH_ACCOUNT), (422, INVALID_ACCOUNT), (400, INVALID_ACCOUNT), (404, INVALID_ACCOUNT)]
)
async def test_only_paystacks_own_validation_error_is_no_such_account(status: int, body: dict[str, Any]) -> None:
    assert await _gateway(status, body).account_name(*ACCOUNT) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, NO_SUCH_ACCOUNT),
        (401, {"status": False, "message": "Invalid key"}),
        (403, INVALID_ACCOUNT),
        (404, NO_SUCH_ACCOUNT),
        (422, {**NO_SUCH_ACCOUNT, "type": "processor_error"}),
        (422, {"message": "a proxy"}),
        (429, INVALID_ACCOUNT),
        (500, INVALID_ACCOUNT),
        (200, NO_SUCH_ACCOUNT),
        (200, _success({"account_name": None})),
        (200, _success({"account_name": " "})),
        (200, _success({"account_name": {"name": "ADA"}})),
    ],
)
async def test_any_other_fault_of_a_resolution_does_not_affect_the_account(status: int, body: dict[str, Any]) -> None:
    with pytest.raises(GatewayUnavailable):
        await _gateway(status, body).account_name(*ACCOUNT)


ODD = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.floats(),
    some.text(),
    some.builds(list),
    some.fixed_dictionaries({"id": some.integers()}),
)
EXAMPLES = [body for body, _ in EVENTS] + [
    {"event": event, "data": data}
    for event, data in (
        ("charge.success", verified_charge()),
        ("refund.processed", shown_refund()),
        ("refund.failed", shown_refund(reason=None)),
    )
]


def _places(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(value, dict):
        return []
    return [place for name in value for place in ((*path, name), *_places(value[name], (*path, name)))]


@given(body=some.sampled_from(EXAMPLES), draw=some.data(), changes=some.integers(1, 4))
def test_a_changed_shape_is_read_or_is_malformed(body: dict[str, Any], draw: Any, changes: int) -> None:
    """Absent and unknown fields, nulls, numbers as texts, and objects in place of ids."""
    changed = copy.deepcopy(body)
    for _ in range(changes):
        *parents, name = draw.draw(some.sampled_from(_places(changed)))
        holder: Any = changed
        for parent in parents:
            holder = holder[parent]
        kind = draw.draw(some.sampled_from(["absent", "odd", "text", "wrapped", "unknown"]))
        if kind == "absent":
            del holder[name]
        elif kind == "unknown":
            holder[f"new_{name}"] = draw.draw(ODD)
        else:
            old = holder[name]
            holder[name] = {"odd": draw.draw(ODD), "text": str(old), "wrapped": {"id": old}}[kind]
        if not _places(changed):
            break
    raw = json.dumps(changed).encode()
    arrival = identify(raw)
    subject_of(body["event"], raw)
    try:
        read_event(arrival.id, body["event"], raw)
    except MalformedEvent:
        return


@given(data=some.dictionaries(some.sampled_from(sorted(shown_refund() | verified_charge())), ODD))
@example(data={"amount": float("inf"), "id": float("-inf"), "fees": float("nan"), "currency": float("inf")})
@example(data=verified_charge() | {"id": float("inf"), "amount": 1, "fees": float("inf"), "paid_at": float("nan")})
@example(data=verified_charge() | {"metadata": {"orderId": float("inf"), "settlement": float("nan")}})
def test_an_odd_row_of_a_list_is_unreadable_and_the_rest_is_read(data: dict[str, Any]) -> None:
    async def listed() -> Any:
        period = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 8, tzinfo=UTC))
        return await _gateway(200, _success([verified_charge(), data, 7])).page_of_paid_transactions(*period, 1)

    page = asyncio.run(listed())
    assert page.rows[0] == PAID
    assert len(page.rows) + len(page.unreadable) == 3
