"""Whole responses in the shapes of Paystack's documentation, checked against its schemas, and their records."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from payouts.domain.bank_accounts import Bank
from payouts.domain.errors import GatewayUnavailable
from payouts.domain.gateway_results import Absent, Recipient, Refused, Reported
from testkit.providers.paystack import checking

from .paystack import Responses, paystack

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
REFERENCE = "po-" + "7" * 32
TIMES = {"createdAt": "2026-02-03T04:05:06.000Z", "updatedAt": "2026-02-03T04:06:07.000Z"}
DETAILS = {
    "authorization_code": None,
    "account_number": "0690123456",
    "account_name": None,
    "bank_code": "044",
    "bank_name": "Access Bank",
}
RECIPIENT = {
    **TIMES,
    "active": True,
    "currency": "NGN",
    "description": "",
    "domain": "live",
    "email": None,
    "id": 31,
    "integration": 9,
    "metadata": None,
    "name": "Bola Ade",
    "recipient_code": "RCP_31",
    "type": "nuban",
    "is_deleted": False,
    "isDeleted": False,
    "details": DETAILS,
}
BY_CARD = {
    **RECIPIENT,
    "type": "authorization",
    "details": {**DETAILS, "authorization_code": "AUTH_1", "account_number": None},
}
TRANSFER = {
    **TIMES,
    "amount": 70_000,
    "currency": "NGN",
    "domain": "live",
    "failures": None,
    "id": 5,
    "integration": 9,
    "reason": "Vendor payout",
    "reference": REFERENCE,
    "source": "balance",
    "source_details": None,
    "status": "success",
    "titan_code": None,
    "transfer_code": "TRF_5",
    "request": 6,
    "transferred_at": None,
}
CREATED = {**TRANSFER, "transfersessionid": [], "transfertrials": [], "recipient": 31}
SHOWN = {
    **TRANSFER,
    "recipient": RECIPIENT,
    "session": {"provider": None, "id": None},
    "fee_charged": 1_000,
    "fees_breakdown": None,
    "gateway_response": None,
}
FAILED = {**SHOWN, "status": "failed", "fee_charged": 0, "gateway_response": "Beneficiary bank not available"}
BANK = {
    **TIMES,
    "name": "Access Bank",
    "slug": "access-bank",
    "code": "044",
    "longcode": "",
    "gateway": None,
    "pay_with_bank": False,
    "supports_transfer": True,
    "available_for_direct_debit": False,
    "active": True,
    "is_deleted": None,
    "country": "Nigeria",
    "currency": "NGN",
    "type": "nuban",
    "id": 1,
}
META = {"total": 2, "skipped": 0, "perPage": 50, "page": 1, "pageCount": 1}


def example(method, path, status, data, **further):
    """One response, checked against the schema of its operation."""
    body = {"status": status < 300, "message": "A message", **({} if data is None else {"data": data}), **further}
    checking.check_response(method, path, status, body)
    return paystack(Responses((status, body)))


@pytest.mark.parametrize(
    ("data", "status", "failure", "fee_minor"),
    [
        (SHOWN, "success", None, 1_000),
        ({**SHOWN, "recipient": BY_CARD, "session": {"provider": "nip", "id": "1100"}}, "success", None, 1_000),
        (FAILED, "failed", "Beneficiary bank not available", 0),
        ({**SHOWN, "status": "reversed", "gateway_response": None}, "reversed", None, 1_000),
        ({**SHOWN, "status": "received"}, "received", None, 1_000),
        ({name: value for name, value in SHOWN.items() if not name.startswith("fee")}, "success", None, None),
    ],
)
async def test_a_verified_transfer_is_read(data, status: str, failure: str | None, fee_minor: int | None) -> None:
    report = await example("GET", f"/transfer/verify/{REFERENCE}", 200, data).verify(REFERENCE)
    assert isinstance(report, Reported)
    update = report.update
    assert (update.status, update.failure, update.fee_minor) == (status, failure, fee_minor)
    assert (update.amount_minor, update.currency, update.transfer_code) == (70_000, "NGN", "TRF_5")


@pytest.mark.parametrize("status", ["success", "pending", "otp"])
async def test_a_created_transfer_is_read(status: str) -> None:
    report = await example("POST", "/transfer", 200, {**CREATED, "status": status}).transfer(
        REFERENCE, "RCP_31", 70_000
    )
    assert (report.update.status, report.update.failure, report.update.fee_minor) == (status, None, None)


async def test_an_unknown_transfer_is_absent() -> None:
    assert await example("GET", f"/transfer/verify/{REFERENCE}", 404, None).verify(REFERENCE) == Absent()


async def test_an_invalid_recipient_is_refused_with_the_gateways_message() -> None:
    meta = {
        "meta": {"nextStep": "Provide a valid recipient"},
        "type": "validation_error",
        "code": "invalid_transfer_recipient",
    }
    refused = await example("POST", "/transfer", 400, None, **meta).transfer(REFERENCE, "RCP_0", 70_000)
    assert refused == Refused("A message")


async def test_a_page_of_transfers_is_read() -> None:
    rows = [SHOWN, FAILED, {**SHOWN, "recipient": BY_CARD}]
    page = await example("GET", "/transfer", 200, rows, meta=META).page_of_transfers(SINCE, 1)
    assert [(row.status, row.account_number) for row in page.transfers] == [
        ("success", "0690123456"),
        ("failed", "0690123456"),
        ("success", ""),
    ]
    assert page.is_last


@pytest.mark.parametrize("data", [RECIPIENT, BY_CARD])
async def test_a_recipient_is_read(data) -> None:
    gateway = example("POST", "/transferrecipient", 201, data)
    assert await gateway.create_recipient(Recipient(uuid4(), "sealed", "044", "BOLA ADE")) == "RCP_31"


@pytest.mark.parametrize("further", [{}, {"meta": {"next": None, "previous": "YmFuazox", "perPage": 5}}])
async def test_a_list_of_banks_is_read(further: dict[str, Any]) -> None:
    assert await example("GET", "/bank", 200, [BANK], **further).banks() == [Bank("044", "Access Bank")]


async def test_an_account_and_a_balance_are_read() -> None:
    account = {"account_number": "0690123456", "account_name": "BOLA ADE", "bank_id": 1}
    assert await example("GET", "/bank/resolve", 200, account).account_name("0690123456", "044") == "BOLA ADE"
    balances = [{"currency": "GHS", "balance": 1}, {"currency": "NGN", "balance": 1_700_000}]
    assert await example("GET", "/balance", 200, balances).balance_minor() == 1_700_000


async def test_a_rate_limit_is_unavailable() -> None:
    limit = {"meta": {"nextStep": "Wait a few minutes"}, "type": "api_error", "code": "rate_limited"}
    with pytest.raises(GatewayUnavailable):
        await example("GET", "/balance", 429, None, **limit).balance_minor()
