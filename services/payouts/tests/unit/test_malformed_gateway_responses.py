"""Every response of the payment gateway ends a call as reported, refused or unclear: nothing passes unchecked."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from payouts.clients.paystack import Paystack
from payouts.domain.errors import GatewayUnavailable
from payouts.domain.found_transfers import may_be_recorded
from payouts.domain.gateway_results import Recipient, Reported, Unclear

from .paystack import Responses, ok, paystack

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
REFERENCE = "po-" + "0" * 32
TRANSFER = {"reference": REFERENCE, "status": "success", "amount": 5_000, "currency": "NGN", "transfer_code": "TRF_1"}
# 2^63 and more fit no column, half a kobo is no amount, and true is no number.
NO_AMOUNTS = (2**63, 10**30, -1, 5_000.5, True, None, "5000.0", "-5000", [5_000])
MALFORMED_BODIES = (
    b"",
    b"\xff\xfe",
    b'{"status": true, "data": "\xff"}',
    b"<html>",
    b'{"data": "\xff"}',
    b"[" * 100_000,
    b'{"data": null}',
    b"[]",
    b'{"data": {"amount": 1e999}}',
)


def gateway(body: Any) -> Paystack:
    return paystack(Responses((200, body) if isinstance(body, bytes) else ok(body)))


@pytest.mark.parametrize("amount", NO_AMOUNTS)
async def test_a_transfer_with_an_invalid_amount_is_unclear(amount: Any) -> None:
    body = {**TRANSFER, "amount": amount}
    assert isinstance(await gateway(body).verify(REFERENCE), Unclear)
    assert isinstance(await gateway(body).transfer(REFERENCE, "RCP_1", 5_000), Unclear)
    listed = {**body, "createdAt": "2026-01-01T00:00:00Z"}
    listed["recipient"] = {"details": {"account_number": "0123456789", "bank_code": "044"}}
    [transfer] = (await gateway([listed]).page_of_transfers(SINCE, 1)).transfers
    assert transfer.amount_minor == 0
    assert not may_be_recorded(transfer)


@pytest.mark.parametrize("balance", [amount for amount in NO_AMOUNTS if amount != -1])
async def test_an_invalid_balance_is_unavailable(balance: Any) -> None:
    with pytest.raises(GatewayUnavailable):
        await gateway([{"currency": "NGN", "balance": balance}]).balance_minor()


async def test_a_negative_balance_is_valid() -> None:
    assert await gateway([{"currency": "NGN", "balance": -1}]).balance_minor() == -1


async def test_a_success_status_with_a_failure_body_is_unclear() -> None:
    raw_body = json.dumps({"status": False, "message": "Transfer requires OTP", "data": TRANSFER}).encode()
    assert isinstance(await gateway(raw_body).verify(REFERENCE), Unclear)
    assert isinstance(await gateway(raw_body).transfer(REFERENCE, "RCP_1", 5_000), Unclear)


async def test_an_amount_as_digits_is_valid() -> None:
    for amount in (5_000, "5000"):
        response = await gateway({**TRANSFER, "amount": amount}).verify(REFERENCE)
        assert isinstance(response, Reported)
        assert response.update.amount_minor == 5_000


@pytest.mark.parametrize("body", MALFORMED_BODIES)
async def test_a_malformed_body_has_no_result(body: bytes) -> None:
    malformed = gateway(body)
    assert isinstance(await malformed.verify(REFERENCE), Unclear)
    assert isinstance(await malformed.transfer(REFERENCE, "RCP_1", 5_000), Unclear)
    assert isinstance(await malformed.create_recipient(Recipient(uuid4(), "sealed", "044", "ADA OBI")), Unclear)
    for call in (
        malformed.balance_minor(),
        malformed.account_name("0123456789", "044"),
        malformed.page_of_transfers(SINCE, 1),
        malformed.banks(),
    ):
        with pytest.raises(GatewayUnavailable):
            await call
