"""Retention: attempts go by whole months, deliveries after them; the months obey the row policies."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from prometheus_client import REGISTRY
from pydantic import ValidationError

from common.auth.caller import Caller
from common.database.retention import REMOVING
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from testkit.fixtures import eventually
from testkit.service_kit import OpenService

from .conftest import OpenScenario, Scenario

LOG = "notification_delivery_logs"
# After every month that the migration creates.
LATER = datetime(2031, 3, 15, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(LATER)


async def notify(scenario: Scenario, at, *, status="sent", tried_at=None):
    """Return a notification of that time with a delivery, and an attempt unless `tried_at` is False. Returns their
    ids.
    """
    notification, delivery, attempt = new_id(), new_id(), new_id()
    await scenario.fetch(
        "INSERT INTO notifications (id, user_id, template, created_at) VALUES ($1, $1, 'order_paid', $2) RETURNING id",
        notification,
        at,
    )
    await scenario.fetch(
        "INSERT INTO notification_deliveries (id, notification_id, channel, recipient, template, payload, "
        "sealed, status, "
        "created_at) VALUES ($1, $2, 'email', 'a', 'order_paid', '{}', '{}', $3, $4) RETURNING id",
        delivery,
        notification,
        status,
        at,
    )
    if tried_at is not False:
        await scenario.fetch(
            f"INSERT INTO {LOG} (id, delivery_id, notification_id, channel, template, recipient, status, attempted_at) "
            "VALUES ($1, $2, $3, 'email', 'order_paid', 'a', 'sent', $4) RETURNING id",
            attempt,
            delivery,
            notification,
            tried_at or at,
        )
    return notification, delivery, attempt


async def ids(scenario: Scenario, table):
    return {row["id"] for row in await scenario.fetch(f"SELECT id FROM {table}")}


async def months(scenario: Scenario):
    rows = await scenario.fetch(
        f"SELECT relname FROM pg_class JOIN pg_inherits ON inhrelid = oid WHERE inhparent = '{LOG}'::regclass"
    )
    return {row["relname"].removeprefix(f"{LOG}_") for row in rows}


async def create_months(scenario: Scenario, *, workers=1):
    """Run retention until the months around LATER exist. A round without its locks within half a second skips them
    until the next round by design.
    """

    async def created():
        await asyncio.gather(*(scenario.remove_old() for _ in range(workers)))
        return "2031_05" in await months(scenario)

    await eventually(created)


def rows_without_month():
    return REGISTRY.get_sample_value("retention_astray_rows", {"what": LOG})


async def test_attempts_without_a_month_move_when_it_is_created(scenario: Scenario, app: OpenService) -> None:
    _, _, attempt = await notify(scenario, LATER)
    await create_months(scenario)
    assert rows_without_month() == 1

    async def all_moved():
        await app.remove_old()
        return rows_without_month() == 0

    await eventually(all_moved)
    assert await ids(scenario, LOG) == {attempt}
    assert {"2031_03", "2031_04", "2031_05"} <= await months(scenario)
    assert "2031_06" not in await months(scenario)
    [row] = await scenario.fetch(f"SELECT tableoid::regclass::text AS month FROM {LOG}")
    assert row["month"] == f"{LOG}_2031_03"


async def test_expired_months_are_removed_with_their_deliveries(scenario: Scenario) -> None:
    months_of = [datetime(2030, month, 20, tzinfo=UTC) for month in (7, 8, 9)]
    (_, july, _), (august_notification, august, _), (_, september, kept) = [
        await notify(scenario, at) for at in months_of
    ]
    _, resent, again = await notify(scenario, months_of[0], tried_at=LATER - timedelta(days=3))
    _, waiting, _ = await notify(scenario, months_of[0], status="queued", tried_at=False)
    await scenario.fetch(
        (
            "INSERT INTO notification_resends (id, delivery_id, log_id, asked_by, asked_at) VALUES ($1, $2, $1, $1, "
            "$3) RETURNING id"
        ),
        new_id(),
        july,
        months_of[0],
    )
    await create_months(scenario)
    assert await ids(scenario, LOG) == {kept, again}
    assert await ids(scenario, "notification_deliveries") == {september, resent, waiting}
    assert await ids(scenario, "notification_resends") == set()
    assert august not in await ids(scenario, "notification_deliveries")
    assert august_notification in await ids(scenario, "notifications")
    assert not {"earlier", "2030_07", "2030_08"} & await months(scenario)
    assert "2030_09" in await months(scenario)


async def test_notifications_expire_after_a_year_and_after_their_deliveries(
    scenario: Scenario, app: OpenService
) -> None:
    year_ago = LATER - timedelta(days=366)
    bare, held = new_id(), (await notify(scenario, year_ago, status="queued", tried_at=False))[0]
    for identifier, at in ((bare, year_ago), (young := new_id(), LATER - timedelta(days=364))):
        await scenario.fetch(
            (
                "INSERT INTO notifications (id, user_id, template, created_at) VALUES ($1, $1, 'delivery_pin', $2) "
                "RETURNING id"
            ),
            identifier,
            at,
        )
        await scenario.fetch(
            "INSERT INTO pin_watches (notification_id, issue, channel) VALUES ($1, 1, 'sms') RETURNING issue",
            identifier,
        )
    await app.remove_old()
    assert await ids(scenario, "notifications") == {held, young}
    assert [row["notification_id"] for row in await scenario.fetch("SELECT * FROM pin_watches")] == [young]


async def test_closed_alerts_expire_after_a_year(scenario: Scenario, app: OpenService) -> None:
    for key, closed_at in (("open", None), ("old", LATER - timedelta(days=366)), ("new", LATER)):
        await scenario.fetch(
            "INSERT INTO alerts (id, severity, title, detail, runbook, dedup_key, source, raised_at, "
            "last_raised_at, closed_at) "
            "VALUES ($1, 'SEV-3', 't', 'd', 'r', $2, 's', $3, $3, $4) RETURNING id",
            new_id(),
            key,
            LATER - timedelta(days=999),
            closed_at,
        )
    await app.remove_old()
    assert {row["dedup_key"] for row in await scenario.fetch("SELECT dedup_key FROM alerts")} == {"open", "new"}


async def test_webhook_bodies_expire_and_message_ids_stay(scenario: Scenario, app: OpenService) -> None:
    old = LATER - timedelta(days=91)
    for number, (outcome, kind, item) in enumerate(
        [
            ("done", "message", "done"),
            ("done", "message", "dead"),
            ("queued", "status", "queued"),
            ("done", "status", "done"),
        ]
    ):
        await scenario.fetch(
            "INSERT INTO processed_webhook_events VALUES ($1, 'messaging', 'messages', '{}', '', $2, $3) RETURNING id",
            f"w{number}",
            outcome,
            old,
        )
        await scenario.fetch(
            "INSERT INTO messaging_items (id, webhook_id, kind, content, outcome, received_at) "
            "VALUES ($1, $2, $3, '{}', $4, $5) RETURNING id",
            f"i{number}",
            f"w{number}",
            kind,
            item,
            old,
        )
    await app.remove_old()
    assert await ids(scenario, "processed_webhook_events") == {"w1", "w2"}
    items = await scenario.fetch("SELECT id, webhook_id FROM messaging_items ORDER BY id")
    assert [tuple(row) for row in items] == [("i0", None), ("i1", "w1"), ("i2", "w2")]


async def test_several_workers_create_each_month_once(scenario: Scenario) -> None:
    await create_months(scenario, workers=3)
    assert {"2031_03", "2031_04", "2031_05", "rest"} <= await months(scenario)


async def test_a_locked_log_is_partitioned_in_the_next_round(scenario: Scenario, app: OpenService) -> None:
    async with scenario.unit_of_work(REMOVING) as reader:
        await reader.fetch(f"SELECT FROM {LOG}")
        await app.remove_old()
        assert "2031_03" not in await months(scenario)
    await create_months(scenario)
    assert {"2031_03", "2031_04", "2031_05"} <= await months(scenario)


async def test_a_month_is_read_through_the_log_and_its_row_policies_only(scenario: Scenario, app: OpenService) -> None:
    await notify(scenario, LATER)
    await app.remove_old()
    database = app.runtime.database
    auditor = Caller(user_id=new_id(), permissions=frozenset({"delivery_logs:read"}))
    for caller, count in ((auditor, 1), (Caller(user_id=new_id()), 0)):
        async with scenario.unit_of_work(caller) as uow:
            assert len(await uow.fetch(f"SELECT * FROM {LOG}")) == count
    async with database.api.connection() as connection:
        for name in await months(scenario):
            for read in (scenario.fetch, connection.fetch):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await read(f"SELECT * FROM {LOG}_{name}")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch(f"SELECT {LOG}_turn_months(now(), now())")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await scenario.fetch(f"DROP TABLE {LOG}_rest")


async def test_a_retention_shorter_than_the_deliveries_is_a_settings_error(open_scenario: OpenScenario) -> None:
    with pytest.raises(ValidationError, match="NOTIFICATIONS_KEEP_DAYS"):
        async with open_scenario(deliveries_keep_days=180, notifications_keep_days=200):
            pass


async def test_the_summary_of_an_order_is_removed_after_two_years(scenario: Scenario, app: OpenService) -> None:
    kept, expired = new_id(), new_id()
    for order_id, days in ((kept, 729), (expired, 731)):
        await scenario.fetch(
            "INSERT INTO order_summaries (order_id, vendor_id, total_minor, delivery_fee_minor, items, recorded_at) "
            "VALUES ($1, $1, 1, 0, '[]', now() - make_interval(days => $2)) RETURNING 1",
            order_id,
            days,
        )
    await app.remove_old()
    assert [row["order_id"] for row in await scenario.fetch("SELECT order_id FROM order_summaries")] == [kept]
