"""Flutterwave's adapter for transfers: its calls follow the documentation, and every documented or odd shape is
read.
"""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from common.primitives.ids import new_id
from payouts.clients.flutterwave import Flutterwave
from payouts.domain.errors import GatewayKeyRejected, GatewayUnavailable
from payouts.domain.gateway_results import Absent, Recipient, Refused, Reported, Unclear
from payouts.domain.transfer_fees import FeeSchedule
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate, as_reversal
from providers.flutterwave import FlutterwaveApi
from testkit.providers.flutterwave import fields, transfers

REFERENCE = "po-00000000000000000000000000000001"
TRANSFER = transfers.EXAMPLE | {"reference": REFERENCE, "debit_currency": None}
RECIPIENT = Recipient(new_id(), "encrypted", "044", "Ada Obi")


def page_of(*rows: Any, pages: int = 1) -> dict[str, Any]:
    page_info = {"total": len(rows), "current_page": 1, "total_pages": pages}
    return {"status": "success", "message": "fetched", "meta": {"page_info": page_info}, "data": list(rows)}


def success(data: Any) -> dict[str, Any]:
    return {"status": "success", "message": "ok", "data": data}


def error(message: str) -> dict[str, Any]:
    return {"status": "error", "message": message, "data": None}


def gateway_with(status: int, body: Any) -> tuple[Flutterwave, list[httpx.Request], list[str]]:
    """Return the adapter over one response, its calls, and the alerts about its key."""
    calls: list[httpx.Request] = []
    rejected: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        content = body if isinstance(body, bytes) else json.dumps(body, default=float).encode()
        return httpx.Response(status, content=content)

    async def on_key_rejected() -> None:
        rejected.append("rejected")

    client = httpx.AsyncClient(transport=httpx.MockTransport(respond), base_url="http://gateway/v3/")
    fees = FeeSchedule.parse("*:5375")
    api = FlutterwaveApi(client, 5, on_key_rejected)
    return Flutterwave(api, lambda _vendor, _kept: "0690000040", 10_000, fees), calls, rejected


def body_of(request: httpx.Request) -> Any:
    return json.loads(request.content, parse_float=Decimal)


async def test_calls_have_documented_fields() -> None:
    gateway, calls, _ = gateway_with(200, success({"id": 3644}))
    assert await gateway.create_recipient(RECIPIENT) == "flw:3644"
    Draft202012Validator(transfers.CREATE_BENEFICIARY).validate(body_of(calls[0]))
    gateway, calls, _ = gateway_with(200, success({"account_name": "ADA OBI"}))
    assert await gateway.account_name("0690000040", "044") == "ADA OBI"
    Draft202012Validator(transfers.RESOLVE_ACCOUNT).validate(body_of(calls[0]))
    gateway, calls, _ = gateway_with(200, page_of())
    assert (await gateway.page_of_transfers(datetime(2026, 1, 1, tzinfo=UTC), 1)).is_last
    assert await gateway.verify(REFERENCE) == Absent()
    assert all(set(call.url.params) <= transfers.LIST_QUERY for call in calls)


@pytest.mark.parametrize("amount_minor", [10_000, 10_001, 10_099, 123_456_789])
async def test_a_transfer_names_the_exact_amount(amount_minor: int) -> None:
    response = {**TRANSFER, "amount": f"{amount_minor // 100}.{amount_minor % 100:02d}"}
    gateway, calls, _ = gateway_with(200, success(response))
    result = await gateway.transfer(REFERENCE, "flw:3644", amount_minor)
    body = body_of(calls[0])
    Draft202012Validator(transfers.CREATE_TRANSFER).validate(body)
    assert (Decimal(body["amount"]) * 100, body["beneficiary"], body["reference"]) == (amount_minor, 3644, REFERENCE)
    assert isinstance(result, Reported)
    assert (result.update.status, result.update.amount_minor) == ("pending", amount_minor)


@pytest.mark.parametrize(
    ("code", "amount_minor"), [("flw:1", 9_999), ("RCP_1", 10_000), ("flw:", 10_000), ("flw:x", 10_000)]
)
async def test_a_transfer_that_is_never_accepted_is_not_called_for(code: str, amount_minor: int) -> None:
    gateway, calls, _ = gateway_with(200, success(TRANSFER))
    assert isinstance(await gateway.transfer(REFERENCE, code, amount_minor), Refused)
    assert calls == []


