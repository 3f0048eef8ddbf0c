"""Replay for one subscriber: past public events, published again to one queue of its team only.

`python -m <service> replay --queue sub.<team>.<name> --types TYPE,... --since INSTANT` reads the address of the broker
from stdin: no account of a service may publish to another queue than its own.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import aio_pika
import asyncpg
from aio_pika.abc import AbstractChannel
from aiormq.exceptions import ChannelNotFoundEntity

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.messaging.bus import CONTENT_TYPE
from common.messaging.relay import cloud_event, row_of
from common.primitives.clock import iso, read_instant
from common.primitives.waiting import bounded
from contracts.topology import PUBLIC

COMMAND: Final = "replay"
# Messages with pending confirms.
BATCH: Final = 200
# For a batch, and for each answer before it.
RESPONSE_SECONDS_MAX: Final = 60.0
# Of a subscriber: no queue of a service starts so.
_QUEUE: Final = re.compile(r"sub\.[a-z][a-z0-9-]*\.\S+")
_PAGE: Final = f"""
SELECT position, id, queue, type, source, subject, sequence, payload, trace, created_at
FROM outbox
WHERE published_at >= $1 AND type = ANY ($2::text[]) AND queue IS NULL AND position > $3
ORDER BY position LIMIT {BATCH}
"""


class ReplayRefused(Exception):
    """Rejection of a replay before its first message; the message gives the reason."""


async def replay(database: Database, broker_url: str, queue: str, types: Sequence[str], since: datetime) -> int:
    """Publish the events of these types since an instant to one subscriber's queue, in their order; return their
    number.

    The outbox keeps published events for `OUTBOX_KEEP_DAYS`. A repetition, also after an interruption, publishes them
    again with the same ids.

    Raises:
        ReplayRefused: the queue is no subscriber's or does not exist, or a type is not public.
    """
    if not _QUEUE.fullmatch(queue):
        raise ReplayRefused(f"{queue} is no queue of a subscriber: sub.TEAM.NAME")
    if unknown := set(types) - {event.TYPE for event in PUBLIC}:
        raise ReplayRefused(f"These are no public event types: {', '.join(sorted(unknown))}")
    connection = await bounded(aio_pika.connect(broker_url), RESPONSE_SECONDS_MAX)
    async with connection:
        channel = connection.channel(publisher_confirms=True, on_return_raises=True)
        try:
            await bounded(_find_queue(channel, queue), RESPONSE_SECONDS_MAX)
        except ChannelNotFoundEntity:
            raise ReplayRefused(f"The broker has no queue {queue}: its team declares it first") from None
        count, position = 0, 0
        while rows := await _page(database, since, types, position):
            await bounded(_publish_all(channel, queue, rows), RESPONSE_SECONDS_MAX)
            count, position = count + len(rows), rows[-1]["position"]
    return count


async def _page(database: Database, since: datetime, types: Sequence[str], position: int) -> list[asyncpg.Record]:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return list(await uow.fetch(_PAGE, since, list(types), position))


async def _find_queue(channel: AbstractChannel, queue: str) -> None:
    await channel.initialize()
    await channel.get_queue(queue, ensure=True)


async def _publish_all(channel: AbstractChannel, queue: str, rows: Sequence[asyncpg.Record]) -> None:
    await asyncio.gather(*(_publish(channel, queue, row) for row in rows))


async def _publish(channel: AbstractChannel, queue: str, record: asyncpg.Record) -> None:
    row = row_of(record)
    message = aio_pika.Message(
        cloud_event(row),
        message_id=str(row.id),
        type=row.type,
        content_type=CONTENT_TYPE,
        headers={"replayed": True},
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
    )
    await channel.default_exchange.publish(message, queue)


async def replay_by_command(database: Database, arguments: Sequence[str]) -> None:
    """Print the number of published messages; exit with the reason when the replay is refused."""
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--queue", required=True, help="sub.TEAM.NAME")
    parser.add_argument("--types", required=True, help="event types, separated by commas")
    parser.add_argument("--since", required=True, type=read_instant, help="ISO 8601")
    given = parser.parse_args(arguments)
    broker_url = (await asyncio.to_thread(sys.stdin.readline)).strip()
    try:
        count = await replay(database, broker_url, given.queue, given.types.split(","), given.since)
    except ReplayRefused as refusal:
        sys.exit(str(refusal))
    sys.stdout.write(f"{count} events since {iso(given.since)} are in {given.queue} again\n")
