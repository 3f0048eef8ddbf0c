"""The classification of each shape of Paystack's responses about transfers, accounts and banks."""

from datetime import UTC, datetime
from typing import Any

import pytest

from payouts.domain.bank_accounts import Bank
from payouts.domain.errors import GatewayKeyRejected, GatewayUnavailable
from payouts.domain.found_transfers import concerns_payouts, may_be_recorded
from payouts.domain.gateway_results import Recipient, Refused, Reported, Unclear
from payouts.domain.severity import cause_of

from .paystack import Responses, ok, paystack

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
REFERENCE = "po-" + "0" * 32
NARRATION = "Vendor payout"
TRANSFER = {
    "reference": REFERENCE,
    "status": "failed",
    "amount": 50_000,
    "currency": "NGN",
    "transfer_code": "TRF_1",
    "reason": NARRATION,
    "failures": None,
    "gateway_response": None,
}
ACCOUNT = ("0123456789", "044")
RECIPIENT = Recipient("9f4dd3e4-3f1a-4f43-9b6f-0d3c8d6f3a11", "sealed", "044", "ADA OBI")

# The fields that differ from TRANSFER -> the reason, and the cause of the severity table.
CAUSES = [
    ({}, None, "unclassified"),
    ({"gateway_response": "Issuer or switch inoperative"}, "Issuer or switch inoperative", "bank_switch_error"),
    ({"gateway_response": "Account number is invalid"}, "Account number is invalid", "account_number_invalid"),
    ({"gateway_response": " "}, None, "unclassified"),
    ({"failures": "Beneficiary bank not available"}, "Beneficiary bank not available", "bank_switch_error"),
    ({"failures": {"message": "Dormant account"}}, "Dormant account", "account_number_invalid"),
    ({"failures": {"code": 91}}, '{"code":91}', "unclassified"),
    ({"failures": [{"reason": "Request timed out"}, {"reason": "Do not honour"}]}, "Request timed out; Do not honour",
        "timeout"),
    ({"failures": []}, None, "unclassified"),
    ({"failures": {}}, None, "unclassified"),
    ({"failures": False}, None, "unclassified"),
    ({"gateway_response": "Name mismatch", "failures": {"message": "switch"}}, "Name mismatch", "name_mismatch"),
    ({"status": "reversed"}, None, "reversed"),
    ({"status": "reversed", "gateway_response": "Unable to locate record"}, "Unable to locate record", "reversed"),
    ({"status": "blocked"}, None, "unclassified"),
    ({"status": "rejected"}, None, "unclassified"),
    ({"status": "abandoned"}, None, "unclassified"),
    ({"gateway_response": "System malfunction"}, "System malfunction", "bank_switch_error"),
    ({"gateway_response": "Unable to locate record"}, "Unable to locate record", "account_number_invalid"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "reason", "cause"), CAUSES)
async def test_the_cause_is_read_from_the_gateways_fields(
    changes: dict[str, Any], reason: str | None, cause: str
) -> None:
    gateway = paystack(Responses(ok({**TRANSFER, **changes})))
    for report in (await gateway.verify(REFERENCE), await gateway.transfer(REFERENCE, "RCP_1", 50_000)):
        assert isinstance(report, Reported)
        assert report.update.failure == reason
        assert cause_of(report.update.status, report.update.reason) == cause


@pytest.mark.parametrize("narration", ["Account number is invalid", "switch timeout", None, {"message": "switch"}])
async def test_our_own_narration_is_never_a_cause(narration) -> None:
    report = await paystack(Responses(ok({**TRANSFER, "reason": narration}))).verify(REFERENCE)
    assert report.update.reason is None


FEES = [(1000, 1000), ("1000", 1000), (0, 0), (None, None), ({}, None), (-1, None), (1.5, None)]


@pytest.mark.parametrize(("charged", "fee_minor"), FEES)
async def test_the_fee_is_read_as_far_as_it_is_an_amount(charged, fee_minor: int | None) -> None:
    report = await paystack(Responses(ok({**TRANSFER, "status": "success", "fee_charged": charged}))).verify(REFERENCE)
    assert report.update.fee_minor == fee_minor


