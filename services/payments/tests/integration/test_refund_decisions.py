"""Maker and checker resend a failed refund: under a new reference, or to a bank account (section 7)."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import RefundContradiction, RefundOutcomeUnknown
from payments.timers import settle_refunds_once

from .conftest import PaymentsApp
from .steps import ACCOUNT_NUMBER, DESTINATION, OTHER_DESTINATION, RETRY

APPROVAL = {"hash": "0" * 64}
ROUNDS = 10


def _path(refund_id: str, verb: str = "") -> str:
    return f"/api/refunds/{refund_id}{verb}"


async def _prepare(app: PaymentsApp, refund_id: str, body: Any = None, user: Any = None) -> Any:
    return await app.post_as(_path(refund_id, "/prepare"), body or RETRY, "finance_maker", user)


async def _approve(app: PaymentsApp, refund_id: str, user: Any = None) -> Any:
    return await app.approve(_path(refund_id), user)


async def _resend(app: PaymentsApp, refund_id: str, body: Any = None) -> None:
    """Prepare and approve a decision, and process the refund."""
    assert (await _prepare(app, refund_id, body)).status_code == 200
    assert (await _approve(app, refund_id)).status_code == 200
    await app.work("payments.refunds")


async def _sent_to_account(app: PaymentsApp) -> tuple[str, dict[str, Any]]:
    """Return a refund sent to a bank account, and its transfer."""
    refund_id = await app.failed_refund()
    await _resend(app, refund_id, OTHER_DESTINATION)
    [transfer] = await app.gateway.transfers()
    return refund_id, transfer


async def _move_transfer(app: PaymentsApp, transfer: dict[str, Any], action: str) -> None:
    """Let the transfer succeed or be reversed at the gateway; process its webhook."""
    await app.process_webhook(await app.gateway.move_transfer(transfer["reference"], action))


async def test_a_failed_refund_is_sent_again_under_a_new_reference(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    failed = await app.get_as(_path(refund_id))
    assert (failed["status"], failed["failure"], failed["decision"]) == ("failed", "the card is closed", None)
    maker, checker, payable = uuid4(), uuid4(), await app.balances()
    prepared = await _prepare(app, refund_id, user=maker)
    assert prepared.status_code == 200, prepared.text
    assert prepared.json()["data"]["status"] == "prepared"
    approved = (await _approve(app, refund_id, checker)).json()["data"]
    assert (approved["status"], approved["decision"]["status"]) == ("pending", "approved")
    assert (approved["decision"]["preparedBy"], approved["decision"]["decidedBy"]) == (str(maker), str(checker))
    assert approved["reference"] != failed["reference"]
    assert await app.balances() == payable

    await app.work("payments.refunds")
    old, new = await app.gateway.refunds()
    assert (new["amount"], new["merchant_note"]) == (old["amount"], approved["reference"])
    await app.report_refund(new)
    assert (await app.get_as(_path(refund_id)))["status"] == "settled"
    assert await app.balances() == {}
    assert len(await app.published("payments.refund_settled.v1")) == 1
    assert (await _prepare(app, refund_id)).status_code == 409
    await app.check_ledger()


async def test_a_refund_goes_to_a_bank_account_whose_number_is_written_nowhere(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    destination = (await _prepare(app, refund_id, OTHER_DESTINATION)).json()["data"]["decision"]["destination"]
    assert destination == {
        "last4": "6789",
        "bankCode": "058",
        "accountName": "Chidi Okafor",
        "nameAtBank": "OKAFOR CHIDI",
        "verified": True,
    }
    await _approve(app, refund_id)
    await app.work("payments.refunds")
    [transfer] = await app.gateway.transfers()
    assert (transfer["amount"], len(await app.gateway.refunds())) == (500_000, 1)
    assert transfer["recipient"]["details"]["account_number"] == ACCOUNT_NUMBER
    assert ACCOUNT_NUMBER not in json.dumps(await app.snapshot(), default=str)

    await _move_transfer(app, transfer, "succeed")
    assert (await app.get_as(_path(refund_id)))["status"] == "settled"
    assert await app.balances() == {}
    assert await app.published("payments.transfer_succeeded.v1") == [], "payouts knows nothing of it"
    await app.check_ledger()


async def _refused(app: PaymentsApp, response: Any, refund_id: str, status: int) -> str:
    """Return the detail of a rejected preparation, which changed and registered nothing."""
    assert response.status_code == status, response.text
    assert (await app.get_as(_path(refund_id)))["status"] == "failed"
    assert await app.fetch("SELECT 1 FROM refund_decisions") == []
    assert [call for call in app.gateway.calls if "transferrecipient" in call] == []
    return str(response.json()["detail"])


async def test_an_account_that_the_bank_does_not_confirm_is_422(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    for unknown in ({"accountNumber": "0123456780"}, {"bankCode": "999"}):
        body = {**OTHER_DESTINATION, "destination": DESTINATION | unknown}
        assert "does not confirm this account" in await _refused(
            app, await _prepare(app, refund_id, body), refund_id, 422
        )


@pytest.mark.parametrize("fault", [{"error_before": 500}, {"error_before": 429}])
async def test_a_name_lookup_without_a_response_is_503(app: PaymentsApp, fault: dict[str, Any]) -> None:
    refund_id = await app.failed_refund()
    await app.gateway.faults(resolve_call={**fault, "times": 1})
    await _refused(app, await _prepare(app, refund_id, OTHER_DESTINATION), refund_id, 503)
    assert (await _prepare(app, refund_id, OTHER_DESTINATION)).status_code == 200


async def test_a_refund_below_the_transfer_minimum_goes_to_no_account(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund(9_999)
    balances_before = await app.balances()
    detail = await _refused(app, await _prepare(app, refund_id, OTHER_DESTINATION), refund_id, 409)
    assert "at least ₦100.00" in detail
    assert "stays owed to the payer" in detail
    assert await app.balances() == balances_before
    await _resend(app, refund_id)
    await app.report_refund((await app.gateway.refunds())[-1])
    assert (await app.get_as(_path(refund_id)))["status"] == "settled"


async def test_a_transfer_below_the_minimum_fails_without_a_call(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund(9_999)
    # Prepared while the minimum was lower.
    app.paystack.transfer_minimum_minor = 1
    assert (await _prepare(app, refund_id, OTHER_DESTINATION)).status_code == 200
    app.paystack.transfer_minimum_minor = 10_000
    assert (await _approve(app, refund_id)).status_code == 200
    await app.work("payments.refunds")
    shown = await app.get_as(_path(refund_id))
    assert (shown["status"], shown["failure"]) == (
        "failed",
        "400: amount_below_minimum: the gateway transfers at least 10000 kobo",
    )
    assert [call for call in app.gateway.calls if call == "POST /transfer"] == []
    assert (await app.balances())[f"refund_payable:{refund_id}"] == -9_999
    assert (await app.published("operations.alert_raised.v1"))[-1]["dedupKey"] == f"refund-failed:{refund_id}"


async def test_a_returned_transfer_is_payable_again(app: PaymentsApp) -> None:
    refund_id, transfer = await _sent_to_account(app)
    await _move_transfer(app, transfer, "succeed")
    await _move_transfer(app, transfer, "reverse")
    assert (await app.get_as(_path(refund_id)))["status"] == "failed"
    assert await app.balances() == {"gateway_cash": 500_000, f"refund_payable:{refund_id}": -500_000}
    assert len(await app.published("payments.refund_failed.v1")) == 2
    await _resend(app, refund_id)
    await app.report_refund((await app.gateway.refunds())[-1])
    assert await app.balances() == {}
    await app.check_ledger()


@pytest.mark.parametrize(("last", "expected"), [([], "failed"), (["succeed"], "settled")])
async def test_transfer_updates_out_of_order_are_resolved_by_polling(
    app: PaymentsApp, last: list[str], expected: str
) -> None:
    refund_id, transfer = await _sent_to_account(app)
    webhooks = [
        await app.gateway.move_transfer(transfer["reference"], action) for action in ("succeed", "reverse", *last)
    ]
    for webhook in reversed(webhooks[:2]):
        await app.process_webhook(webhook)
    await settle_refunds_once(app.dependencies)
    assert (await app.get_as(_path(refund_id)))["status"] == expected
    await app.check_ledger()


async def test_polling_settles_a_transfer_and_finds_a_lost_response(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    await _prepare(app, refund_id, OTHER_DESTINATION)
    await _approve(app, refund_id)
    await app.gateway.faults(transfer_call={"error_after": True, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await app.work("payments.refunds")
    await app.requeue()
    await app.work("payments.refunds")
    [transfer] = await app.gateway.transfers()
    assert (await app.get_as(_path(refund_id)))["status"] == "submitted"
    app.clock.advance(timedelta(minutes=2))
    await app.gateway.move_transfer(transfer["reference"], "succeed")
    assert await settle_refunds_once(app.dependencies) == 1
    assert await app.balances() == {}


async def test_a_resend_needs_the_gateways_confirmation_of_the_failure(
    app: PaymentsApp,
) -> None:
    refund_id = await app.failed_refund()
    await app.gateway.faults(verify_call={"data": {"status": "processing"}})
    await _prepare(app, refund_id)
    await _approve(app, refund_id)
    with pytest.raises(RefundOutcomeUnknown):
        await app.work("payments.refunds")
    await app.gateway.faults(verify_call={"error_before": True})
    await app.requeue()
    with pytest.raises(GatewayUnavailable):
        await app.work("payments.refunds")
    assert (len(await app.gateway.refunds()), (await app.get_as(_path(refund_id)))["status"]) == (1, "pending")
    await app.gateway.faults(verify_call=None)
    await app.requeue()
    await app.work("payments.refunds")
    assert len(await app.gateway.refunds()) == 2


async def test_a_late_success_of_the_failed_attempt_settles_the_refund(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    await app.gateway.faults(verify_call={"data": {"status": "processed"}})
    await _resend(app, refund_id)
    assert (len(await app.gateway.refunds()), (await app.get_as(_path(refund_id)))["status"]) == (1, "settled")
    assert await app.balances() == {}
    await app.check_ledger()


async def test_a_replaced_transfer_that_arrives_is_the_payment_until_the_bank_returns_it(app: PaymentsApp) -> None:
    refund_id, transfer = await _sent_to_account(app)
    await _move_transfer(app, transfer, "fail")
    await _prepare(app, refund_id)
    await _approve(app, refund_id)
    await app.gateway.faults(verify_call={"data": {"status": "success"}, "match": transfer["reference"]})
    await app.process_webhook({"event": "transfer.success", "data": {**transfer, "status": "success"}})
    assert await app.balances() == {}
    # The approved attempt is not sent, and another report about the same payment is no second one.
    await app.work("payments.refunds")
    again = {**transfer, "id": 1, "status": "success"}
    await app.process_webhook({"event": "transfer.success", "data": again})
    assert (len(await app.gateway.refunds()), (await app.get_as(_path(refund_id)))["status"]) == (1, "settled")
    await app.process_webhook({"event": "transfer.reversed", "data": {**transfer, "status": "reversed"}})
    assert (await app.get_as(_path(refund_id)))["status"] == "failed"
    assert await app.balances() == {"gateway_cash": 500_000, f"refund_payable:{refund_id}": -500_000}
    await app.gateway.faults(verify_call={"data": {"status": "reversed"}, "match": transfer["reference"]})
    await _resend(app, refund_id)
    assert len(await app.gateway.refunds()) == 2
    await app.check_ledger()


async def test_a_settlement_closes_a_waiting_decision(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    await _prepare(app, refund_id)
    await app.report_refund((await app.gateway.refunds())[0])
    settled = await app.get_as(_path(refund_id))
    assert (settled["status"], settled["decision"]["status"]) == ("settled", "overtaken")
    before = await app.snapshot()
    assert (await _approve(app, refund_id)).status_code == 409
    assert await app.snapshot() == before


async def test_a_double_payout_of_two_attempts_is_alerted(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    await _resend(app, refund_id)
    with pytest.raises(RefundContradiction):
        await app.report_refund((await app.gateway.refunds())[0])
    assert (await app.get_as(_path(refund_id)))["status"] == "submitted"


async def test_a_rejected_request_changes_nothing(app: PaymentsApp) -> None:
    maker = uuid4()
    prepared = await app.failed_refund()
    assert (await _prepare(app, prepared, user=maker)).status_code == 200
    failed = await app.failed_refund()
    _, foreign = await app.quarantined(paid_in="GHS")
    await app.post_as(
        f"/api/quarantined-charges/{foreign}/prepare", {"outcome": "return", "reason": "x"}, "finance_maker"
    )
    returned = await app.approve(f"/api/quarantined-charges/{foreign}")
    in_cedi = returned.json()["data"]["refundId"]
    await app.gateway.faults(refund_call={"error_before": 400, "times": 1})
    await app.work("payments.refunds")
    assert (await app.get_as(_path(in_cedi)))["status"] == "failed"
    before = await app.snapshot()

    async def rejected(
        status: int, code: str, path: str, body: Any, role: str, user: Any = None, *, stepped_up: bool = True
    ) -> None:
        response = await app.post_as(path, body, role, user, stepped_up=stepped_up)
        assert (response.status_code, response.json()["code"]) == (status, code), (path, role, body, response.text)
        assert ACCOUNT_NUMBER not in response.text

    conflict, forbidden = (409, "CONCURRENCY_CONFLICT"), (403, "AUTH_FORBIDDEN")
    await rejected(*conflict, _path(prepared, "/prepare"), RETRY, "finance_maker")
    await rejected(*conflict, _path(failed, "/approve"), APPROVAL, "finance_checker")
    await rejected(*conflict, _path(failed, "/reject"), {"reason": "x"}, "finance_checker")
    await rejected(*conflict, _path(in_cedi, "/prepare"), OTHER_DESTINATION, "finance_maker")
    await rejected(*forbidden, _path(prepared, "/approve"), APPROVAL, "finance_checker", maker)
    await rejected(*forbidden, _path(prepared, "/reject"), {"reason": "x"}, "finance_checker", maker)
    for verb, sent, role in (
        ("/prepare", RETRY, "finance_maker"),
        ("/approve", APPROVAL, "finance_checker"),
        ("/reject", {"reason": "wait"}, "finance_checker"),
    ):
        await rejected(403, "AUTH_AAL2_REQUIRED", _path(prepared, verb), sent, role, stepped_up=False)
    await rejected(422, "VALIDATION_FAILED", _path(prepared, "/approve"), {}, "finance_checker")
    await rejected(*conflict, _path(prepared, "/approve"), APPROVAL, "finance_checker")
    for role in ("buyer", "finance_checker", "auditor", "platform_admin"):
        await rejected(*forbidden, _path(failed, "/prepare"), RETRY, role)
    for role in ("buyer", "finance_maker", "auditor", "platform_admin"):
        await rejected(*forbidden, _path(prepared, "/approve"), APPROVAL, role)
    for body in (
        {},
        RETRY | {"reason": ""},
        RETRY | {"destination": DESTINATION},
        RETRY | {"amountMinor": 1},
        {"action": "other_destination", "reason": "x"},
        OTHER_DESTINATION | {"destination": DESTINATION | {"accountNumber": "012345678"}},
        OTHER_DESTINATION | {"destination": DESTINATION | {"bankCode": "0 8"}},
        OTHER_DESTINATION | {"destination": DESTINATION | {"recipient": "RCP_1"}},
    ):
        await rejected(422, "VALIDATION_FAILED", _path(failed, "/prepare"), body, "finance_maker")
    no_bank = OTHER_DESTINATION | {"destination": DESTINATION | {"bankCode": "000"}}
    await rejected(422, "VALIDATION_FAILED", _path(failed, "/prepare"), no_bank, "finance_maker")
    await app.gateway.faults(resolve_call={"error_before": 503, "times": 1})
    await rejected(503, "INTERNAL_ERROR", _path(failed, "/prepare"), OTHER_DESTINATION, "finance_maker")
    await rejected(404, "RESOURCE_NOT_FOUND", _path(str(uuid4()), "/prepare"), RETRY, "finance_maker")
    await rejected(404, "RESOURCE_NOT_FOUND", _path(str(uuid4()), "/approve"), APPROVAL, "finance_checker")
    assert await app.snapshot() == before


async def test_a_rejected_decision_is_prepared_again(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    await _prepare(app, refund_id)
    rejected = await app.post_as(_path(refund_id, "/reject"), {"reason": "wait"}, "finance_checker")
    assert (rejected.json()["data"]["status"], (await _approve(app, refund_id)).status_code) == ("failed", 409)
    await _resend(app, refund_id)
    await app.report_refund((await app.gateway.refunds())[-1], "failed", reason="again")
    before = await app.snapshot()
    assert (await _approve(app, refund_id)).status_code == 409
    assert await app.snapshot() == before
    assert (await _prepare(app, refund_id, OTHER_DESTINATION)).status_code == 200


async def test_an_approval_is_of_the_destination_that_was_read(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    read = (await _prepare(app, refund_id, OTHER_DESTINATION)).json()["data"]
    assert read["hash"] == read["decision"]["hash"] == (await app.get_as(_path(refund_id), "finance_checker"))["hash"]
    await app.post_as(_path(refund_id, "/reject"), {"reason": "wait"}, "finance_checker")
    other = OTHER_DESTINATION | {"destination": DESTINATION | {"accountNumber": "9876543210"}}
    assert (await _prepare(app, refund_id, other)).json()["data"]["hash"] != read["hash"]
    before = await app.snapshot()
    rejected = await app.post_as(_path(refund_id, "/approve"), {"hash": read["hash"]}, "finance_checker")
    assert (rejected.status_code, rejected.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert await app.snapshot() == before
    for column, value in (("recipient_code", "RCP_0"), ("account_name", "Someone Else"), ("account_last4", "0000")):
        shown = (await app.get_as(_path(refund_id)))["hash"]
        await app.fetch(f"UPDATE refund_decisions SET {column} = '{value}' WHERE status = 'prepared' RETURNING 1")
        assert (await app.get_as(_path(refund_id)))["hash"] != shown, column


async def test_concurrent_checkers_make_one_attempt(app: PaymentsApp) -> None:
    for _ in range(ROUNDS):
        refund_id = await app.failed_refund()
        await _prepare(app, refund_id)
        responses = await asyncio.gather(*(_approve(app, refund_id) for _ in range(3)))
        assert [response.status_code for response in responses] == [200] * 3
        sent = len(await app.gateway.refunds())
        assert await app.work("payments.refunds") == 1
        assert len(await app.gateway.refunds()) == sent + 1
    attempts = await app.fetch("SELECT count(*) FROM failed_refund_attempts GROUP BY refund_id")
    assert [row["count"] for row in attempts] == [1] * ROUNDS
    await app.check_ledger()


async def test_refunds_are_listed_by_status_kind_order_and_amount(app: PaymentsApp) -> None:
    small, large = await app.failed_refund(1_000), await app.failed_refund(2_000)
    listed = await app.get_as("/api/refunds?sort=amount&order=desc&status=failed&kind=order")
    assert [row["id"] for row in listed] == [large, small]
    order_id = listed[0]["orderId"]
    assert [row["id"] for row in await app.get_as(f"/api/refunds?orderId={order_id}", "finance_maker")] == [large]
    assert await app.get_as("/api/refunds?status=settled", "finance_checker") == []
    headers = app.headers(uuid4(), roles=("auditor",))
    for query in ("status=lost", "kind=gift", "orderId=1", "sort=kind", "limit=0"):
        assert (await app.client.get(f"/api/refunds?{query}", headers=headers)).status_code == 422
    other_user = app.headers(uuid4())
    assert (await app.client.get("/api/refunds", headers=other_user)).json()["data"] == []
    assert (await app.client.get(_path(small), headers=other_user)).status_code == 404
    assert (await app.client.get(_path(str(uuid4())), headers=headers)).status_code == 404
