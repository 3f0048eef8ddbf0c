"""Responses to disputes: their date, evidence, and one resolution that the gateway gets, whatever fails on the way."""

import base64
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from common.documents.document import local_time
from payments.timers import alert_due_chargebacks_once, query_disputes_once, submit_responses_once

from .conftest import PaymentsApp
from .steps import CONTEST, FAR, FILE, SandboxApp, disputed_charge, process_event

EVIDENCE = {
    "customerEmail": "buyer@unilag.edu.ng",
    "customerName": "Chidi Okafor",
    "customerPhone": "+2348012345678",
    "serviceDetails": "Two textbooks, collected at the hub with a code",
    "deliveryDate": "2026-01-31",
}
_AS_SENT = {
    "customer_email": "buyer@unilag.edu.ng",
    "customer_name": "Chidi Okafor",
    "customer_phone": "+2348012345678",
    "service_details": "Two textbooks",
}
ACCEPT = {"resolution": "accept", "message": "Our fault", "attachment": FILE}
ALERT = "operations.alert_raised.v1"


async def _respond(
    app: PaymentsApp, chargeback: dict[str, Any], action: str, body: Any, user: UUID | None = None
) -> httpx.Response:
    return await app.post_as(f"/api/chargebacks/{chargeback['id']}/{action}", body, "finance_maker", user)


