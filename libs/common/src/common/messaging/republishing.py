"""Repeated publishing, after the broker lost messages: the consumers' inboxes ignore repetitions.

`python -m <service> republish --since <instant>` publishes all messages since then again, with the same ids.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import iso, read_instant

COMMAND: Final = "republish"
# Each step locks its rows briefly, so that the relay can continue.
BATCH: Final = 2_000

# Rows that the relay marks during this run have a later time, and are not requeued twice.
_REQUEUE: Final = f"""
WITH piece AS (
    SELECT position FROM outbox WHERE published_at >= $1 AND published_at < $2 ORDER BY published_at LIMIT {BATCH}
    FOR UPDATE
)
UPDATE outbox SET published_at = NULL, next_attempt_at = now() WHERE position IN (SELECT position FROM piece)
"""
_NOW: Final = "SELECT now()"


async def republish(database: Database, since: datetime) -> int:
    """Requeues all messages published at `since` or later, and returns their number.

    The outbox stores published messages for `OUTBOX_KEEP_DAYS`.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        # The clock of the database, which wrote the times that `until` is compared with.
        until: datetime = await uow.fetch_value(_NOW)
    count = 0
    while True:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            requeued = await uow.execute(_REQUEUE, since, until)
        count += requeued
        if requeued < BATCH:
            return count


async def republish_by_command(database: Database, arguments: Sequence[str]) -> None:
    """Print the number of requeued messages. An instant without a zone is UTC."""
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--since", required=True, type=read_instant, help="ISO 8601")
    since: datetime = parser.parse_args(arguments).since
    count = await republish(database, since)
    sys.stdout.write(f"{count} messages published since {iso(since)} are published again\n")
