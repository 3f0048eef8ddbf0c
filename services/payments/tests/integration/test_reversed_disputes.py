"""Disputes that the gateway decides again, and disputes that name no charge (contract section 7.7)."""

from datetime import timedelta
from typing import Any

import pytest

from payments.clients.gateway import GatewayRejected
from payments.domain.revisions import GatewaySubject, QueriedEvent
from payments.timers import query_disputes_once, reconcile_once

from .conftest import PaymentsApp
from .disputes import CREATE, LOST, RESOLVE, WON, dispute, numbers, paid

ALERT = "operations.alert_raised.v1"


async def _statuses(app: PaymentsApp) -> list[str]:
    return [row["status"] for row in await app.fetch("SELECT status FROM chargebacks ORDER BY opened_at, id")]


async def _alerts(app: PaymentsApp, title: str) -> list[dict[str, Any]]:
    return [alert for alert in await app.published(ALERT) if alert["title"] == title]


async def _gateway_reports(app: PaymentsApp, body: dict[str, Any]) -> None:
    """Return the gateway's present state of the dispute."""
    await app.gateway.faults(verify_call={"data": body["data"], "match": str(body["data"]["id"])})


async def test_a_won_dispute_that_is_reported_lost_is_booked_as_lost(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    await app.receive(app.delivered(placed))
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 500_000))
    await app.decide_dispute(dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    await app.decide_dispute(dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    assert await _statuses(app) == ["lost"]
    assert await app.balances() == {}
    published = await app.published("payments.charge_disputed.v1")
    assert [event.get("outcome") for event in published] == [None, "won", "lost"]
    assert published[-1]["fromVendorMinor"] == 456_000
    [alert] = await _alerts(app, "Dispute reported won, and now lost")
    assert (alert["severity"], alert["runbook"]) == ("SEV-2", "chargeback")
    assert set(await app.outcomes()) == {"done"}
    await app.check_ledger()


async def test_a_dispute_may_be_decided_any_number_of_times(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    number = next(numbers)
    for turn, resolution in enumerate((LOST, WON, LOST, WON, LOST)):
        body = dispute(number, RESOLVE, reference, 300_000, resolution=resolution, updatedAt=f"2026-03-0{turn + 1}")
        await app.decide_dispute(body)
        lost_minor = 300_000 if resolution == LOST else 0
        assert (await app.balances())["gateway_cash"] == 500_000 - lost_minor
        await app.check_ledger()
    assert await _statuses(app) == ["lost"]
    assert len(await _alerts(app, "Dispute reported won, and now lost")) == 2


async def test_a_late_webhook_never_reverses_a_decision(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 500_000))
    # The webhook of the win never arrives, and the gateway is queried for it.
    await _gateway_reports(app, dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    assert await query_disputes_once(app.dependencies) == 1
    await app.work("payments.webhooks")
    await app.process_webhook(dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await app.work("payments.webhooks")
    assert await _statuses(app) == ["won"]
    assert (await app.balances())["gateway_cash"] == 500_000
    assert await app.outcomes() == ["done", "done", "done", "ignored"]


async def test_a_reversed_decision_is_booked_although_its_webhook_is_lost(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 500_000))
    await app.decide_dispute(dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    await _gateway_reports(app, dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    app.clock.advance(timedelta(days=1))
    assert await reconcile_once(app.dependencies)
    await app.work("payments.webhooks")
    assert await _statuses(app) == ["lost"]
    assert await app.balances() == {}
    assert len(await _alerts(app, "Dispute reported won, and now lost")) == 1
    app.clock.advance(timedelta(days=1))
    assert await reconcile_once(app.dependencies)
    assert await app.work("payments.webhooks") == 0
    await app.check_ledger()


async def test_a_rejected_query_of_one_dispute_keeps_no_other_from_its_query(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = []
    for _ in range(2):
        _, reference = await paid(app)
        decided.append((next(numbers), reference))
        await app.process_webhook(dispute(decided[-1][0], CREATE, reference, 500_000))
        await app.decide_dispute(dispute(decided[-1][0], RESOLVE, reference, 500_000, resolution=WON))
    # The newest is queried first.
    (older, reference), (newer, _) = decided
    await _gateway_reports(app, dispute(older, RESOLVE, reference, 500_000, resolution=LOST))
    find_event = app.paystack.find_event

    async def reject_newer(subject: GatewaySubject) -> QueriedEvent | None:
        if subject.key == str(newer):
            raise GatewayRejected(404, "no such dispute")
        return await find_event(subject)

    monkeypatch.setattr(app.paystack, "find_event", reject_newer)
    app.clock.advance(timedelta(days=1))
    assert await reconcile_once(app.dependencies)
    await app.work("payments.webhooks")
    assert sorted(await _statuses(app)) == ["lost", "won"]


async def test_a_dispute_without_a_charge_is_queried_at_the_gateway(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    number = next(numbers)
    await _gateway_reports(app, dispute(number, CREATE, reference, 500_000))
    await app.process_webhook(dispute(number, CREATE, reference, 500_000, transaction=None))
    await app.work("payments.webhooks")
    assert await _statuses(app) == ["opened"]


async def test_a_dispute_that_names_no_charge_anywhere_alerts_finance(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    number = next(numbers)
    body = dispute(number, CREATE, reference, 500_000, transaction=None)
    await _gateway_reports(app, body)
    await app.process_webhook(body)
    await app.work("payments.webhooks")
    assert await _statuses(app) == []
    alerts = await _alerts(app, "Dispute without a charge")
    assert {(alert["severity"], alert["dedupKey"]) for alert in alerts} == {
        ("SEV-2", f"dispute-without-charge:{number}")
    }
    assert "dead" not in await app.outcomes()
