"""Maker and checker decide a quarantined charge: to its order, or back to its payer (contract section 7)."""

import asyncio
import re
from typing import Any
from uuid import UUID, uuid4

import pytest

from payments.domain.chargebacks import ChargebackUpdate, Outcome
from payments.metrics import QUARANTINED_CHARGES_WAITING
from payments.timers import update_metrics_once
from payments.use_cases.chargebacks.record_dispute import record_dispute
from testkit.fixtures import eventually

from .conftest import PaymentsApp
from .steps import MISMATCH

APPROVAL = {"hash": "0" * 64}
ROUNDS = 20


def _path(charge_id: str, verb: str = "") -> str:
    return f"/api/quarantined-charges/{charge_id}{verb}"


async def _prepare(app: PaymentsApp, charge_id: str, outcome: str, user: Any = None) -> Any:
    body = {"outcome": outcome, "reason": "the payer called"}
    return await app.post_as(_path(charge_id, "/prepare"), body, "finance_maker", user)


async def _approve(app: PaymentsApp, charge_id: str, user: Any = None) -> Any:
    return await app.approve(_path(charge_id), user)


async def _reject(app: PaymentsApp, charge_id: str, user: Any = None) -> Any:
    return await app.post_as(_path(charge_id, "/reject"), {"reason": "ask the bank first"}, "finance_checker", user)


async def test_an_accepted_charge_pays_its_order(app: PaymentsApp) -> None:
    placed, charge_id = await app.quarantined(500_300, **MISMATCH)
    before, maker, checker = await app.balances(), uuid4(), uuid4()
    prepared = await _prepare(app, charge_id, "accept", maker)
    assert prepared.status_code == 200, prepared.text
    charge = prepared.json()["data"]
    assert (charge["id"], charge["status"], charge["reason"]) == (charge_id, "prepared", "order_mismatch")
    assert (charge["decision"]["outcome"], charge["decision"]["preparedBy"]) == ("accept", str(maker))
    assert await app.balances() == before
    assert await app.order_status(placed.order_id) == "Processing"

    accepted = (await _approve(app, charge_id, checker)).json()["data"]

    assert (accepted["status"], accepted["decision"]["decidedBy"]) == ("accepted", str(checker))
    [refund] = await app.get_as(f"/api/refunds?orderId={placed.order_id}")
    assert (refund["kind"], refund["amountMinor"], refund["id"]) == ("overpayment", 300, accepted["refundId"])
    assert await app.balances() == {
        "gateway_cash": 500_300,
        f"escrow:{placed.order_id}": -500_000,
        f"refund_payable:{refund['id']}": -300,
    }
    assert await app.order_status(placed.order_id) == "paid_escrow"
    [held] = await app.published("payments.escrow_held.v1")
    assert (held["orderId"], held["amountMinor"]) == (str(placed.order_id), 500_000)
    [posted] = await app.fetch("SELECT type FROM ledger_transactions WHERE posting_key LIKE '%release%'")
    assert posted["type"] == "quarantine_release"
    await app.check_ledger()


async def test_an_accepted_charge_of_a_paid_order_is_refunded(app: PaymentsApp) -> None:
    placed, charge_id = await app.quarantined(**MISMATCH)
    await _prepare(app, charge_id, "accept")
    again = await app.open_intent(placed.order_id)
    await app.process_webhook(app.charge(again["reference"], 500_000))

    accepted = (await _approve(app, charge_id)).json()["data"]

    assert accepted["status"] == "accepted"
    [refund] = await app.get_as("/api/refunds?kind=overpayment")
    assert (refund["id"], refund["amountMinor"]) == (accepted["refundId"], 500_000)
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -500_000
    assert len(await app.published("payments.escrow_held.v1")) == 1
    await app.check_ledger()


