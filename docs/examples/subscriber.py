"""A subscriber of another team: hears the orders of the marketplace on a queue of its own.

    SUBSCRIBER_BROKER_URL=amqp://... python docs/examples/subscriber.py --queue sub.demo.orders --types 'orders.#'

It needs aio-pika alone. Each event is printed once on standard output as `<sequence> <type> <subject>`; `--count` ends it after
so many. What it has seen it keeps in a SQLite file, in the same transaction as its own effect.
"""

import argparse
import asyncio
import json
import os
import sqlite3
from typing import Any

import aio_pika

# So many unacknowledged messages are on their way to us at most.
PREFETCH = 50


def remember(store: sqlite3.Connection, event: dict[str, Any]) -> bool:
    """Does the subscriber's own work with an event, once; returns whether this was the first time.

    Events come at least once: the id of each is kept beside the effect. They come in any order: what is older than what is
    already known of its subject changes nothing.
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
    """What is known from earlier runs."""
    store = sqlite3.connect(path)
    store.execute("CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY)")
    store.execute(
        "CREATE TABLE IF NOT EXISTS latest "
        "(source TEXT, subject TEXT, sequence INTEGER, type TEXT, PRIMARY KEY (source, subject))"
    )
    return store


async def main() -> None:
    """Declares the queue, binds it and hears."""
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
        # Durable: what is said while we are away waits here. The bound keeps a forgotten queue from filling the broker.
        queue = await channel.declare_queue(options.queue, durable=True, arguments={"x-max-length": 100_000})
        await queue.bind("campus.public", options.types)
        print("listening", flush=True)
        received = 0
        async with queue.iterator() as messages:
            async for message in messages:
                # Acknowledged when the block ends, after the work is kept; an exception sends the message back.
                async with message.process(requeue=True):
                    event = json.loads(message.body)
                    if remember(store, event):
                        received += 1
                        print(event["sequence"], event["type"], event["subject"], flush=True)
                if options.count and received >= options.count:
                    return


if __name__ == "__main__":
    asyncio.run(main())