@pytest.mark.parametrize(
    ("status", "report", "cause", "fee_minor"),
    [("NEW", "pending", None, 0), ("PENDING", "pending", None, 0), ("SUCCESSFUL", "success", None, 2_688),
     ("FAILED", "failed", "DISBURSE FAILED: no such account", 0)],
)  # fmt: skip
async def test_each_state_is_read(status: str, report: str, cause: str | None, fee_minor: int) -> None:
    text = "DISBURSE FAILED: no such account" if status == "FAILED" else "Transaction was successful"
    row = {**TRANSFER, "status": status, "complete_message": text}
    Draft202012Validator(transfers.TRANSFERS).validate(page_of(row))
    result = await gateway_with(200, page_of(row))[0].verify(REFERENCE)
    assert isinstance(result, Reported)
    update = result.update
    assert (update.status, update.reason, update.fee_minor) == (report, cause, fee_minor)
    assert (update.amount_minor, update.transfer_code) == (550_000, "flw:396432")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>"),
        (200, []),
        (200, success(None)),
        (200, success({})),
        (200, page_of({**TRANSFER, "reference": "po-other"})),
        (200, page_of({**TRANSFER, "status": "QUEUED"})),
        (200, page_of({**TRANSFER, "amount": Decimal("55.005")})),
        (200, page_of({**TRANSFER, "amount": "many"})),
        (200, page_of({**TRANSFER, "currency": None})),
        (200, page_of("row")),
        (400, error("Invalid request")),
        (404, b"proxy"),
        (404, error("Not found")),
        (500, error("Internal server error")),
        (200, b"[" * 100_000),
    ],
)
async def test_only_the_gateways_own_readable_report_counts(status: int, body: Any) -> None:
    assert isinstance(await gateway_with(status, body)[0].verify(REFERENCE), Unclear)


@pytest.mark.parametrize(("status", "kind"), [(400, Refused), (404, Refused), (429, Unclear), (500, Unclear)])
async def test_a_refused_transfer_is_definite_only_for_the_request(status: int, kind: type) -> None:
    result = await gateway_with(status, error("Insufficient balance"))[0].transfer(REFERENCE, "flw:1", 10_000)
    assert isinstance(result, kind)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_rejected_key_is_reported_and_is_no_response(status: int) -> None:
    gateway, _, rejected = gateway_with(status, error("Invalid authorization key"))
    with pytest.raises(GatewayKeyRejected):
        await gateway.balance_minor()
    with pytest.raises(GatewayKeyRejected):
        await gateway.account_name("0690000040", "044")
    assert isinstance(await gateway.transfer(REFERENCE, "flw:1", 10_000), Unclear)
    assert len(rejected) == 3
    proxy, _, alerts = gateway_with(status, b'{"detail": "forbidden"}')
    with pytest.raises(GatewayUnavailable):
        await proxy.balance_minor()
    assert alerts == []


async def test_balances_banks_and_names() -> None:
    balance = {"currency": "NGN", "available_balance": Decimal("21688.85"), "ledger_balance": Decimal("25312.82")}
    Draft202012Validator(transfers.BALANCE).validate(success(balance))
    assert await gateway_with(200, success(balance))[0].balance_minor() == 2_168_885
    negative = success({**balance, "available_balance": -5})
    assert await gateway_with(200, negative)[0].balance_minor() == -500
    for odd in (None, "", "x", True, Decimal("0.001"), []):
        with pytest.raises(GatewayUnavailable):
            await gateway_with(200, success({**balance, "available_balance": odd}))[0].balance_minor()
    banks = await gateway_with(
        200, success([{"id": 1, "code": "044", "name": "Access Bank"}, {"id": 2, "code": None}])
    )[0].banks()
    assert [(bank.code, bank.name) for bank in banks] == [("044", "Access Bank")]
    assert await gateway_with(400, error("account could not be validated"))[0].account_name("1", "044") is None


@pytest.mark.parametrize("odd", [None, [], {}, 7, "text", "\x00", True, Decimal("0.001")])
async def test_no_odd_field_ends_a_list(odd: Any) -> None:
    rows = [{**TRANSFER, name: odd} for name in TRANSFER] + [odd]
    page = await gateway_with(200, page_of(*rows, pages=2))[0].page_of_transfers(datetime(2026, 1, 1, tzinfo=UTC), 1)
    assert (len(page.transfers), page.is_last) == (len(rows), False)


@pytest.mark.parametrize(
    ("effective", "gateway", "expected"),
    [("success", "flutterwave", "reversed"), ("reversed", "flutterwave", "reversed"),
    ("pending", "flutterwave", "failed"),
     (None, "flutterwave", "failed"), ("success", "paystack", "failed")],
)  # fmt: skip
def test_a_failure_after_a_success_is_a_reversal_where_there_is_no_word_for_one(
    effective: Any, gateway: Any, expected: str
) -> None:
    transfer = LockedTransfer(
        new_id(),
        new_id(),
        new_id(),
        None,
        REFERENCE,
        "success",
        550_000,
        "NGN",
        "processed",
        effective,
        gateway=gateway,
    )
    assert as_reversal(transfer, TransferUpdate("query", "failed", 550_000, "NGN")).status == expected
    assert as_reversal(transfer, TransferUpdate("query", "success", 550_000, "NGN")).status == "success"


def test_the_example_has_the_documented_shape() -> None:
    Draft202012Validator(transfers.TRANSFER).validate(success(TRANSFER))
    Draft202012Validator(fields.ERROR).validate(error("Invalid authorization key"))