@pytest.mark.parametrize(
    ("currency", "stands_in"), [("GHS", "GHS"), ("ghs", "GHS"), ("ngn", "NGN"), (None, "XXX"), ("£", "XXX")]
)
async def test_a_returned_charge_goes_back_in_its_own_currency(app: PaymentsApp, currency: Any, stands_in: str) -> None:
    # A refund that names no currency is in the transaction's own: dollars here.
    paid_in = "USD" if stands_in == "XXX" else stands_in
    placed, charge_id = await app.quarantined(paid_in=paid_in, currency=currency)
    assert (await app.get_as(_path(charge_id)))["currency"] == stands_in
    await _prepare(app, charge_id, "return")
    returned = (await _approve(app, charge_id)).json()["data"]
    assert returned["status"] == "returned"
    refund = await app.get_as(f"/api/refunds/{returned['refundId']}")
    assert (refund["kind"], refund["amountMinor"], refund["status"]) == ("quarantine", 500_000, "pending")
    assert (refund["currency"], refund["orderId"]) == (stands_in, str(placed.order_id))

    await app.work("payments.refunds")
    [sent] = await app.gateway.refunds()
    assert (sent["amount"], sent["currency"]) == (500_000, paid_in)
    await app.report_refund(sent)

    assert await app.balances() == {}
    [settled] = await app.published("payments.refund_settled.v1")
    assert (settled["kind"], settled.get("currency", "NGN")) == ("quarantine", stands_in)
    assert await app.order_status(placed.order_id) == "Processing"
    await app.check_ledger()


async def test_money_without_an_order_can_be_returned_too(app: PaymentsApp) -> None:
    await app.process_webhook(app.charge("ch-nobody", 700), is_last_attempt=True)
    [charge] = await app.get_as("/api/quarantined-charges")
    assert (await _prepare(app, charge["id"], "accept")).status_code == 409
    await _prepare(app, charge["id"], "return")
    returned = (await _approve(app, charge["id"])).json()["data"]
    refund = await app.get_as(f"/api/refunds/{returned['refundId']}")
    assert (refund["orderId"], refund["status"]) == (None, "pending")
    await app.check_ledger()


async def test_a_rejected_request_changes_nothing(app: PaymentsApp) -> None:
    _, foreign = await app.quarantined(paid_in="GHS")
    _, short = await app.quarantined(499_999)
    _, prepared = await app.quarantined(**MISMATCH)
    _, untouched = await app.quarantined(**MISMATCH)
    maker = uuid4()
    assert (await _prepare(app, prepared, "accept", maker)).status_code == 200
    before = await app.snapshot()
    accept = {"outcome": "accept", "reason": "x"}

    async def rejected(status: int, code: str, path: str, body: Any, role: str, user: Any = None) -> None:
        response = await app.post_as(path, body, role, user, stepped_up=True)
        assert (response.status_code, response.json()["code"]) == (status, code), (path, role, response.text)

    conflict = (409, "CONCURRENCY_CONFLICT")
    await rejected(*conflict, _path(foreign, "/prepare"), accept, "finance_maker")
    await rejected(*conflict, _path(short, "/prepare"), accept, "finance_maker")
    await rejected(*conflict, _path(prepared, "/prepare"), accept, "finance_maker")
    await rejected(*conflict, _path(untouched, "/approve"), APPROVAL, "finance_checker")
    await rejected(*conflict, _path(untouched, "/reject"), {"reason": "x"}, "finance_checker")
    # The maker, with the checker's role in another session.
    await rejected(403, "AUTH_FORBIDDEN", _path(prepared, "/approve"), APPROVAL, "finance_checker", maker)
    await rejected(403, "AUTH_FORBIDDEN", _path(prepared, "/reject"), {"reason": "x"}, "finance_checker", maker)
    for role in ("buyer", "finance_checker", "auditor", "platform_admin"):
        await rejected(403, "AUTH_FORBIDDEN", _path(untouched, "/prepare"), accept, role)
    for role in ("buyer", "finance_maker", "auditor", "platform_admin"):
        await rejected(403, "AUTH_FORBIDDEN", _path(prepared, "/approve"), APPROVAL, role)
    for body in (
        {},
        {"outcome": "accept"},
        {"outcome": "keep", "reason": "x"},
        accept | {"reason": " "},
        accept | {"a": 1},
    ):
        await rejected(422, "VALIDATION_FAILED", _path(untouched, "/prepare"), body, "finance_maker")
    for verb, body, role in (("prepare", accept, "finance_maker"), ("approve", APPROVAL, "finance_checker")):
        await rejected(404, "RESOURCE_NOT_FOUND", _path(str(uuid4()), f"/{verb}"), body, role)
    assert await app.snapshot() == before


