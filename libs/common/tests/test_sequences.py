"""Retention of the numbers of events: no subject has one twice, and none is below an earlier one."""

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg

from common.auth.caller import THE_SERVICE
from common.database.outbox import Writes
from common.database.retention import RetentionRule, purge_expired_once
from common.primitives.clock import SystemClock
from common.primitives.ids import new_id
from common.process.message_retention import SEQUENCE_LIFE, SEQUENCE_RETENTION
from contracts.orders import OrderCompleted
from testkit.fixtures import eventually

from .conftest import Mechanisms

CLOCK = SystemClock()


async def run(mechanisms: Mechanisms, statement, *values):
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await uow.fetch(statement, *values)


async def publish(mechanisms: Mechanisms, subject: UUID) -> int:
    """Publish an event and return its number."""
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.publish(OrderCompleted(order_id=subject, buyer_id=subject, vendor_id=subject))
    [row] = await run(mechanisms, "SELECT max(sequence) AS last FROM outbox WHERE subject = $1", str(subject))
    number: int = row["last"]
    return number


async def age(mechanisms: Mechanisms, *subjects: UUID | str, by=SEQUENCE_LIFE + timedelta(days=1)):
    names = [str(subject) for subject in subjects]
    await run(
        mechanisms, "UPDATE outbox_sequences SET used_at = used_at - $2::interval WHERE subject = ANY ($1)", names, by
    )


async def settle_floor(mechanisms: Mechanisms):
    await age(mechanisms, "", by=timedelta(hours=1))


async def purge(mechanisms: Mechanisms, rule: RetentionRule = SEQUENCE_RETENTION):
    return await purge_expired_once(mechanisms.database, [rule], CLOCK, pause_seconds=0)


async def idle_subject(mechanisms: Mechanisms, events: int) -> UUID:
    """Return a subject with this many events that has been idle for long."""
    subject = new_id()
    for _ in range(events):
        await publish(mechanisms, subject)
    await age(mechanisms, subject)
    return subject


async def subjects(mechanisms: Mechanisms):
    return {row["subject"] for row in await run(mechanisms, "SELECT subject FROM outbox_sequences")} - {""}


async def test_a_subject_continues_above_its_numbers_after_its_row_is_removed(mechanisms: Mechanisms) -> None:
    short, long, used = await idle_subject(mechanisms, 1), await idle_subject(mechanisms, 3), new_id()
    assert await publish(mechanisms, used) == 1
    assert await purge(mechanisms) == 0
    await settle_floor(mechanisms)
    assert await purge(mechanisms) == 2
    assert await subjects(mechanisms) == {str(used)}
    assert await publish(mechanisms, used) == 2
    assert [await publish(mechanisms, subject) for subject in (short, long, new_id(), long)] == [4, 4, 4, 5]


async def test_a_crash_after_the_floor_is_raised_repeats_no_number(mechanisms: Mechanisms) -> None:
    subject = await idle_subject(mechanisms, 2)
    assert await purge(mechanisms) == 0
    # The process ends here: the next one finds a floor that has not settled, and removes nothing.
    assert await purge(mechanisms) == 0
    assert await publish(mechanisms, subject) == 3
    assert await publish(mechanisms, new_id()) == 3
    await settle_floor(mechanisms)
    # The subject is above the floor: it waits until a later round has raised it.
    await age(mechanisms, subject)
    assert await purge(mechanisms) == 0
    await settle_floor(mechanisms)
    assert await purge(mechanisms) == 1
    assert await publish(mechanisms, subject) == 4


async def test_the_floor_rises_no_more_than_once_an_hour_and_never_falls(mechanisms: Mechanisms) -> None:
    async def floor():
        [row] = await run(mechanisms, "SELECT last, used_at FROM outbox_sequences WHERE subject = ''")
        return row["last"], row["used_at"]

    await idle_subject(mechanisms, 3)
    await purge(mechanisms)
    first = await floor()
    await idle_subject(mechanisms, 5)
    await purge(mechanisms)
    assert await floor() == first
    await settle_floor(mechanisms)
    await purge(mechanisms)
    assert (await floor())[0] == 8
    await idle_subject(mechanisms, 1)
    await settle_floor(mechanisms)
    await purge(mechanisms)
    assert (await floor())[0] == 9


async def test_an_event_that_is_published_during_the_removal_has_a_new_number(mechanisms: Mechanisms) -> None:
    subject = await idle_subject(mechanisms, 7)
    await purge(mechanisms)
    await settle_floor(mechanisms)
    removing = await asyncpg.connect(mechanisms.urls.service)
    try:
        async with removing.transaction():
            until = CLOCK.now() - SEQUENCE_LIFE
            assert await removing.execute(SEQUENCE_RETENTION.removal, until) == "DELETE 1"
            publishing = asyncio.create_task(publish(mechanisms, subject))
            await eventually(lambda: waits_for(mechanisms, removing.get_server_pid()))
        assert await publishing == 8
    finally:
        await removing.close()


async def waits_for(mechanisms: Mechanisms, process_id: int):
    [row] = await run(
        mechanisms, "SELECT count(*) AS n FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))", process_id
    )
    return row["n"] == 1


async def test_a_subject_that_publishes_during_the_removal_keeps_its_row(mechanisms: Mechanisms) -> None:
    subject = await idle_subject(mechanisms, 2)
    await purge(mechanisms)
    await settle_floor(mechanisms)
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        event = OrderCompleted(order_id=subject, buyer_id=subject, vendor_id=subject)
        await uow.fetch_row_and_publish(Writes("one AS (SELECT 1)", "true AS is_written"), event=event)
        assert await purge(mechanisms) == 0
    assert await purge(mechanisms) == 0
    assert await subjects(mechanisms) == {str(subject)}
    assert await publish(mechanisms, subject) == 4
