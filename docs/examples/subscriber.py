"""A subscriber of another team: consumes the marketplace's order events from its own queue.

    SUBSCRIBER_BROKER_URL=amqp://... python docs/examples/subscriber.py --queue sub.demo.orders --types 'orders.#'

It needs aio-pika only. It prints each event once as `<sequence> <type> <subject>`; `--count` limits the number of
events. A SQLite file stores the ids of processed events, in the same transaction as the effect.
"""

import argparse
import asyncio
import json
import os
import sqlite3
from typing import Any

import aio_pika

# The number of unacknowledged messages that the broker sends at most.
PREFETCH = 50


def remember(store: sqlite3.Connection, event: dict[str, Any]) -> bool:
    """Process an event once; return whether it is new.

    Events arrive at least once, so each id is stored with the effect. They arrive in any order, so an event that is
    older than the newest one of its subject changes nothing.
    """
    with store:
        seen = store.execute("INSERT INTO seen (id) VALUES (?) ON CONFLICT DO NOTHING", (event["id"],))
        if seen.rowcount == 0:
            return False
        store.execute(
            "INSERT INTO latest (source, subject, sequence, type) VALUES (:source, :subject, :sequence, :type) "
            "ON CONFLICT (source, subject) DO UPDATE SET sequence = excluded.sequence, type = excluded.type "
            "WHERE excluded.sequence > latest.sequence",
            {name: event[name] for name in ("source", "subject", "sequence", "type")},
        )
    return True


def opened(path: str) -> sqlite3.Connection:
    """Open the store of earlier runs."""
    store = sqlite3.connect(path)
    store.execute("CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY)")
    store.execute(
        "CREATE TABLE IF NOT EXISTS latest "
        "(source TEXT, subject TEXT, sequence INTEGER, type TEXT, PRIMARY KEY (source, subject))"
    )
    return store


async def main() -> None:
    """Declare the queue, bind it and consume events."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--queue", default="sub.demo.orders")
    arguments.add_argument("--types", default="orders.#")
    arguments.add_argument("--store", default="subscriber.sqlite")
    arguments.add_argument("--count", type=int, default=0)
    options = arguments.parse_args()
    store = opened(options.store)
    connection = await aio_pika.connect_robust(os.environ["SUBSCRIBER_BROKER_URL"])
    async with connection:
        channel = await connection.channel()
        await channel.set_qos(prefetch_count=PREFETCH)
        # Durable: events wait here while the subscriber is down. The bound keeps an unread queue from filling the
        # broker.
        queue = await channel.declare_queue(options.queue, durable=True, arguments={"x-max-length": 100_000})
        await queue.bind("campus.public", options.types)
        print("listening", flush=True)
        received = 0
        async with queue.iterator() as messages:
            async for message in messages:
                # The end of the block acknowledges the message, after the commit; an exception requeues it.
                async with message.process(requeue=True):
                    event = json.loads(message.body)
                    if remember(store, event):
                        received += 1
                        print(event["sequence"], event["type"], event["subject"], flush=True)
                if options.count and received >= options.count:
                    return


if __name__ == "__main__":
    asyncio.run(main())
