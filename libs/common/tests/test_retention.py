"""Expired rows, and no others, are removed in small steps."""

import asyncio
from datetime import timedelta

import pytest
from prometheus_client import REGISTRY
from pydantic import ValidationError

from common.auth.caller import THE_SERVICE
from common.database.retention import RetentionRule, purge_expired_once
from common.primitives.clock import SystemClock
from common.primitives.ids import new_id
from common.process.message_retention import message_retention_rules
from common.process.settings import ServiceSettings
from testkit.fixtures import eventually

from .conftest import Mechanisms

CLOCK = SystemClock()
SETTINGS = {
    "port": 1,
    "jwks_url": "http://identity.example",
    "api_database_url": "postgresql://x",
    "service_database_url": "postgresql://x",
    "broker_url": "amqp://x",
    "cursor_key": "a cursor key for tests",
}
PUBLISHED = RetentionRule(
    "outbox", ("position",), "published_at", timedelta(days=7), stamped_by="database", rows_max=10
)


def kept(**changed):
    return message_retention_rules(ServiceSettings(**SETTINGS, **changed))


async def run(mechanisms: Mechanisms, statement, *values):
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await uow.fetch(statement, *values)


async def remove(mechanisms: Mechanisms, *rules):
    return await purge_expired_once(mechanisms.database, rules or kept(), CLOCK, pause_seconds=0)


async def publish(mechanisms: Mechanisms, count, *, published_days_ago):
    """So many messages of one subject, published then; None: not yet."""
    await run(
        mechanisms,
        "INSERT INTO outbox (id, type, source, subject, sequence, payload, trace, published_at) "
        "SELECT gen_random_uuid(), 't', 's', $3, n, '', '{}', now() - make_interval(days => $2) "
        "FROM generate_series(1, $1::int) AS n",
        count,
        published_days_ago,
        f"published {published_days_ago} days ago",
    )


async def published(mechanisms: Mechanisms):
    rows = await run(mechanisms, "SELECT subject, count(*) FROM outbox GROUP BY 1")
    return {row["subject"].split()[1]: row["count"] for row in rows}


def shown(metric, what):
    return REGISTRY.get_sample_value(metric, {"what": what}) or 0.0


async def record_received(mechanisms: Mechanisms, days_ago, event_id=None):
    event_id = event_id or new_id()
    await run(mechanisms, "INSERT INTO inbox VALUES ($1, 'one', now() - make_interval(days => $2))", event_id, days_ago)
    return event_id


async def add_dead_letter(mechanisms: Mechanisms, event_id, *, replayed_days_ago=None, closed_days_ago=None):
    await run(
        mechanisms,
        "INSERT INTO dead_letters VALUES "
        "($1, 'q', $2, 't', '', '{}', 'e', 6, now() - interval '1 year', now() - make_interval(days => $3), "
        "now() - make_interval(days => $4))",
        new_id(),
        event_id,
        replayed_days_ago,
        closed_days_ago,
    )


async def test_published_messages_are_removed_after_a_week(mechanisms: Mechanisms) -> None:
    await publish(mechanisms, 3, published_days_ago=8)
    await publish(mechanisms, 2, published_days_ago=6)
    await publish(mechanisms, 1, published_days_ago=None)
    await run(mechanisms, "UPDATE outbox SET created_at = now() - interval '1 year'")
    before = shown("retention_rows_removed_total", "outbox")
    assert await remove(mechanisms) == 3
    assert await published(mechanisms) == {"6": 2, "None": 1}
    assert shown("retention_rows_removed_total", "outbox") == before + 3


async def test_an_inbox_row_outlives_the_dead_letter_of_its_message(mechanisms: Mechanisms) -> None:
    waiting, replayed, closed, *forgotten = [await record_received(mechanisms, 400) for _ in range(5)]
    young = await record_received(mechanisms, 27)
    await add_dead_letter(mechanisms, waiting)
    await add_dead_letter(mechanisms, replayed, replayed_days_ago=1)
    await add_dead_letter(mechanisms, closed, closed_days_ago=89)
    await add_dead_letter(mechanisms, forgotten[0], replayed_days_ago=91)
    await add_dead_letter(mechanisms, forgotten[1], closed_days_ago=91)
    for _ in range(2):
        await remove(mechanisms)
    assert {row["event_id"] for row in await run(mechanisms, "SELECT event_id FROM inbox")} == {
        waiting,
        replayed,
        closed,
        young,
    }
    assert {row["event_id"] for row in await run(mechanisms, "SELECT event_id FROM dead_letters")} == {
        waiting,
        replayed,
        closed,
    }


async def test_revocations_are_removed_after_processes_stop_loading_them(mechanisms: Mechanisms) -> None:
    for hours in (25, 25, 2):
        await run(
            mechanisms,
            "INSERT INTO session_revocations VALUES ($1, NULL, now(), now() - make_interval(hours => $2))",
            new_id(),
            hours,
        )
    assert await remove(mechanisms) == 2
    assert len(await run(mechanisms, "SELECT FROM session_revocations")) == 1


async def test_concurrent_workers_remove_each_row_once(mechanisms: Mechanisms) -> None:
    await publish(mechanisms, 95, published_days_ago=8)
    await publish(mechanisms, 5, published_days_ago=6)
    removed = await asyncio.gather(*(remove(mechanisms, PUBLISHED) for _ in range(4)))
    # A worker that skips locked rows may end early; the next round purges the rest.
    assert sum(removed) + await remove(mechanisms, PUBLISHED) == 95
    assert await published(mechanisms) == {"6": 5}


async def test_a_crash_stores_only_complete_steps(mechanisms: Mechanisms) -> None:
    await publish(mechanisms, 35, published_days_ago=8)
    dying = asyncio.create_task(purge_expired_once(mechanisms.database, [PUBLISHED], CLOCK, pause_seconds=3600))
    await eventually(lambda: first_step(mechanisms))
    dying.cancel()
    assert isinstance((await asyncio.gather(dying, return_exceptions=True))[0], asyncio.CancelledError)
    assert await published(mechanisms) == {"8": 25}
    assert await remove(mechanisms, PUBLISHED) == 25


async def first_step(mechanisms: Mechanisms):
    return (await published(mechanisms))["8"] < 35


async def test_a_locked_row_is_skipped_and_counted_as_overdue(mechanisms: Mechanisms) -> None:
    await publish(mechanisms, 3, published_days_ago=9)
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await uow.fetch("SELECT FROM outbox ORDER BY position LIMIT 1 FOR UPDATE")
        assert await remove(mechanisms, PUBLISHED) == 2
        assert shown("retention_overdue_seconds", "outbox") >= 2 * 86_400
    assert await remove(mechanisms, PUBLISHED) == 1
    assert shown("retention_overdue_seconds", "outbox") == 0


async def test_a_failed_rule_is_counted_and_does_not_block_others(mechanisms: Mechanisms) -> None:
    await publish(mechanisms, 1, published_days_ago=8)
    missing = RetentionRule("no_such_table", ("id",), "at", timedelta(days=1))
    assert await remove(mechanisms, missing, PUBLISHED) == 1
    assert shown("retention_failures_total", "no_such_table") == 1


def test_an_inbox_retention_below_that_of_the_outbox_stops_the_start() -> None:
    with pytest.raises(ValidationError, match="INBOX_KEEP_DAYS"):
        kept(outbox_keep_days=30, inbox_keep_days=29)