async def test_a_transfer_below_the_minimum_is_refused_without_a_call() -> None:
    responses = Responses(ok(TRANSFER))
    refused = await paystack(responses, minimum_minor=10_000).transfer(REFERENCE, "RCP_1", 9_999)
    assert isinstance(refused, Refused)
    assert "10000 kobo" in refused.reason
    assert responses.requests == []
    assert isinstance(await paystack(responses, minimum_minor=10_000).transfer(REFERENCE, "RCP_1", 10_000), Reported)


@pytest.mark.parametrize(
    "reference", ["po-1", "po-" + "A" * 32, "po-" + "0" * 48, "po." + "0" * 32, "po-" + "0" * 32 + "\n"]
)
async def test_a_reference_that_paystack_rejects_is_refused_without_a_call(reference) -> None:
    responses = Responses(ok(TRANSFER))
    assert isinstance(await paystack(responses).transfer(reference, "RCP_1", 50_000), Refused)
    assert responses.requests == []


@pytest.mark.parametrize("code", [None, "", {}, 7])
async def test_a_recipient_without_a_code_is_unclear(code) -> None:
    assert isinstance(await paystack(Responses(ok({"recipient_code": code}))).create_recipient(RECIPIENT), Unclear)


NO_SUCH_ACCOUNT = {"status": False, "message": "Could not resolve account name. Check parameters or try again."}
INVALID = {**NO_SUCH_ACCOUNT, "type": "validation_error", "code": "invalid_bank_code"}


@pytest.mark.parametrize(("status", "body"), [(422, NO_SUCH_ACCOUNT), (422, INVALID), (400, INVALID), (404, INVALID)])
async def test_paystacks_own_report_of_no_such_account_is_none(status: int, body) -> None:
    assert await paystack(Responses((status, body))).account_name(*ACCOUNT) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"status": False, "message": "Rate limit exceeded!", "type": "api_error", "code": "rate_limited"}),
        (400, {"status": False, "message": "Test mode daily limit of 3 live bank resolves exceeded."}),
        (404, {"status": False, "message": "Entity not found"}),
        (422, {**NO_SUCH_ACCOUNT, "type": "processor_error"}),
        (422, {"message": "a proxy"}),
        (422, b"<html>"),
        (401, b"<html>"),
        (500, {"status": False, "message": "An error occurred"}),
        (200, {"status": True, "data": {"account_name": None}}),
        (200, {"status": True, "data": {"account_name": {"name": "ADA"}}}),
        (200, {"status": True, "data": None}),
    ],
)
async def test_no_other_response_is_a_report_of_no_such_account(status: int, body) -> None:
    responses = Responses((status, body))
    with pytest.raises(GatewayUnavailable) as raised:
        await paystack(responses).account_name(*ACCOUNT)
    assert not isinstance(raised.value, GatewayKeyRejected)
    assert responses.key_rejections == 0


@pytest.mark.parametrize("status", [401, 403])
async def test_a_rejected_key_is_reported_by_every_call(status: int) -> None:
    responses = Responses((status, {"status": False, "message": "Invalid key"}))
    gateway = paystack(responses)
    reads = (
        gateway.balance_minor(),
        gateway.banks(),
        gateway.account_name(*ACCOUNT),
        gateway.page_of_transfers(SINCE, 1),
    )
    for read in reads:
        with pytest.raises(GatewayKeyRejected):
            await read
    assert isinstance(await gateway.create_recipient(RECIPIENT), Unclear)
    assert isinstance(await gateway.transfer(REFERENCE, "RCP_1", 50_000), Unclear)
    assert isinstance(await gateway.verify(REFERENCE), Unclear)
    assert responses.key_rejections == len(responses.requests) == 7


def bank(code, name="Access Bank", **changes):
    return {"code": code, "name": name, "currency": "NGN", "active": True, "is_deleted": False, **changes}


