"""Say again what was said, after the broker lost what it held: the consumers' inboxes take each message once.

`python -m <service> republish --since <instant>`: what left the outbox since then leaves it once more, under the same ids.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import iso

COMMAND: Final = "republish"
# Each step holds its rows for moments only: the relay works beside it.
BATCH: Final = 2_000

# What the relay marks anew while this runs carries a later time, and is not taken twice.
_REQUEUE: Final = f"""
WITH piece AS (
    SELECT position FROM outbox WHERE published_at >= $1 AND published_at < $2 ORDER BY published_at LIMIT {BATCH} FOR UPDATE
)
UPDATE outbox SET published_at = NULL, next_attempt_at = now() WHERE position IN (SELECT position FROM piece)
"""
_NOW: Final = "SELECT now()"


async def republish(database: Database, since: datetime) -> int:
    """How many messages leave again: all that were published at `since` or later. The outbox keeps them for `OUTBOX_KEEP_DAYS`."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        # The database's own clock: it wrote the times that this is compared with.
        until: datetime = await uow.fetch_value(_NOW)
    count = 0
    while True:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            requeued = await uow.execute(_REQUEUE, since, until)
        count += requeued
        if requeued < BATCH:
            return count


async def republish_by_command(database: Database, arguments: Sequence[str]) -> None:
    """Prints how many leave again. An instant without a zone is UTC."""
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--since", required=True, type=_instant, help="ISO 8601")
    since: datetime = parser.parse_args(arguments).since
    count = await republish(database, since)
    sys.stdout.write(f"{count} messages published since {iso(since)} leave again\n")


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