async def test_a_rejected_charge_is_back_in_quarantine_and_is_prepared_anew(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(**MISMATCH)
    await _prepare(app, charge_id, "accept")
    rejected = (await _reject(app, charge_id)).json()["data"]
    assert (rejected["status"], rejected["decision"]["rejectionReason"]) == ("quarantined", "ask the bank first")
    assert (await _approve(app, charge_id)).status_code == 409
    assert (await _prepare(app, charge_id, "return")).status_code == 200
    assert (await _approve(app, charge_id)).json()["data"]["status"] == "returned"
    assert (await _prepare(app, charge_id, "return")).status_code == 409
    assert await app.get_as("/api/quarantined-charges?status=quarantined") == []
    assert [row["id"] for row in await app.get_as("/api/quarantined-charges?status=returned")] == [charge_id]


async def test_the_hash_of_a_decision_is_of_its_exact_content(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(**MISMATCH)
    assert (await app.get_as(_path(charge_id)))["hash"] is None
    prepared = (await _prepare(app, charge_id, "accept")).json()["data"]
    [listed] = await app.get_as("/api/quarantined-charges", "finance_checker")
    shown = await app.get_as(_path(charge_id), "finance_checker")
    assert re.fullmatch("[0-9a-f]{64}", prepared["hash"])
    assert prepared["hash"] == prepared["decision"]["hash"] == shown["hash"] == listed["hash"]
    await _reject(app, charge_id)
    again = (await _prepare(app, charge_id, "accept")).json()["data"]
    assert again["hash"] != prepared["hash"], "another decision, in the same words"


async def test_an_approval_names_what_was_read(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(**MISMATCH)
    read = (await _prepare(app, charge_id, "return")).json()["data"]["hash"]
    await _reject(app, charge_id)
    await _prepare(app, charge_id, "accept")
    before = await app.snapshot()
    path = _path(charge_id, "/approve")
    for body in (None, {}, {"hash": None}, {"hash": 1}, {"hash": ""}):
        response = await app.post_as(path, body, "finance_checker")
        assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED"), body
        assert [param["name"] for param in response.json()["invalid_params"]] == ["hash"], body
    for other in (read, "0" * 64, "other", "\u00e9"):
        response = await app.post_as(path, {"hash": other}, "finance_checker")
        assert (response.status_code, response.json()["code"]) == (409, "CONCURRENCY_CONFLICT"), other
    assert await app.snapshot() == before
    assert (await _approve(app, charge_id)).json()["data"]["status"] == "accepted"


async def test_a_decision_that_changed_after_it_was_read_is_not_approved(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(**MISMATCH)
    read = (await _prepare(app, charge_id, "return")).json()["data"]["hash"]
    await app.fetch_as_owner("UPDATE quarantine_decisions SET outcome = 'accept' RETURNING 1")
    before = await app.snapshot()
    rejected = await app.post_as(_path(charge_id, "/approve"), {"hash": read}, "finance_checker")
    assert rejected.status_code == 409
    assert await app.snapshot() == before


async def test_every_decision_on_a_quarantined_charge_needs_a_second_factor(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(**MISMATCH)
    body = {"outcome": "return", "reason": "the payer called"}
    for verb, sent, role in (
        ("/prepare", body, "finance_maker"),
        ("/approve", APPROVAL, "finance_checker"),
        ("/reject", {"reason": "ask the bank first"}, "finance_checker"),
    ):
        response = await app.post_as(_path(charge_id, verb), sent, role, stepped_up=False)
        assert (response.status_code, response.json()["code"]) == (403, "AUTH_AAL2_REQUIRED"), verb


async def test_concurrent_and_repeated_approvals_have_one_effect(app: PaymentsApp) -> None:
    for number in range(ROUNDS):
        outcome = ("accept", "return")[number % 2]
        placed, charge_id = await app.quarantined(500_100, **MISMATCH)
        await _prepare(app, charge_id, outcome)
        responses = await asyncio.gather(_approve(app, charge_id), _reject(app, charge_id), _approve(app, charge_id))
        assert {response.status_code for response in responses} <= {200, 409}
        approved = responses[1].status_code == 409
        if approved:
            assert (await _approve(app, charge_id)).status_code == 200
        status = (await app.get_as(_path(charge_id)))["status"]
        assert status == ({"accept": "accepted", "return": "returned"}[outcome] if approved else "quarantined")
        expected = "paid_escrow" if status == "accepted" else "Processing"
        assert await app.order_status(placed.order_id) == expected
        refunds = await app.get_as(f"/api/refunds?orderId={placed.order_id}")
        assert len(refunds) == (1 if approved else 0)
    await app.check_ledger()


@pytest.mark.parametrize(("event", "outcome"), [("charge.dispute.create", None), ("charge.dispute.resolve", "lost")])
async def test_a_concurrently_disputed_charge_is_not_accepted(
    app: PaymentsApp, event: str, outcome: Outcome | None
) -> None:
    placed, charge_id = await app.quarantined(**MISMATCH)
    assert (await _prepare(app, charge_id, "accept")).status_code == 200
    [charge] = await app.fetch("SELECT reference FROM charges")
    update = ChargebackUpdate("71", charge["reference"], None, None, None, outcome, None, None, outcome is None)

    async def waits_for_the_dispute() -> bool:
        async with app.connected("admin") as server:
            return bool(
                await server.fetchval(
                    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
                    "current_database())"
                )
            )

    async with app.unit_of_work() as uow:
        assert await record_dispute(uow, event, update, "webhook", app.clock.now())
        approval = asyncio.create_task(_approve(app, charge_id))
        await eventually(waits_for_the_dispute)

    assert (await approval).status_code == 409
    assert await app.order_status(placed.order_id) == "Processing"
    assert await app.published("payments.escrow_held.v1") == []
    await app.check_ledger()


@pytest.mark.parametrize("outcome", ["accept", "return"])
async def test_the_decision_closes_the_alert_of_a_quarantined_charge(app: PaymentsApp, outcome: str) -> None:
    placed, charge_id = await app.quarantined(**MISMATCH)
    [alert] = await app.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"], alert["subject"]) == ("SEV-2", "quarantined-charge", charge_id)
    assert f"Order {placed.number or 'without a number'}" in alert["detail"]
    [data] = await app.published("payments.charge_quarantined.v1")
    assert (data["buyerId"], data["quarantinedChargeId"]) == (str(placed.buyer_id), charge_id)
    await update_metrics_once(app.database)
    assert QUARANTINED_CHARGES_WAITING._value.get() == 1

    await _prepare(app, charge_id, outcome)
    assert await app.published("operations.alert_cleared.v1") == []
    for _ in range(2):
        assert (await _approve(app, charge_id)).status_code == 200
    [cleared] = await app.published("operations.alert_cleared.v1")
    assert cleared["dedupKey"] == alert["dedupKey"]
    await update_metrics_once(app.database)
    assert QUARANTINED_CHARGES_WAITING._value.get() == 0


async def test_a_charge_of_no_known_order_alerts_finance_and_names_no_buyer(app: PaymentsApp) -> None:
    await app.process_webhook(app.charge("ch-" + "c" * 32, 700), is_last_attempt=True, attempt=6)
    [alert] = await app.published("operations.alert_raised.v1")
    assert "No order is known" in alert["detail"]
    [data] = await app.published("payments.charge_quarantined.v1")
    assert "buyerId" not in data or data["buyerId"] is None


async def test_a_crash_before_the_commit_keeps_the_charge_prepared(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(**MISMATCH)
    await _prepare(app, charge_id, "accept")
    before = await app.snapshot()
    async with app.crashing():
        assert (await _approve(app, charge_id)).status_code == 500
    assert await app.snapshot() == before
    assert (await _approve(app, charge_id)).json()["data"]["status"] == "accepted"
    await app.check_ledger()


async def test_the_database_requires_maker_and_checker(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(**MISMATCH)
    maker = uuid4()
    await _prepare(app, charge_id, "accept", maker)
    with pytest.raises(Exception, match="quarantine_decisions_by_two"):
        await app.fetch(
            "UPDATE quarantine_decisions SET status = 'approved', decided_by = $1, decided_at = now() RETURNING 1",
            maker,
        )


async def _plans(app: PaymentsApp, charge_id: str) -> dict[str, Any]:
    plans = await app.get_as(_path(charge_id, "/postings"))
    return {plan["outcome"]: plan for plan in plans}


@pytest.mark.parametrize("outcome", ["accept", "return"])
async def test_the_approval_posts_what_the_plan_of_its_outcome_shows(app: PaymentsApp, outcome: str) -> None:
    _, charge_id = await app.quarantined(500_300, **MISMATCH)
    before = await app.balances()
    planned = (await _plans(app, charge_id))[outcome]
    assert planned["reason"] is None
    assert {entry["account"]: entry["balanceMinor"] for entry in planned["entries"]} == {
        entry["account"]: before.get(entry["account"], 0) for entry in planned["entries"]
    }
    await _prepare(app, charge_id, outcome)
    assert (await _plans(app, charge_id))[outcome] == planned
    await _approve(app, charge_id)
    after = await app.balances()
    for entry in planned["entries"]:
        assert after.get(entry["account"], 0) == entry["balanceMinor"] + entry["amountMinor"]
    assert await _plans(app, charge_id) == {}


async def test_the_plan_of_an_acceptance_follows_the_order(app: PaymentsApp) -> None:
    placed, charge_id = await app.quarantined(**MISMATCH)
    escrow = f"escrow:{placed.order_id}"
    assert escrow in {entry["account"] for entry in (await _plans(app, charge_id))["accept"]["entries"]}
    again = await app.open_intent(placed.order_id)
    await app.process_webhook(app.charge(again["reference"], 500_000))
    assert escrow not in {entry["account"] for entry in (await _plans(app, charge_id))["accept"]["entries"]}
    _, short_id = await app.quarantined(499_999)
    plans = await _plans(app, short_id)
    assert "below the order's total" in plans["accept"]["reason"]
    assert (plans["accept"]["entries"], plans["return"]["reason"]) == ([], None)


async def test_a_decision_prepared_again_under_its_key_is_the_first_one(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(500_300, **MISMATCH)
    maker, key = uuid4(), uuid4()

    async def prepare(key: UUID, reason: str = "the payer called") -> Any:
        headers = app.headers(maker, roles=("finance_maker",), stepped_up=True, idempotency_key=key)
        body = {"outcome": "accept", "reason": reason}
        return await app.client.post(_path(charge_id, "/prepare"), headers=headers, json=body)

    first = await prepare(key)
    again = await prepare(key)
    assert (again.status_code, again.json()["data"]) == (200, first.json()["data"])
    assert (await prepare(key, "another reason")).status_code == 422
    assert (await prepare(uuid4())).status_code == 409
