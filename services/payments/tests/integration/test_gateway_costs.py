"""The gateway's costs and settlements: fees of charges, and settlements to our bank account."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from payments.app import reconcile_command
from payments.timers import reconcile_once
from payments.use_cases.reconciliation.recheck_cases import recheck_cases
from payments.use_cases.reconciliation.reconcile import Reconciled, reconcile
from testkit.fixtures import eventually

from .conftest import PaymentsApp

WHOLE_TIME = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
SandboxApp = tuple[PaymentsApp, httpx.AsyncClient]


async def _paid(app: PaymentsApp, sandbox: httpx.AsyncClient, number: int = 1) -> str:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})

    async def came() -> bool:
        return len(await app.outcomes()) == number

    await eventually(came)
    await app.work("payments.webhooks")
    return str(intent["reference"])


async def _reconcile(app: PaymentsApp) -> Reconciled:
    # The sandbox has the machine's clock; later no charge is pending.
    app.clock._now = max(app.clock.now(), datetime.now(UTC)) + timedelta(minutes=11)
    dependencies = app.dependencies
    return await reconcile(dependencies.database, dependencies.gateways, dependencies.clock, *WHOLE_TIME)


async def _gateway_balance(sandbox: httpx.AsyncClient) -> int:
    [line] = (await sandbox.get("/gateway/balance")).json()["data"]
    return int(line["balance"])


async def _cases(app: PaymentsApp) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = await app.get_as("/api/reconciliation-cases")
    return listed


async def test_a_reported_fee_keeps_our_gateway_balance_equal_to_the_gateways(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/settings", json={"charge_fees": "standard"})
    await _paid(app, sandbox)
    balances = await app.balances()
    assert (balances["gateway_cash"], balances["gateway_fees"]) == (482_500, 17_500)
    assert balances["gateway_cash"] == await _gateway_balance(sandbox)


async def test_a_fee_that_the_webhook_omits_is_posted_by_the_reconciliation_once(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/settings", json={"charge_fees": "unreported"})
    await _paid(app, sandbox)
    assert "gateway_fees" not in await app.balances()
    for _ in range(2):
        done = await _reconcile(app)
        assert (done.differences, done.unexplained.cases) == (0, 0)
    balances = await app.balances()
    assert (balances["gateway_cash"], balances["gateway_fees"]) == (await _gateway_balance(sandbox), 17_500)


async def test_another_fee_than_the_posted_one_is_a_case(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/settings", json={"charge_fees": "standard"})
    await sandbox.put("/control/faults", json={"charge_webhook": {"drop": True}})
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    body = await app.gateway.webhook("charge.success", intent["reference"])
    body["data"]["fees"] = 5_000
    for event in (body, {"event": "charge.success", "data": await app.gateway.transaction(intent["reference"])}):
        await app.process_webhook(event)
    assert (await app.balances())["gateway_fees"] == 5_000
    await _reconcile(app)
    [case] = await _cases(app)
    assert (case["kind"], case["oursMinor"], case["theirsMinor"]) == ("fee_differs", 5_000, 17_500)


async def test_a_settlement_is_posted_from_the_gateway_to_the_bank_once(sandbox_app: SandboxApp, capsys: Any) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/settings", json={"charge_fees": "standard"})
    await _paid(app, sandbox)
    await sandbox.post("/control/settlements", json={"deductions": 2_500})
    for _ in range(2):
        done = await _reconcile(app)
        assert (done.differences, done.unexplained.cases, done.settled_minor) == (0, 0, 480_000)
    balances = await app.balances()
    assert (balances["bank_account"], balances["gateway_cash"]) == (480_000, await _gateway_balance(sandbox))
    alerts = await app.published("operations.alert_raised.v1")
    assert [(alert["severity"], alert["runbook"]) for alert in alerts] == [("SEV-2", "gateway-settlement")]
    start, end = app.clock.now() - timedelta(days=1), app.clock.now() + timedelta(days=1)
    await reconcile_command(app.dependencies, "--from", start.isoformat(), "--to", end.isoformat())
    assert "480000 kobo to the bank: automatic settlement is on" in capsys.readouterr().out
    await app.check_ledger()


async def test_a_settlement_of_an_unknown_charge_is_a_case_until_the_charge_is_recorded(
    sandbox_app: SandboxApp,
) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/faults", json={"charge_webhook": {"drop": True}})
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await sandbox.post("/control/settlements")
    await _reconcile(app)
    assert {case["kind"] for case in await _cases(app)} == {"charge_not_in_book", "settlement_not_in_book"}
    assert "bank_account" not in await app.balances()
    await app.work("payments.webhooks")
    dependencies = app.dependencies
    await recheck_cases(dependencies.database, dependencies.gateways, dependencies.clock)
    assert {case["status"] for case in await _cases(app)} == {"explained"}
    assert (await app.balances())["bank_account"] == 500_000


async def test_the_daily_run_posts_settlements(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    await _paid(app, sandbox)
    await sandbox.post("/control/settlements")
    app.clock._now = max(app.clock.now(), datetime.now(UTC)) + timedelta(minutes=11)
    assert await reconcile_once(app.dependencies)
    assert (await app.balances())["bank_account"] == 500_000
