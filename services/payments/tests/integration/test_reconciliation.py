"""Reconciliation of gateway, ledger and orders: differences are cases, and missing webhooks are recovered."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from payments.app import reconcile_command
from payments.timers import DAILY, reconcile_once
from payments.use_cases.reconciliation.check_unexplained import check_unexplained
from payments.use_cases.reconciliation.reconcile import Reconciled, reconcile
from testkit.fixtures import eventually

from .conftest import PaymentsApp
from .steps import WHOLE_TIME


async def _pay(app: PaymentsApp, sandbox: httpx.AsyncClient, **form: Any) -> tuple[Any, str]:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    paid = await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card", **form})
    assert paid.status_code < 400, paid.text
    return placed, str(intent["reference"])


async def _paid_and_reported(app: PaymentsApp, sandbox: httpx.AsyncClient) -> tuple[Any, str]:
    before = len(await app.outcomes())
    placed, reference = await _pay(app, sandbox)

    async def came() -> bool:
        return len(await app.outcomes()) > before

    await eventually(came)
    await app.work("payments.webhooks")
    return placed, reference


async def _reconcile(app: PaymentsApp) -> Reconciled:
    # The sandbox uses the machine's clock; later no charge is pending.
    app.clock._now = max(app.clock.now(), datetime.now(UTC)) + timedelta(minutes=11)
    dependencies = app.dependencies
    return await reconcile(dependencies.database, dependencies.gateways, dependencies.clock, *WHOLE_TIME)


async def _cases(app: PaymentsApp, **filters: str) -> list[dict[str, Any]]:
    response = await app.client.get(
        "/api/reconciliation-cases", params=filters, headers=app.headers(uuid4(), roles=("auditor",))
    )
    assert response.status_code == 200, response.text
    cases: list[dict[str, Any]] = response.json()["data"]
    return cases


async def _close(app: PaymentsApp, case_id: str, body: Any = None, **claims: Any) -> httpx.Response:
    headers = app.headers(uuid4(), **{"roles": ("ops_oncall",), **claims})
    response: httpx.Response = await app.client.post(
        f"/api/reconciliation-cases/{case_id}/close",
        headers=headers,
        json={"evidence": "letter of the gateway, 4711"} if body is None else body,
    )
    return response


async def test_each_transfer_into_one_account_is_recovered(sandbox_app: tuple[Any, httpx.AsyncClient]) -> None:
    """Both charges have the reference of the payment."""
    app, sandbox = sandbox_app
    await sandbox.put("/control/faults", json={"charge_webhook": {"drop": True}})
    placed = await app.place_order()
    opened = await app.request_intent(placed.order_id, channel="bank_transfer")
    reference = opened.json()["data"]["reference"]
    for _ in range(2):
        assert (await sandbox.post(f"/control/charges/{reference}/transfer")).is_success
    assert (await _reconcile(app)).recovered == 2
    await app.work("payments.webhooks")
    assert (await _reconcile(app)).unexplained.cases == 0
    assert sorted(row[0] for row in await app.fetch("SELECT verdict FROM charges")) == ["covered", "second_charge"]
    assert (await app.balances())["gateway_cash"] == 1_000_000
    await app.check_ledger()


async def test_equal_records_open_no_case(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    placed, _ = await _paid_and_reported(app, sandbox)
    await app.receive(app.refund_requested(placed, 200_000))
    await app.work("payments.refunds")

    async def refunded() -> bool:
        rows = await app.fetch("SELECT 1 FROM processed_webhook_events WHERE event_type = 'refund.processed'")
        return bool(rows)

    await eventually(refunded)
    await app.work("payments.webhooks")
    before = len(await app.outcomes())
    await _pay(app, sandbox, amount="4000")
    await eventually(lambda: _count(app, before + 1))
    await app.work("payments.webhooks")
    done = await _reconcile(app)
    assert (done.differences, done.unexplained.cases) == (0, 0)
    assert await _cases(app) == []


async def _count(app: PaymentsApp, number: int) -> bool:
    return len(await app.outcomes()) == number


async def test_a_dispute_that_was_lost_without_a_webhook_is_recovered_once(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    _, reference = await _paid_and_reported(app, sandbox)
    await sandbox.put("/control/faults", json={"dispute_webhook": {"drop": True}})
    disputed = await sandbox.post(f"/control/charges/{reference}/dispute", json={"amount": 200_000})
    await sandbox.post(f"/control/disputes/{disputed.json()['id']}/lose")
    for expected in (1, 0):
        assert (await _reconcile(app)).recovered == expected
    await app.work("payments.webhooks")
    rows = await app.fetch("SELECT status, amount_minor FROM chargebacks")
    assert [tuple(row) for row in rows] == [("lost", 200_000)]
    assert (await app.balances())["gateway_cash"] == 300_000
    assert (await _reconcile(app)).recovered == 0
    await app.check_ledger()


async def test_a_missing_webhook_is_recovered_once(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/faults", json={"charge_webhook": {"drop": True}})
    placed, reference = await _pay(app, sandbox)
    done = await _reconcile(app)
    assert (done.differences, done.opened, done.recovered) == (1, 1, 1)
    [case] = await _cases(app)
    assert (case["kind"], case["status"], case["reference"]) == ("charge_not_in_book", "open", reference)
    assert (case["oursMinor"], case["theirsMinor"], case["unexplainedMinor"]) == (0, 500_000, 500_000)
    assert await app.published("operations.alert_raised.v1") == []

    await app.work("payments.webhooks")
    assert await app.order_status(placed.order_id) == "paid_escrow"
    [held] = await app.published("payments.escrow_held.v1")
    assert held["amountMinor"] == 500_000
    assert (await _reconcile(app)).unexplained.cases == 0
    assert [case["status"] for case in await _cases(app)] == ["explained"]
    # The gateway repeats the webhook.
    await sandbox.delete("/control/faults")
    [sent] = (await sandbox.get("/control/webhooks")).json()
    await sandbox.post(f"/control/webhooks/{sent['id']}/resend")

    async def delivered() -> bool:
        return bool((await sandbox.get("/control/webhooks", params={"status": "delivered"})).json())

    await eventually(delivered)
    await app.work("payments.webhooks")
    assert await app.outcomes() == ["done", "ignored"]
    assert len(await app.published("payments.escrow_held.v1")) == 1
    await app.check_ledger()


async def test_a_refund_whose_webhook_never_came_heals_too(sandbox_app: tuple[Any, httpx.AsyncClient]) -> None:
    app, sandbox = sandbox_app
    placed, _ = await _paid_and_reported(app, sandbox)
    await sandbox.put("/control/faults", json={"refund_webhook": {"drop": True}})
    requested = app.refund_requested(placed, 500_000)
    await app.receive(requested)
    await app.work("payments.refunds")
    gateway = app.paystack

    async def processed() -> bool:
        return bool(await gateway.balance_minor("NGN") == 0)

    await eventually(processed)
    done = await _reconcile(app)
    assert (done.opened, done.recovered) == (1, 1)
    await app.work("payments.webhooks")
    [settled] = await app.published("payments.refund_settled.v1")
    assert settled["refundId"] == str(requested.refund_id)
    assert (await _reconcile(app)).unexplained.cases == 0
    assert (await app.balances()).get("gateway_cash", 0) == 0


async def test_a_case_that_does_not_resolve_itself_within_an_hour_is_alerted(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/faults", json={"charge_webhook": {"drop": True}})
    await _pay(app, sandbox)
    await _reconcile(app)
    app.clock.advance(timedelta(minutes=59, seconds=59))
    await check_unexplained(app.database, app.clock)
    assert await app.published("operations.alert_raised.v1") == []
    app.clock.advance(timedelta(seconds=1))
    await check_unexplained(app.database, app.clock)
    [alert] = await app.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"]) == ("SEV-2", "unexplained-kobo")
    assert "₦5,000.00" in alert["detail"]


async def test_an_amount_changed_in_the_ledger_is_one_case_however_often_it_is_found(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    placed, reference = await _paid_and_reported(app, sandbox)
    await app.tamper("UPDATE ledger_entries SET amount_minor = amount_minor / 2 WHERE account = 'gateway_cash'")
    for _ in range(2):
        assert (await _reconcile(app)).unexplained.minor == 250_000
    [case] = await _cases(app, status="open")
    assert (case["kind"], case["orderId"]) == ("charge_differs", str(placed.order_id))
    assert (case["oursMinor"], case["theirsMinor"], case["unexplainedMinor"]) == (250_000, 500_000, 250_000)
    [alert] = await app.published("operations.alert_raised.v1")
    assert case["id"] in alert["dedupKey"]

    # A difference with evidence opens no new case; other figures do.
    assert (await _close(app, case["id"])).json()["data"]["status"] == "closed"
    assert (await _reconcile(app)).unexplained.cases == 0
    await app.tamper("UPDATE ledger_entries SET amount_minor = 100 WHERE account = 'gateway_cash'")
    assert (await _reconcile(app)).unexplained.minor == 499_900
    # The case closes when the difference has disappeared.
    await app.tamper("UPDATE ledger_entries SET amount_minor = 500000 WHERE account = 'gateway_cash'")
    assert (await _reconcile(app)).unexplained.cases == 0
    assert sorted(case["status"] for case in await _cases(app)) == ["closed", "explained"]
    assert reference in case["subject"]


async def test_a_charge_in_the_ledger_and_not_at_the_gateway_is_a_case(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, _ = sandbox_app
    # A webhook signed with a stolen key, of a payment that the gateway does not have.
    forged = await app.place_order()
    intent = await app.open_intent(forged.order_id)
    await app.process_webhook(app.charge(intent["reference"], 500_000))
    shown = await app.place_order(total_minor=700, commission_minor=0, delivery_fee_minor=0)
    await app.tamper("UPDATE payable_orders SET status = 'paid_escrow' WHERE id = $1", shown.order_id)
    assert (await _reconcile(app)).unexplained.cases == 2
    cases = {case["kind"]: case for case in await _cases(app)}
    assert cases["charge_not_at_gateway"]["orderId"] == str(forged.order_id)
    assert cases["charge_not_at_gateway"]["unexplainedMinor"] == 500_000
    assert cases["order_held_without_charge"]["orderId"] == str(shown.order_id)
    assert cases["order_held_without_charge"]["unexplainedMinor"] == 700
    assert [alert["severity"] for alert in await app.published("operations.alert_raised.v1")] == ["SEV-2"]


async def test_a_case_is_closed_once_with_evidence(app: PaymentsApp) -> None:
    order = await app.place_order()
    await app.tamper("UPDATE payable_orders SET status = 'paid_escrow' WHERE id = $1", order.order_id)
    dependencies = app.dependencies
    await reconcile(dependencies.database, dependencies.gateways, dependencies.clock, *WHOLE_TIME)
    [case] = await _cases(app)
    for claims, body, status in (
        ({"roles": ("auditor",)}, None, 403),
        ({"roles": ("finance_checker",)}, None, 403),
        ({}, {}, 422),
        ({}, {"evidence": ""}, 422),
        ({}, {"evidence": "x", "status": "explained"}, 422),
    ):
        assert (await _close(app, case["id"], body, **claims)).status_code == status
    assert (await _close(app, str(uuid4()))).status_code == 404
    assert await _cases(app, status="open") == [case]
    closed = (await _close(app, case["id"], roles=("finance_maker",))).json()["data"]
    assert (closed["status"], closed["evidence"]) == ("closed", "letter of the gateway, 4711")
    assert UUID(closed["closedBy"])
    assert (await _close(app, case["id"])).status_code == 409
    assert (await _cases(app, kind="charge_differs")) == []


async def test_the_last_days_are_reconciled_once_a_day(
    app: PaymentsApp,
) -> None:
    dependencies = app.dependencies
    await app.gateway.faults(list_call={"error_before": True, "times": 1})
    with pytest.raises(Exception, match="500"):
        await reconcile_once(dependencies)
    assert await reconcile_once(dependencies) is False
    app.clock.advance(timedelta(hours=1))
    assert await reconcile_once(dependencies) is True
    app.clock.advance(DAILY - timedelta(seconds=1))
    assert await reconcile_once(dependencies) is False
    app.clock.advance(timedelta(seconds=1))
    assert await reconcile_once(dependencies) is True
    requested = [call for call in app.gateway.calls if call == "GET /transaction"]
    assert len(requested) == 3


async def test_the_daily_run_reads_seven_days(app: PaymentsApp) -> None:
    now = app.clock.now()
    within, before = await app.place_order(), await app.place_order()
    for order, age in ((within, timedelta(days=7)), (before, timedelta(days=7, seconds=1))):
        statement = "UPDATE payable_orders SET status = 'paid_escrow', heard_at = $2 WHERE id = $1"
        await app.tamper(statement, order.order_id, now - age)
    assert await reconcile_once(app.dependencies) is True
    assert [case["orderId"] for case in await _cases(app)] == [str(within.order_id)]


async def test_the_command_ends_with_status_1_while_a_case_is_open(app: PaymentsApp) -> None:
    dependencies = app.dependencies
    await reconcile_command(dependencies, "--from", "2025-12-01", "--to", "2026-03-02T23:00:00Z")
    order = await app.place_order()
    await app.tamper("UPDATE payable_orders SET status = 'paid_escrow' WHERE id = $1", order.order_id)
    with pytest.raises(SystemExit) as open_case:
        await reconcile_command(dependencies, "--from", "2025-12-01", "--to", "2026-02-01")
    assert open_case.value.code == 1
    for arguments in (
        ("--from", "2026-02-01", "--to", "2026-01-01"),
        ("--to", "tomorrow"),
        ("--from", "2020-01-01"),
        # 93 days.
        ("--from", "2025-12-01", "--to", "2026-03-04"),
    ):
        with pytest.raises(SystemExit) as rejected:
            await reconcile_command(dependencies, *arguments)
        assert rejected.value.code == 2