async def test_the_bank_list_is_read_to_its_last_cursor() -> None:
    responses = Responses(
        ok(
            [bank("044"), bank("058", "Guaranty Trust Bank")], meta={"next": "YmFuazox", "previous": None, "perPage": 2}
        ),
        ok([bank("801", "Abbey Mortgage Bank", updatedAt=None)], meta={"next": None}),
    )
    listed = await paystack(responses).banks()
    assert listed == [
        Bank("044", "Access Bank"),
        Bank("058", "Guaranty Trust Bank"),
        Bank("801", "Abbey Mortgage Bank"),
    ]
    assert [request.url.params.get("next") for request in responses.requests] == [None, "YmFuazox"]
    assert responses.requests[0].url.params["currency"] == "NGN"


@pytest.mark.parametrize(
    "changes",
    [
        {"active": False},
        {"is_deleted": True},
        {"supports_transfer": False},
        {"currency": "GHS"},
        {"code": ""},
        {"name": None},
    ],
)
async def test_a_bank_without_transfers_in_naira_is_not_listed(changes: dict[str, Any]) -> None:
    listed = await paystack(Responses(ok([bank("044"), bank("058") | changes]))).banks()
    assert [entry.code for entry in listed] == ["044"]


@pytest.mark.parametrize("data", [None, {"banks": []}, "044"])
async def test_a_malformed_bank_list_is_unavailable(data) -> None:
    with pytest.raises(GatewayUnavailable):
        await paystack(Responses(ok(data))).banks()


@pytest.mark.parametrize("odd", [None, "044", 7, {}, {"code": {}, "name": "A"}])
async def test_an_odd_row_hides_no_bank_and_no_balance(odd) -> None:
    assert await paystack(Responses(ok([odd, bank("044")], meta=[]))).banks() == [Bank("044", "Access Bank")]
    assert await paystack(Responses(ok([odd, {"currency": "NGN", "balance": "7"}]))).balance_minor() == 7


async def test_a_bank_list_without_an_end_is_unavailable() -> None:
    with pytest.raises(GatewayUnavailable):
        await paystack(Responses(ok([bank("044")], meta={"next": "again"}))).banks()


LISTED = {
    **TRANSFER,
    "status": "success",
    "createdAt": "2026-01-02T03:04:05.000Z",
    "recipient": {"details": {"account_number": "0123456789", "bank_code": "044"}},
}


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": None},
        {"amount": {"value": 1}},
        {"recipient": None},
        {"recipient": 56824902},
        {"recipient": {"details": None}},
        {"recipient": {"details": {"account_number": None, "bank_code": None, "authorization_code": "AUTH_1"}}},
        {"currency": None},
        {"reference": None},
        {"reference": None, "transfer_code": None},
        {"status": "processing"},
        {"status": None},
    ],
)
async def test_an_odd_row_of_the_list_becomes_a_case_and_hides_no_other(changes: dict[str, Any]) -> None:
    page = await paystack(Responses(ok([{**LISTED, **changes}, LISTED]))).page_of_transfers(SINCE, 1)
    odd, good = page.transfers
    assert may_be_recorded(good)
    assert concerns_payouts(odd)
    assert odd.reference
    assert not may_be_recorded(odd) or odd.status not in ("success", "pending")


async def test_a_row_that_is_no_object_is_a_case_with_a_stable_reference() -> None:
    pages = [await paystack(Responses(ok(["?", LISTED]))).page_of_transfers(SINCE, 1) for _ in range(2)]
    [first, second] = [page.transfers[0] for page in pages]
    assert first == second
    assert concerns_payouts(first)
    assert (first.amount_minor, first.created_at) == (0, SINCE)


async def test_times_of_the_list_are_read_in_either_spelling() -> None:
    row = {key: value for key, value in LISTED.items() if key != "createdAt"}
    responses = Responses(ok([{**row, "created_at": "2026-01-02T03:04:05"}, {**LISTED, "createdAt": "soon"}]))
    page = await paystack(responses).page_of_transfers(SINCE, 1)
    assert [transfer.created_at for transfer in page.transfers] == [datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), SINCE]
