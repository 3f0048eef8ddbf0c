"""A refund that the gateway cannot return by the payer's own means: maker and checker name the payer's account
(section 7).
"""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.auth.caller import THE_SERVICE
from payments.store.chargebacks import lock_unsent_refunds
from payments.timers import settle_refunds_once

from .conftest import PaymentsApp

DESTINATION = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "OKAFOR, Chidi"}
WITH_ACCOUNT = {"action": "other_destination", "reason": "the payer named it", "destination": DESTINATION}


async def _waiting(app: PaymentsApp, *, by_webhook: bool) -> str:
    """Return the id of a refund that needs the payer's account, reported by webhook or by a poll."""
    event = app.refund_requested(await app.paid_order(), 500_000)
    await app.receive(event)
    await app.work("payments.refunds")
    [refund] = await app.gateway.refunds()
    await app.gateway.control("POST", f"refunds/{refund['id']}/attention")
    if by_webhook:
        await app.process_webhook(await app.gateway.webhook("refund.needs-attention", refund["transaction_reference"]))
    else:
        app.clock.advance(timedelta(minutes=2))
        assert await settle_refunds_once(app.dependencies) == 1
    return str(event.refund_id)


async def _decide(app: PaymentsApp, refund_id: str) -> None:
    path = f"/api/refunds/{refund_id}"
    prepared = await app.post_as(f"{path}/prepare", WITH_ACCOUNT, "finance_maker")
    assert prepared.status_code == 200, prepared.text
    assert (await app.approve(path)).status_code == 200


async def _shown(app: PaymentsApp, refund_id: str) -> tuple[str, bool]:
    shown = await app.get_as(f"/api/refunds/{refund_id}")
    return shown["status"], shown["needsAccount"]


@pytest.mark.parametrize("by_webhook", [True, False])
async def test_it_waits_for_staff_with_an_alert(app: PaymentsApp, by_webhook: bool) -> None:
    refund_id = await _waiting(app, by_webhook=by_webhook)
    assert await _shown(app, refund_id) == ("failed", True)
    [alert] = await app.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"], alert["subject"]) == ("SEV-2", "refund-needs-attention", refund_id)
    assert (await app.balances())[f"refund_payable:{refund_id}"] == -500_000


async def test_the_approved_account_pays_the_gateways_own_refund(app: PaymentsApp) -> None:
    refund_id = await _waiting(app, by_webhook=True)
    await _decide(app, refund_id)
    await app.work("payments.refunds")
    assert await _shown(app, refund_id) == ("submitted", False)
    [refund] = await app.gateway.refunds()
    assert (refund["status"], await app.gateway.transfers()) == ("processing", [])
    await app.gateway.control("POST", f"refunds/{refund['id']}/process")
    await app.process_webhook(await app.gateway.webhook("refund.processed", refund["transaction_reference"]))
    assert await _shown(app, refund_id) == ("settled", False)
    assert await app.balances() == {}
    await app.check_ledger()


async def test_the_decision_of_two_users_closes_the_alert(app: PaymentsApp) -> None:
    refund_id = await _waiting(app, by_webhook=True)
    [alert] = await app.published("operations.alert_raised.v1")
    prepared = await app.post_as(f"/api/refunds/{refund_id}/prepare", WITH_ACCOUNT, "finance_maker")
    assert (prepared.status_code, await app.published("operations.alert_cleared.v1")) == (200, [])
    for _ in range(2):
        assert (await app.approve(f"/api/refunds/{refund_id}")).status_code == 200
    cleared = [event["dedupKey"] for event in await app.published("operations.alert_cleared.v1")]
    assert cleared == [alert["dedupKey"]]


async def test_a_failed_refund_that_is_paid_after_all_closes_the_alert(app: PaymentsApp) -> None:
    await _waiting(app, by_webhook=True)
    [alert] = await app.published("operations.alert_raised.v1")
    [refund] = await app.gateway.refunds()
    paid = {"data": {"status": "processed"}, "match": str(refund["id"])}
    await app.gateway.faults(verify_call=paid, listed_row=paid)
    data = {"transaction_reference": refund["transaction_reference"], "amount": "500000", "currency": "NGN"}
    for _ in range(2):
        await app.process_webhook({"event": "refund.processed", "data": data})
    cleared = [event["dedupKey"] for event in await app.published("operations.alert_cleared.v1")]
    assert cleared == [alert["dedupKey"]]


async def test_a_refund_that_never_failed_clears_no_alert(app: PaymentsApp) -> None:
    await app.receive(app.refund_requested(await app.paid_order(), 500_000))
    await app.work("payments.refunds")
    [refund] = await app.gateway.refunds()
    await app.gateway.control("POST", f"refunds/{refund['id']}/process")
    await app.process_webhook(await app.gateway.webhook("refund.processed", refund["transaction_reference"]))
    assert (await app.get_as("/api/refunds"))[0]["status"] == "settled"
    assert await app.published("operations.alert_cleared.v1") == []


async def test_a_lost_response_to_the_retry_pays_once(app: PaymentsApp) -> None:
    refund_id = await _waiting(app, by_webhook=True)
    await _decide(app, refund_id)
    await app.gateway.faults(refund_call={"error_after": True, "times": 1})
    with pytest.raises(Exception, match="500"):
        await app.work("payments.refunds")
    await app.requeue()
    await app.work("payments.refunds")
    assert await _shown(app, refund_id) == ("submitted", False)
    calls = [call for call in app.gateway.calls if "retry_with_customer_details" in call]
    assert len(calls) == 1


async def test_a_rejected_account_waits_for_staff_again(app: PaymentsApp) -> None:
    refund_id = await _waiting(app, by_webhook=True)
    await _decide(app, refund_id)
    await app.gateway.faults(refund_call={"error_before": 422, "times": 1})
    await app.work("payments.refunds")
    assert await _shown(app, refund_id) == ("failed", True)
    await _decide(app, refund_id)
    await app.work("payments.refunds")
    assert await _shown(app, refund_id) == ("submitted", False)


async def test_it_is_neither_sent_again_nor_offset(app: PaymentsApp) -> None:
    refund_id = await _waiting(app, by_webhook=True)
    retry: Any = {"action": "retry", "reason": "again"}
    response = await app.post_as(f"/api/refunds/{refund_id}/prepare", retry, "finance_maker")
    assert (response.status_code, response.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    [row] = await app.fetch("SELECT id, charge_id FROM refunds")
    assert row["id"] == UUID(refund_id)
    async with app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await lock_unsent_refunds(uow, row["charge_id"]) == []


async def test_a_refund_that_the_gateway_gives_up_can_be_sent_again(app: PaymentsApp) -> None:
    refund_id = await _waiting(app, by_webhook=True)
    [refund] = await app.gateway.refunds()
    await app.gateway.faults(verify_call={"data": {"status": "failed"}, "match": str(refund["id"])})
    data = {"transaction_reference": refund["transaction_reference"], "amount": "500000", "currency": "NGN"}
    for _ in range(2):
        await app.process_webhook({"event": "refund.failed", "data": data | {"refund_reference": uuid4().hex}})
    assert await _shown(app, refund_id) == ("failed", False)
    raised = [(alert["dedupKey"], alert["runbook"]) for alert in await app.published("operations.alert_raised.v1")]
    account_alert, failed_alert = f"refund-needs-account:{refund_id}", f"refund-failed:{refund_id}"
    assert raised == [(account_alert, "refund-needs-attention"), (failed_alert, "refund-failed")]
    cleared = await app.published("operations.alert_cleared.v1")
    assert [event["dedupKey"] for event in cleared] == [account_alert]
