"""A dead webhook is closed with a reason, once, and never processed."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Conflict
from payments.metrics import DEAD_WEBHOOKS_WAITING
from payments.timers import update_metrics_once
from payments.use_cases.webhooks.close_dead_webhook import close_dead_webhook
from payments.use_cases.webhooks.replay_webhook import replay_webhook
from testkit.locks import waits_for
from testkit.work import own_actions_of, work_of

from .conftest import PaymentsApp
from .steps import AGE_DEAD_LETTERS, AGE_WEBHOOKS, dead_webhook, get_as_roles, replay_dead_webhook

EVENT_ID, REASON = "charge.success:5", "The gateway's test of its dashboard."


async def _close_by_two(app: PaymentsApp, key: str, **claims: Any) -> httpx.Response:
    """Close the webhook after the request of another person."""
    assert (await _close(app, key)).json()["data"]["status"] == "requested"
    return await _close(app, key, **claims)


async def _close(app: PaymentsApp, key: str, reason: str = REASON, **claims: Any) -> httpx.Response:
    headers = app.headers(**{"user_id": uuid4(), "roles": ("ops_oncall",), "stepped_up": True, **claims})
    return await app.client.post(f"/api/dead-letter-webhooks/{key}/close", json={"reason": reason}, headers=headers)


async def test_a_closed_webhook_has_its_reason_and_is_not_open(app: PaymentsApp) -> None:
    dead_letter_id, staff = await dead_webhook(app), uuid4()
    response = await _close_by_two(app, EVENT_ID, user_id=staff)
    assert response.status_code == 200
    closed = response.json()["data"]
    assert (closed["id"], closed["service"], closed["closedBy"], closed["closeReason"]) == (
        dead_letter_id,
        "payments",
        str(staff),
        REASON,
    )
    assert (await _close(app, dead_letter_id)).json()["data"] == closed
    [shown] = (await get_as_roles(app, "/api/dead-letter-webhooks", "auditor")).json()["data"]
    names = ("closedAt", "closedBy", "closeReason")
    assert {name: shown[name] for name in names} == {name: closed[name] for name in names}
    assert (shown["outcome"], shown["replayedAt"]) == ("ignored", None)
    ops = app.headers(staff, roles=("ops_oncall",))
    assert await work_of(app.client, ops) == {}
    await update_metrics_once(app.database)
    assert DEAD_WEBHOOKS_WAITING._value.get() == 0
    assert await own_actions_of(app.client, ops) == [("dead_letter_closed", dead_letter_id)]
    [alert], [cleared] = [await app.published(f"operations.alert_{word}.v1") for word in ("raised", "cleared")]
    assert cleared["dedupKey"] == alert["dedupKey"]


async def test_a_closed_webhook_keeps_its_reason_and_is_not_replayed(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    await app.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
    await _close_by_two(app, dead_letter_id)
    assert (await _close(app, dead_letter_id, "another")).status_code == 409
    for key in (dead_letter_id, EVENT_ID):
        assert (await replay_dead_webhook(app, key)).status_code == 409
    assert await app.outcomes() == ["ignored"]
    assert await app.work("payments.webhooks") == 0


async def test_a_closure_of_a_webhook_needs_the_permission_of_a_replay_and_step_up(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    assert (await _close(app, dead_letter_id, stepped_up=False)).json()["code"] == "AUTH_AAL2_REQUIRED"
    assert (await _close(app, dead_letter_id, roles=("auditor",))).json()["code"] == "AUTH_FORBIDDEN"
    for key in (str(uuid4()), "no-event", "%00"):
        assert (await _close(app, key)).status_code == (await replay_dead_webhook(app, key)).status_code == 404, key
    assert await app.outcomes() == ["dead"]


@pytest.mark.parametrize("outcome", ["queued", "done", "ignored"])
async def test_a_webhook_that_is_not_dead_any_more_is_not_closed(app: PaymentsApp, outcome: str) -> None:
    dead_letter_id = await dead_webhook(app)
    await app.fetch("UPDATE processed_webhook_events SET outcome = $1 RETURNING 1", outcome)
    assert (await _close(app, dead_letter_id)).status_code == 409
    assert await app.outcomes() == [outcome]
    assert await app.fetch("SELECT FROM dead_letter_closures") == []


@pytest.mark.parametrize("is_closed_first", [True, False])
async def test_of_a_concurrent_closure_and_replay_of_a_webhook_one_succeeds(
    app: PaymentsApp, is_closed_first: bool
) -> None:
    dead_letter_id = await dead_webhook(app)
    now = app.clock.now()

    await _close(app, dead_letter_id)

    async def closing(uow: UnitOfWork) -> None:
        await close_dead_webhook(uow, dead_letter_id, uuid4(), REASON)

    async def replaying(uow: UnitOfWork) -> None:
        await replay_webhook(uow, EVENT_ID, uuid4(), now)

    async def conflicts(uow: UnitOfWork) -> None:
        with pytest.raises(Conflict):
            await (replaying if is_closed_first else closing)(uow)

    assert await waits_for(app.database, closing if is_closed_first else replaying, conflicts)
    assert await app.outcomes() == ["ignored" if is_closed_first else "queued"]


async def test_an_earlier_dead_letter_of_a_closed_webhook_is_not_replayed(app: PaymentsApp) -> None:
    earlier = await dead_webhook(app)
    async with app.unit_of_work() as uow:
        await replay_webhook(uow, earlier, uuid4(), app.clock.now())
    await app.fetch("UPDATE processed_webhook_events SET outcome = 'dead' RETURNING 1")
    later = str(uuid4())
    await app.fetch(
        (
            "INSERT INTO dead_letter_webhooks (id, webhook_id, event_type, error, attempts) VALUES ($1, $2, 'x', "
            "'x', 6) RETURNING 1"
        ),
        later,
        EVENT_ID,
    )
    assert (await _close(app, earlier)).status_code == 409
    assert (await _close_by_two(app, later)).json()["data"]["status"] == "closed"
    replayed = (await replay_dead_webhook(app, earlier)).json()["data"]
    assert (replayed["outcome"], replayed["requeued"]) == ("ignored", False)


async def test_a_closed_webhook_is_stored_as_long_as_a_replayed_one(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    for statement in (AGE_WEBHOOKS, AGE_DEAD_LETTERS):
        await app.fetch_as_owner(statement, 400)
    await _close_by_two(app, dead_letter_id)
    assert await app.remove_old() == 0
    [kept] = await app.fetch("SELECT payload FROM dead_letter_webhooks")
    assert kept["payload"]["event"] == "charge.success"
    await app.fetch_as_owner(AGE_DEAD_LETTERS, 91)
    assert await app.remove_old() > 0
    assert await app.fetch("SELECT FROM dead_letter_webhooks") == []
    assert await app.outcomes() == []
    assert len(await app.fetch("SELECT FROM dead_letter_closures")) == 1


async def test_a_webhook_with_a_requested_closure_is_still_dead(app: PaymentsApp) -> None:
    dead_letter_id, first = await dead_webhook(app), uuid4()
    requested = (await _close(app, EVENT_ID, user_id=first)).json()["data"]
    assert (requested["status"], requested["requestedBy"], requested["closedAt"]) == ("requested", str(first), None)
    assert (await _close(app, dead_letter_id, user_id=first)).json()["data"] == requested
    assert (await _close(app, dead_letter_id, "another", user_id=first)).status_code == 409
    assert await app.outcomes() == ["dead"]
    assert await app.published("operations.alert_cleared.v1") == []


async def test_a_dead_webhook_shows_subject_payload_and_history(app: PaymentsApp) -> None:
    dead_letter_id, first = await dead_webhook(app), uuid4()
    await _close(app, EVENT_ID, user_id=first)
    for key in (dead_letter_id, EVENT_ID):
        shown = (await get_as_roles(app, f"/api/dead-letter-webhooks/{key}", "auditor")).json()["data"]
        assert (shown["id"], shown["subject"], shown["closedByTwo"]) == (dead_letter_id, "ch-5", True)
        expected = {"event": "charge.success", "data.id": 5, "data.amount": "much", "data.reference": "ch-5"}
        assert (shown["payload"], shown["withheld"]) == (expected, [])
        assert [(line["action"], line["by"]) for line in shown["history"]] == [
            ("failed", None),
            ("closure_requested", str(first)),
        ]
    assert (await get_as_roles(app, "/api/dead-letter-webhooks/none", "auditor")).status_code == 404
    assert (await get_as_roles(app, f"/api/dead-letter-webhooks/{EVENT_ID}", "buyer")).status_code == 403
