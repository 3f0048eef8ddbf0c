"""The store of webhooks, their dead letters and their revisions: each statement finds and changes the webhook that it
names.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from common.database.errors import DatabaseUnavailable
from common.database.state_changes import StateChanged
from payments.domain.webhooks import Arrival
from payments.store import revisions, webhooks
from testkit.locks import assert_locks

from .conftest import PaymentsApp
from .steps import make_read_only

OWN, OTHER, RAW = "charge.success:own", "charge.success:other", b'{"event":"charge.success"}'


async def record(app: PaymentsApp, webhook_id: str, raw: bytes = RAW, *, is_json: bool = True) -> Any:
    arrival = Arrival(webhook_id, "charge.success")
    database = app.database
    return await webhooks.record_webhook_if_new(database, "paystack", arrival, raw, is_json=is_json)


async def outcomes(app: PaymentsApp) -> dict[str, str]:
    return {row["id"]: row["outcome"] for row in await app.fetch("SELECT * FROM processed_webhook_events")}


async def test_a_webhook_is_recorded_once_with_a_work_item_that_is_leased_to_its_process(app: PaymentsApp) -> None:
    database = app.database
    assert await record(app, OTHER) is not None
    with database.handover.to_relay():
        row = await record(app, OWN)
    assert row is not None
    assert await record(app, OWN) is None
    [work] = await app.fetch(
        "SELECT *, next_attempt_at > clock_timestamp() AS leased FROM outbox WHERE subject = $1", OWN
    )
    assert (work["id"], work["created_at"], work["leased"]) == (row.id, row.created_at, True)
    assert await webhooks.find_other_body(database, OWN, RAW) is None
    assert await webhooks.find_other_body(database, OWN, b"{}") == RAW
    assert await webhooks.find_other_body(database, "unknown", b"{}") is None
    async with app.unit_of_work() as uow:
        found = await webhooks.find_webhook(uow, OWN)
        assert found is not None
        assert (found.raw, found.outcome, found.gateway) == (RAW, "queued", "paystack")
        assert await webhooks.find_webhook(uow, "unknown") is None


@pytest.mark.parametrize(
    ("raw", "is_json"), [(b"no JSON \xff", False), (b'{"a":"\\u0000"}', True), (b'{"a":1}', False)]
)
async def test_a_body_that_the_database_cannot_hold_as_json_is_kept_as_text(
    app: PaymentsApp, raw: bytes, is_json: bool
) -> None:
    assert await record(app, OWN, raw, is_json=is_json) is not None
    [row] = await app.fetch("SELECT raw, jsonb_typeof(payload) AS kind FROM processed_webhook_events")
    assert (bytes(row["raw"]), row["kind"]) == (raw, "string")


async def test_only_an_outage_of_the_database_is_reported_as_one(app: PaymentsApp) -> None:
    database = app.database
    with pytest.raises(asyncpg.DataError):
        await webhooks.find_other_body(database, "\0", RAW)
    await make_read_only(app)
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            await record(app, OWN)


async def test_the_outcome_of_a_webhook_withdraws_its_own_work_item(app: PaymentsApp) -> None:
    other, own = await record(app, OTHER), await record(app, OWN)
    async with app.unit_of_work() as uow:
        webhooks.save_outcome_with_next(uow, OWN, "done", own.id)
    assert await outcomes(app) == {OWN: "done", OTHER: "queued"}
    published = "SELECT id, published_at FROM outbox WHERE published_at IS NOT NULL"
    [work] = await app.fetch(published)
    assert work["id"] == own.id
    async with app.unit_of_work() as uow:
        await webhooks.save_outcome(uow, OWN, "queued")
        webhooks.save_outcome_with_next(uow, OWN, "ignored", own.id)
    assert await outcomes(app) == {OWN: "ignored", OTHER: "queued"}
    # A published work item keeps the time of its publication.
    assert await app.fetch(published) == [work]
    assert other.id != own.id


async def test_only_a_queued_webhook_gets_an_outcome_with_its_charge(app: PaymentsApp) -> None:
    await record(app, OTHER)
    own = await record(app, OWN)
    async with app.unit_of_work() as uow:
        await webhooks.save_outcome(uow, OWN, "ignored")
    with pytest.raises(StateChanged):
        async with app.unit_of_work() as uow:
            webhooks.save_outcome_with_next(uow, OWN, "done", own.id)
    assert await outcomes(app) == {OWN: "ignored", OTHER: "queued"}


async def test_one_replay_serves_all_dead_letters_of_its_webhook(app: PaymentsApp) -> None:
    now = app.clock.now()
    for webhook_id in (OTHER, OWN):
        await record(app, webhook_id)
    dead_letters: list[UUID] = sorted([uuid4(), uuid4()])
    other = uuid4()
    async with app.unit_of_work() as uow:
        assert await webhooks.record_dead_webhook(uow, other, OTHER, "odd", 10) == "charge.success"
        for dead_letter in dead_letters:
            assert await webhooks.record_dead_webhook(uow, dead_letter, OWN, "odd", 10) == "charge.success"
        found = webhooks.DeadWebhook(dead_letters[0], OWN, "charge.success", None, None, "queued")
        assert await webhooks.lock_dead_webhook(uow, str(dead_letters[0])) == found
        assert await webhooks.lock_dead_webhook(uow, OWN) == found
        assert await webhooks.lock_dead_webhook(uow, str(uuid4())) is None
    await assert_locks(
        app.database,
        {
            "dead letters of a webhook": (
                "SELECT DISTINCT webhook_id FROM dead_letter_webhooks",
                lambda uow, key: webhooks.lock_dead_webhook(uow, str(key)),
            )
        },
    )
    async with app.unit_of_work() as uow:
        await webhooks.mark_dead_webhook_closed(uow, dead_letters[1], now)
        assert await webhooks.mark_dead_webhooks_replayed(uow, OWN, now) == dead_letters[:1]
        assert await webhooks.mark_dead_webhooks_replayed(uow, OWN, now) == []
        assert await webhooks.mark_dead_webhooks_replayed(uow, OTHER, now) == [other]


async def test_the_revisions_of_a_key_are_counted_and_queried_for_that_key(app: PaymentsApp) -> None:
    now = app.clock.now()
    later = now + timedelta(minutes=1)
    for webhook_id in (OTHER, OWN):
        await record(app, webhook_id)
    async with app.unit_of_work() as uow:
        for webhook_id, body in ((OTHER, b"other"), (OWN, b"own")):
            assert (await revisions.lock_revised_webhook(uow, webhook_id, now)).revisions == 0
            assert not await revisions.revision_is_known(uow, webhook_id, body)
            await revisions.record_revision(uow, webhook_id, body, body, now)
        assert await revisions.revision_is_known(uow, OWN, b"own")
        assert not await revisions.revision_is_known(uow, OWN, b"other")
        assert await revisions.list_bodies(uow, OWN) == [RAW, b"own"]
        await revisions.save_revised_webhook(uow, OWN, 1, later, now)
        counts = [(await revisions.lock_revised_webhook(uow, key, now)).revisions for key in (OWN, OTHER)]
        assert counts == [1, 0]
        await revisions.save_revised_webhook(uow, OTHER, 1, later + timedelta(minutes=1), now)
        assert await revisions.list_due_queries(uow, now) == []
        assert await revisions.list_due_queries(uow, later) == [OWN]

        def again_at(at: Any, queries: int) -> Any:
            return at + timedelta(hours=1 + queries)

        assert await revisions.claim_query(uow, OWN, now, again_at) is None
        claimed = await revisions.claim_query(uow, OWN, later, again_at)
        assert claimed is not None
        assert (claimed.revisions, claimed.queries) == (1, 0)
        assert await revisions.claim_query(uow, OWN, later, again_at) is None
        assert await revisions.claim_query(uow, "unknown", later, again_at) is None
        again = await revisions.claim_query(uow, OWN, later + timedelta(hours=1), again_at)
        assert again is not None
        assert again.queries == 1
        # A key that was revised again after the query stays due.
        due_at = later + timedelta(minutes=1)
        await revisions.save_queried(uow, OWN, 2, now)
        assert OWN in await revisions.list_due_queries(uow, later + timedelta(days=1))
        await revisions.save_queried(uow, OWN, 1, now)
        assert await revisions.list_due_queries(uow, later + timedelta(days=1)) == [OTHER]
        assert await revisions.list_due_queries(uow, due_at) == [OTHER]
        await revisions.save_revised_webhook(uow, OTHER, 1, None, now)
        assert await revisions.claim_query(uow, OTHER, later + timedelta(days=1), again_at) is None
