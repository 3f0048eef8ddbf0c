"""Pending events: published by one service and not processed by another. They explain differences that resolve
themselves.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from contracts.identity import SessionRevoked
from contracts.topology import SUBSCRIPTIONS
from operations.audit.findings import Kind
from operations.audit.streams import rows_of, snapshots

# Longer than the default retry ladder (756 s). An older event that is no dead letter was lost.
_UNDER_WAY_SECONDS: Final = 1200
_PAIRS: Final = (("orders", "payments"), ("payments", "orders"), ("payments", "payouts"))
_PUBLISHED: Final = """
SELECT id FROM outbox WHERE queue IS NULL AND type = ANY ($1) AND created_at > now() - interval '7 days'
"""
_PROCESSED: Final = "SELECT event_id FROM inbox WHERE event_id = ANY ($1)"
_DEAD: Final = "SELECT event_id FROM dead_letters WHERE event_id = ANY ($1) AND resolved_at IS NULL"
_READ: Final = """
SELECT id, subject, {payload} AS payload, created_at > now() - make_interval(secs => $2) AS is_young
FROM outbox WHERE id = ANY ($1)
"""
# Events of orders have their order as the subject, and their payload may hold a sealed PIN, which the audit cannot
# read.
_PAYLOAD: Final = {"orders": "convert_to('{}', 'UTF8')", "payments": "payload"}


_BATCH: Final = 10_000


async def events_under_way(databases: Mapping[str, asyncpg.Connection]) -> dict[str, dict[str, Kind]]:
    """Return the ids of orders and vendors with unprocessed events, by consumer.

    `open`: the event is a dead letter that waits for staff; else `waiting`.
    """
    unprocessed: dict[str, dict[str, Kind]] = {consumer: {} for _, consumer in _PAIRS}
    for publisher, consumer in _PAIRS:
        concerned = unprocessed[consumer]
        types = [
            event.TYPE
            for event in SUBSCRIPTIONS[consumer]
            if event.publisher() == publisher and event is not SessionRevoked
        ]
        missing: list[UUID] = []
        async with snapshots(databases[publisher]):
            async for batch in _batches(rows_of(databases[publisher], _PUBLISHED, types)):
                processed = {row["event_id"] for row in await databases[consumer].fetch(_PROCESSED, batch)}
                missing += [event_id for event_id in batch if event_id not in processed]
        dead = {row["event_id"] for row in await databases[consumer].fetch(_DEAD, missing)}
        read = _READ.format(payload=_PAYLOAD[publisher])
        for row in await databases[publisher].fetch(read, missing, _UNDER_WAY_SECONDS):
            kind: Kind | None = "open" if row["id"] in dead else "waiting" if row["is_young"] else None
            if kind is not None:
                named = msgspec.json.decode(bytes(row["payload"]))
                for subject in {row["subject"], named.get("orderId"), named.get("vendorId")} - {None}:
                    concerned[subject] = "open" if "open" in (kind, concerned.get(subject)) else "waiting"
    return unprocessed


async def _batches(rows: AsyncIterator[asyncpg.Record]) -> AsyncIterator[list[UUID]]:
    batch: list[UUID] = []
    async for row in rows:
        batch.append(row["id"])
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
