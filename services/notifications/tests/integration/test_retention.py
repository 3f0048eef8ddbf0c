"""Attempts leave by whole months, deliveries after them, and what is not done stays; nobody reads a month past the row policies."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
import pytest_asyncio
from prometheus_client import REGISTRY
from pydantic import ValidationError

from common.auth.caller import Caller
from common.database.retention import REMOVING
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from testkit.fixtures import eventually

LOG = "notification_delivery_logs"
# Beyond every month that the migration makes.
LATER = datetime(2031, 3, 15, tzinfo=UTC)


@pytest_asyncio.fixture(loop_scope="session")
async def story(open_story):
    async with open_story(clock=ManualClock(LATER)) as opened:
        yield opened


async def notify(story, at, *, status="sent", tried_at=None):
    """A notification of that time with a delivery, and an attempt unless `tried_at` is False."""
    notification, delivery, attempt = new_id(), new_id(), new_id()
    await story.service.fetch(
        "INSERT INTO notifications (id, user_id, template, created_at) VALUES ($1, $1, 'order_paid', $2) RETURNING id",
        notification,
        at,
    )
    await story.service.fetch(
        "INSERT INTO notification_deliveries (id, notification_id, channel, recipient, template, payload, sealed, status, "
        "created_at) VALUES ($1, $2, 'email', 'a', 'order_paid', '{}', '{}', $3, $4) RETURNING id",
        delivery,
        notification,
        status,
        at,
    )
    if tried_at is not False:
        await story.service.fetch(
            f"INSERT INTO {LOG} (id, delivery_id, notification_id, channel, template, recipient, status, attempted_at) "
            "VALUES ($1, $2, $3, 'email', 'order_paid', 'a', 'sent', $4) RETURNING id",
            attempt,
            delivery,
            notification,
            tried_at or at,
        )
    return notification, delivery, attempt


async def ids(story, table):
    return {row["id"] for row in await story.service.fetch(f"SELECT id FROM {table}")}


async def months(story):
    rows = await story.service.fetch(
        f"SELECT relname FROM pg_class JOIN pg_inherits ON inhrelid = oid WHERE inhparent = '{LOG}'::regclass"
    )
    return {row["relname"].removeprefix(f"{LOG}_") for row in rows}


async def turn_the_months(story, *, workers=1):
    """Rounds of retention until the months around LATER stand. A round that does not get its locks within half a second, behind a
    checkpoint or a vacuum, leaves the months to the next round by design."""

    async def turned():
        await asyncio.gather(*(story.service.remove_old() for _ in range(workers)))
        return "2031_05" in await months(story)

    await eventually(turned)


def astray():
    return REGISTRY.get_sample_value("retention_astray_rows", {"what": LOG})


async def test_attempts_that_no_month_takes_are_counted_and_move_to_their_month_when_it_is_made(story):
    _, _, attempt = await notify(story, LATER)
    await turn_the_months(story)
    assert astray() == 1

    async def at_home():
        await story.service.remove_old()
        return astray() == 0

    await eventually(at_home)
    assert await ids(story, LOG) == {attempt}
    assert {"2031_03", "2031_04", "2031_05"} <= await months(story)
    assert "2031_06" not in await months(story)
    [row] = await story.service.fetch(f"SELECT tableoid::regclass::text AS month FROM {LOG}")
    assert row["month"] == f"{LOG}_2031_03"


async def test_whole_months_leave_with_their_attempts_and_their_deliveries_after_them(story):
    # 180 days before the fifteenth of March lie in September: all of August is old enough, and nothing of September.
    months_of = [datetime(2030, month, 20, tzinfo=UTC) for month in (7, 8, 9)]
    (_, july, _), (august_notification, august, _), (_, september, kept) = [await notify(story, at) for at in months_of]
    _, resent, again = await notify(story, months_of[0], tried_at=LATER - timedelta(days=3))
    _, waiting, _ = await notify(story, months_of[0], status="queued", tried_at=False)
    await story.service.fetch(
        "INSERT INTO notification_resends (id, delivery_id, log_id, asked_by, asked_at) VALUES ($1, $2, $1, $1, $3) RETURNING id",
        new_id(),
        july,
        months_of[0],
    )
    await turn_the_months(story)
    assert await ids(story, LOG) == {kept, again}
    assert await ids(story, "notification_deliveries") == {september, resent, waiting}
    assert await ids(story, "notification_resends") == set()
    assert august not in await ids(story, "notification_deliveries")
    assert august_notification in await ids(story, "notifications")
    assert not {"earlier", "2030_07", "2030_08"} & await months(story)
    assert "2030_09" in await months(story)


async def test_a_notification_leaves_after_a_year_with_the_watch_over_its_pin_and_never_before_its_deliveries(story):
    year_ago = LATER - timedelta(days=366)
    bare, held = new_id(), (await notify(story, year_ago, status="queued", tried_at=False))[0]
    for identifier, at in ((bare, year_ago), (young := new_id(), LATER - timedelta(days=364))):
        await story.service.fetch(
            "INSERT INTO notifications (id, user_id, template, created_at) VALUES ($1, $1, 'delivery_pin', $2) RETURNING id",
            identifier,
            at,
        )
        await story.service.fetch(
            "INSERT INTO pin_watches (notification_id, issue, channel) VALUES ($1, 1, 'sms') RETURNING issue",
            identifier,
        )
    await story.service.remove_old()
    assert await ids(story, "notifications") == {held, young}
    assert [row["notification_id"] for row in await story.service.fetch("SELECT * FROM pin_watches")] == [young]


async def test_closed_alerts_leave_after_a_year_and_open_ones_never(story):
    for key, closed_at in (("open", None), ("old", LATER - timedelta(days=366)), ("new", LATER)):
        await story.service.fetch(
            "INSERT INTO alerts (id, severity, title, detail, runbook, dedup_key, source, raised_at, last_raised_at, closed_at) "
            "VALUES ($1, 'SEV-3', 't', 'd', 'r', $2, 's', $3, $3, $4) RETURNING id",
            new_id(),
            key,
            LATER - timedelta(days=999),
            closed_at,
        )
    await story.service.remove_old()
    assert {row["dedup_key"] for row in await story.service.fetch("SELECT dedup_key FROM alerts")} == {"open", "new"}


async def test_bodies_of_the_messaging_app_leave_and_what_a_customer_wrote_is_known_for_ever(story):
    old = LATER - timedelta(days=91)
    for number, (outcome, kind, item) in enumerate(
        [
            ("done", "message", "done"),
            ("done", "message", "dead"),
            ("queued", "status", "queued"),
            ("done", "status", "done"),
        ]
    ):
        await story.service.fetch(
            "INSERT INTO processed_webhook_events VALUES ($1, 'messaging', 'messages', '{}', '', $2, $3) RETURNING id",
            f"w{number}",
            outcome,
            old,
        )
        await story.service.fetch(
            "INSERT INTO messaging_items (id, webhook_id, kind, content, outcome, received_at) "
            "VALUES ($1, $2, $3, '{}', $4, $5) RETURNING id",
            f"i{number}",
            f"w{number}",
            kind,
            item,
            old,
        )
    await story.service.remove_old()
    assert await ids(story, "processed_webhook_events") == {"w1", "w2"}
    items = await story.service.fetch("SELECT id, webhook_id FROM messaging_items ORDER BY id")
    assert [tuple(row) for row in items] == [("i0", None), ("i1", "w1"), ("i2", "w2")]


async def test_several_workers_turn_the_months_at_once_and_each_month_stands_once(story):
    await turn_the_months(story, workers=3)
    assert {"2031_03", "2031_04", "2031_05", "rest"} <= await months(story)


async def test_a_log_that_somebody_holds_keeps_its_months_until_the_next_round(story):
    async with story.service.runtime.database.unit_of_work(acting_as=REMOVING) as reader:
        await reader.fetch(f"SELECT FROM {LOG}")
        await story.service.remove_old()
        assert "2031_03" not in await months(story)
    await turn_the_months(story)
    assert {"2031_03", "2031_04", "2031_05"} <= await months(story)


async def test_a_month_is_read_through_the_log_and_its_row_policies_only(story):
    await notify(story, LATER)
    await story.service.remove_old()
    database = story.service.runtime.database
    auditor = Caller(user_id=new_id(), permissions=frozenset({"delivery_logs:read"}))
    for caller, seen in ((auditor, 1), (Caller(user_id=new_id()), 0)):
        async with database.unit_of_work(acting_as=caller) as uow:
            assert len(await uow.fetch(f"SELECT * FROM {LOG}")) == seen
    async with database.api.connection() as connection:
        for name in await months(story):
            for read in (story.service.fetch, connection.fetch):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await read(f"SELECT * FROM {LOG}_{name}")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch(f"SELECT {LOG}_turn_months(now(), now())")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await story.service.fetch(f"DROP TABLE {LOG}_rest")


async def test_a_notification_that_would_go_before_its_deliveries_stops_the_start(open_story):
    with pytest.raises(ValidationError, match="NOTIFICATIONS_KEEP_DAYS"):
        async with open_story(deliveries_keep_days=180, notifications_keep_days=200):
            pass