async def _shown(app: PaymentsApp, chargeback: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = await app.get_as(f"/api/chargebacks/{chargeback['id']}")
    return shown


async def _sent(sandbox: httpx.AsyncClient, dispute_id: int) -> tuple[int, int]:
    """Return the number of evidence records and of files at the gateway."""
    sent = (await sandbox.get(f"/control/disputes/{dispute_id}/evidence")).json()
    return len(sent["evidence"]), len(sent["files"])


async def _submit(app: PaymentsApp, after: timedelta = timedelta()) -> int:
    app.clock.advance(after)
    return await submit_responses_once(app.dependencies)


async def test_the_date_of_a_dispute_is_shown(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    _, chargeback, _ = await disputed_charge(app, sandbox)
    assert (chargeback["dueAt"], chargeback["respondedAt"]) == (FAR, None)
    assert (await _shown(app, chargeback))["responses"] == []
    _, undated, _ = await disputed_charge(app, sandbox, None, 2)
    assert undated["dueAt"] is None
    assert [one["dueAt"] for one in await app.get_as("/api/chargebacks?sort=due_at&order=asc")] == [FAR, None]


async def test_evidence_then_a_contest_reach_the_gateway_and_keep_no_personal_data(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    _, chargeback, dispute_id = await disputed_charge(app, sandbox)
    maker = uuid4()
    response = await _respond(app, chargeback, "evidence", EVIDENCE, maker)
    assert response.status_code == 200, response.text
    assert response.json()["data"]["responses"][0]["status"] == "submitting"
    assert await _submit(app) == 1
    assert (await _respond(app, chargeback, "resolve", CONTEST, maker)).status_code == 200
    assert (await _respond(app, chargeback, "evidence", EVIDENCE)).status_code == 409
    assert await _submit(app) == 1
    sent = (await sandbox.get(f"/control/disputes/{dispute_id}/evidence")).json()
    assert sent["evidence"] == [
        {
            "customer_email": "buyer@unilag.edu.ng",
            "customer_name": "Chidi Okafor",
            "customer_phone": "+2348012345678",
            "service_details": "Two textbooks, collected at the hub with a code",
            "delivery_date": "2026-01-31",
        }
    ]
    dispute = (await sandbox.get(f"/gateway/dispute/{dispute_id}")).json()["data"]
    assert (dispute["status"], dispute["evidence"]) == ("awaiting-bank-feedback", 1)
    shown = await _shown(app, chargeback)
    assert [(one["kind"], one["status"], one["createdBy"]) for one in shown["responses"]] == [
        ("evidence", "submitted", str(maker)),
        ("resolution", "submitted", str(maker)),
    ]
    assert shown["respondedAt"] is not None
    rows = await app.fetch("SELECT evidence, attachment FROM chargeback_responses")
    assert {(row["evidence"], row["attachment"]) for row in rows} == {(None, None)}
    assert (await _respond(app, chargeback, "resolve", CONTEST)).status_code == 409
    await sandbox.post(f"/control/disputes/{dispute_id}/win")
    await process_event(app, "charge.dispute.resolve")
    assert (await _shown(app, chargeback))["status"] == "won"
    await app.check_ledger()


async def test_an_accepted_part_is_charged_back_when_the_gateway_reports_it(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    placed, chargeback, _ = await disputed_charge(app, sandbox)
    before = await app.balances()
    assert (await _respond(app, chargeback, "resolve", {**ACCEPT, "amountMinor": 200_000})).status_code == 200
    assert await app.balances() == before
    await _submit(app)
    await process_event(app, "charge.dispute.resolve")
    balances = await app.balances()
    assert (balances["gateway_cash"], balances[f"escrow:{placed.order_id}"]) == (300_000, -300_000)
    assert ((await _shown(app, chargeback))["status"], (await _shown(app, chargeback))["amountMinor"]) == (
        "lost",
        200_000,
    )
    await app.check_ledger()


@pytest.mark.parametrize("effect", [{"timeout": 0.0, "error_after": True}, {"error_before": True}])
async def test_a_resolution_without_a_response_is_sent_once_more_and_counts_once(
    sandbox_app: SandboxApp, effect: dict[str, Any]
) -> None:
    app, sandbox = sandbox_app
    _, chargeback, dispute_id = await disputed_charge(app, sandbox)
    await _respond(app, chargeback, "resolve", ACCEPT)
    # The upload address arrives, and the response to the resolution does not.
    await sandbox.put("/control/faults", json={"dispute_call": [{"delay": 0.001, "times": 1}, {**effect, "times": 1}]})
    assert await _submit(app) == 0
    assert await _submit(app) == 0
    assert (await _shown(app, chargeback))["responses"][0]["status"] == "submitting"
    assert await _submit(app, timedelta(minutes=3)) == 1
    assert (await _shown(app, chargeback))["responses"][0]["status"] == "submitted"
    dispute = (await sandbox.get(f"/gateway/dispute/{dispute_id}")).json()["data"]
    assert (dispute["resolution"], dispute["refund_amount"]) == ("merchant-accepted", 500_000)
    ledger = (await sandbox.get("/control/book")).json()
    assert ledger["chargebacks"] == {"count": 1, "amount_minor": 500_000}


async def test_a_death_before_the_result_is_recorded_repeats_no_effect(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    _, chargeback, _ = await disputed_charge(app, sandbox)
    await _respond(app, chargeback, "resolve", ACCEPT)
    async with app.crashing("NEW.status = 'submitted'", operation="UPDATE", table="chargeback_responses"):
        with pytest.raises(Exception, match="crash"):
            await _submit(app)
    assert await _submit(app, timedelta(minutes=3)) == 1
    ledger = (await sandbox.get("/control/book")).json()
    assert ledger["chargebacks"] == {"count": 1, "amount_minor": 500_000}


async def test_a_rejected_response_is_alerted_and_may_be_corrected(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    _, chargeback, dispute_id = await disputed_charge(app, sandbox)
    await sandbox.put("/control/faults", json={"dispute_call": {"fail": "Invalid phone", "times": 1}})
    await _respond(app, chargeback, "evidence", EVIDENCE)
    assert await _submit(app) == 1
    [response] = (await _shown(app, chargeback))["responses"]
    assert (response["status"], response["failure"]) == ("rejected", "400: Invalid phone")
    [alert] = [one for one in await app.published(ALERT) if "rejected" in one["title"]]
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "chargeback")
    assert (await _respond(app, chargeback, "evidence", EVIDENCE)).status_code == 200
    await _submit(app)
    assert await _sent(sandbox, dispute_id) == (1, 0)


async def test_a_decision_overtakes_a_response(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    _, chargeback, dispute_id = await disputed_charge(app, sandbox)
    await _respond(app, chargeback, "resolve", CONTEST)
    await sandbox.post(f"/control/disputes/{dispute_id}/expire")
    await process_event(app, "charge.dispute.resolve")
    assert await _submit(app) == 0
    shown = await _shown(app, chargeback)
    assert (shown["status"], shown["responses"][0]["status"]) == ("lost", "overtaken")
    assert await _sent(sandbox, dispute_id) == (0, 0)
    assert (await _respond(app, chargeback, "resolve", CONTEST)).status_code == 409


async def test_more_than_is_disputed_or_left_by_refunds_is_not_accepted(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    placed, chargeback, _ = await disputed_charge(app, sandbox)
    assert (await _respond(app, chargeback, "resolve", {**ACCEPT, "amountMinor": 500_001})).status_code == 422
    await app.fetch(
        "INSERT INTO refunds (id, attempt_id, kind, charge_id, order_id, amount_minor, currency, status, reason, "
        "created_at)"
        " SELECT $1, $1, 'overpayment', charge_id, order_id, 400000, 'NGN', 'submitted', 'x', opened_at"
        " FROM chargebacks WHERE order_id = $2 RETURNING 1",
        uuid4(),
        placed.order_id,
    )
    rejected = await _respond(app, chargeback, "resolve", ACCEPT)
    assert (rejected.status_code, rejected.json()["invalid_params"][0]["name"]) == (422, "amountMinor")
    assert (await _respond(app, chargeback, "resolve", {**ACCEPT, "amountMinor": 100_000})).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {**CONTEST, "amountMinor": 5},
        {**CONTEST, "attachment": "%%%"},
        {**CONTEST, "attachment": base64.b64encode(b"MZ a program").decode()},
        {**CONTEST, "attachment": base64.b64encode(b"%PDF-" + b"x" * 180_000).decode()},
        {**CONTEST, "message": " "},
        {**ACCEPT, "amountMinor": 0},
        {**ACCEPT, "resolution": "ignore"},
    ],
)
async def test_an_odd_resolution_is_invalid(app: PaymentsApp, body: dict[str, Any]) -> None:
    response = await app.post_as(f"/api/chargebacks/{uuid4()}/resolve", body, "finance_checker")
    assert response.status_code == 422


async def test_a_response_needs_the_permission_and_a_second_factor(app: PaymentsApp) -> None:
    path = f"/api/chargebacks/{uuid4()}/evidence"
    assert (await app.post_as(path, EVIDENCE, "auditor")).status_code == 403
    assert (await app.post_as(path, EVIDENCE, "finance_maker", stepped_up=False)).status_code == 403
    assert (await app.post_as(path, EVIDENCE, "finance_maker")).status_code == 404


async def _due_alerts(app: PaymentsApp) -> list[dict[str, Any]]:
    return [one for one in await app.published(ALERT) if one["dedupKey"].endswith(":due")]


async def test_a_near_date_is_alerted_once_and_the_response_clears_it(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    due_at = app.clock.now() + timedelta(hours=8)
    _, chargeback, _ = await disputed_charge(app, sandbox, due_at.isoformat())
    assert await alert_due_chargebacks_once(app.dependencies) == 0
    app.clock.advance(timedelta(hours=3))
    # An unreachable gateway prevents no alert.
    await sandbox.put("/control/faults", json={"verify_call": {"error_before": True}})
    assert await alert_due_chargebacks_once(app.dependencies) == 1
    assert await alert_due_chargebacks_once(app.dependencies) == 0
    [alert] = await _due_alerts(app)
    assert (alert["severity"], alert["runbook"], f"{local_time(due_at)} in Lagos" in alert["detail"]) == (
        "SEV-1",
        "chargeback",
        True,
    )
    await sandbox.delete("/control/faults")
    await _respond(app, chargeback, "resolve", CONTEST)
    await _submit(app)
    [cleared] = await app.published("operations.alert_cleared.v1")
    assert cleared["dedupKey"] == alert["dedupKey"]


async def test_a_response_in_the_dashboard_of_the_gateway_needs_no_alert(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    due_at = app.clock.now() + timedelta(hours=1)
    _, chargeback, dispute_id = await disputed_charge(app, sandbox, due_at.isoformat())
    given = (await sandbox.get(f"/gateway/dispute/{dispute_id}/upload_url")).json()["data"]
    await sandbox.put(given["signedUrl"], content=b"%PDF-")
    body = {"resolution": "declined", "message": "x", "refund_amount": 0, "uploaded_filename": given["fileName"]}
    assert (await sandbox.put(f"/gateway/dispute/{dispute_id}/resolve", json=body)).status_code == 200
    assert await alert_due_chargebacks_once(app.dependencies) == 0
    assert await _due_alerts(app) == []
    assert (await _shown(app, chargeback))["respondedAt"] is not None


async def test_a_reminder_with_other_times_is_no_revision(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    _, _, dispute_id = await disputed_charge(app, sandbox)
    for number in (1, 2):
        await sandbox.post(f"/control/disputes/{dispute_id}/remind")
        # The sandbox writes milliseconds, and two reminders of one of them would be equal.
        await sandbox.post(f"/gateway/dispute/{dispute_id}/evidence", json=_AS_SENT)
        await process_event(app, "charge.dispute.remind", number)
    assert await app.fetch("SELECT 1 FROM revised_webhooks") == []


async def test_a_dispute_whose_webhooks_are_lost_is_opened_and_decided_by_queries(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/faults", json={"dispute_webhook": {"drop": True}})
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await process_event(app, "charge.success")
    path = f"/control/charges/{intent['reference']}/dispute"
    dispute = (await sandbox.post(path, json={"due_at": FAR})).json()
    for expected in (1, 0):
        assert await query_disputes_once(app.dependencies) == expected
    await app.work("payments.webhooks")
    [chargeback] = await app.get_as("/api/chargebacks")
    assert (chargeback["status"], chargeback["dueAt"]) == ("opened", FAR)
    await sandbox.post(f"/control/disputes/{dispute['id']}/expire")
    assert await query_disputes_once(app.dependencies) == 1
    await app.work("payments.webhooks")
    assert (await _shown(app, chargeback))["status"] == "lost"
    assert await query_disputes_once(app.dependencies) == 0
