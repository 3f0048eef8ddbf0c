"""Recorded audits: who reads them, and the alert of a broken one (contract section 13.3)."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from common.primitives.clock import iso

from .conftest import PaymentsApp
from .steps import BROKEN, audit_body, send_audit

RAISED, CLEARED = "operations.alert_raised.v1", "operations.alert_cleared.v1"
READERS = ("auditor", "finance_checker", "ops_oncall")
WAITING = {**BROKEN, "kind": "waiting", "subject": "order 2"}
OPEN = {**BROKEN, "kind": "open", "subject": "order 3"}


async def record(app: PaymentsApp, *findings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    body = audit_body(app, *findings, **changes)
    response = await send_audit(app, body)
    assert response.status_code == 200, response.text
    recorded: dict[str, Any] = response.json()["data"]
    return recorded


async def test_a_recorded_audit_is_shown_with_its_findings(app: PaymentsApp) -> None:
    body = audit_body(app, BROKEN, OPEN, WAITING, gatewayReason="GATEWAY_SECRET_KEY is not known")
    recorded = (await send_audit(app, body)).json()["data"]
    assert recorded == {
        "id": body["id"],
        "startedAt": body["startedAt"],
        "finishedAt": body["finishedAt"],
        "verdict": "broken",
        "gatewayCompared": False,
        "gatewayReason": "GATEWAY_SECRET_KEY is not known",
        "findings": [BROKEN, OPEN, WAITING],
    }
    for role in READERS:
        assert await app.get_as("/api/audits", role) == [recorded]
        assert await app.get_as(f"/api/audits/{body['id']}", role) == recorded


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [((), "clean"), ((OPEN,), "open"), ((WAITING,), "open"), ((OPEN, WAITING, BROKEN), "broken")],
)
async def test_the_worst_finding_is_the_verdict(app: PaymentsApp, findings: Any, verdict: str) -> None:
    assert (await record(app, *findings))["verdict"] == verdict
    assert len(await app.get_as(f"/api/audits?verdict={verdict}")) == 1
    assert len(await app.get_as(f"/api/audits?verdict={'open' if verdict == 'clean' else 'clean'}")) == 0


async def test_audits_are_listed_newest_first(app: PaymentsApp) -> None:
    older = await record(app, startedAt=iso(app.clock.now() - timedelta(days=1)))
    newer = await record(app)
    assert await app.get_as("/api/audits") == [newer, older]
    assert await app.get_as("/api/audits?order=asc&limit=1") == [older]


async def test_an_audit_that_is_sent_again_has_no_second_effect(app: PaymentsApp) -> None:
    body = audit_body(app, BROKEN)
    first, second = await send_audit(app, body), await send_audit(app, {**body, "findings": []})
    assert first.json()["data"] == second.json()["data"]
    assert len(await app.published(RAISED)) == 1


async def test_a_broken_audit_alerts_until_one_is_not_broken(app: PaymentsApp) -> None:
    await record(app, OPEN, WAITING)
    assert await app.published(RAISED) == []
    app.clock.advance(timedelta(minutes=1))
    broken = await record(app, OPEN, BROKEN)
    [alert] = await app.published(RAISED)
    assert (alert["severity"], alert["runbook"], alert["subject"]) == ("SEV-1", "audit-broken", broken["id"])
    assert BROKEN["check"] in alert["detail"]
    app.clock.advance(timedelta(minutes=1))
    await record(app, WAITING)
    [cleared] = await app.published(CLEARED)
    assert cleared["dedupKey"] == alert["dedupKey"]
    app.clock.advance(timedelta(minutes=1))
    await record(app)
    assert len(await app.published(CLEARED)) == 1


async def test_nothing_of_a_recorded_audit_can_be_changed(app: PaymentsApp) -> None:
    await record(app, BROKEN)
    for statement in (
        "UPDATE audits SET verdict = 'clean'",
        "DELETE FROM audits",
        "UPDATE audit_findings SET kind = 'open'",
        "DELETE FROM audit_findings",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await app.fetch(statement)


async def test_only_the_service_key_records_and_only_readers_of_audits_read(app: PaymentsApp) -> None:
    assert (await send_audit(app, audit_body(app), "not the key")).status_code == 401
    staff = app.headers(uuid4(), roles=("finance_checker",))["Authorization"].removeprefix("Bearer ")
    assert (await send_audit(app, audit_body(app), staff)).status_code == 401
    recorded = await record(app, BROKEN)
    for path in ("/api/audits", f"/api/audits/{recorded['id']}"):
        for role in ("buyer", "merchant", "finance_maker", "support_agent", "platform_admin"):
            response = await app.client.get(path, headers=app.headers(uuid4(), roles=(role,)))
            assert response.status_code == 403, role
    headers = app.headers(uuid4(), roles=("auditor",))
    assert (await app.client.get(f"/api/audits/{uuid4()}", headers=headers)).status_code == 404
    assert (await app.client.get("/api/audits?kind=open", headers=headers)).status_code == 422


@pytest.mark.parametrize(
    "changes",
    [
        {"findings": [{**BROKEN, "kind": "strange"}]},
        {"findings": [{**BROKEN, "actual": "x" * 1001}]},
        {"findings": [BROKEN] * 501},
        {"finishedAt": "2000-01-01T00:00:00.000Z"},
        {"verdict": "clean"},
        {"id": "1"},
    ],
)
async def test_a_malformed_audit_is_rejected_and_stores_nothing(app: PaymentsApp, changes: dict[str, Any]) -> None:
    assert (await send_audit(app, audit_body(app) | changes)).status_code == 422
    assert await app.get_as("/api/audits") == []
