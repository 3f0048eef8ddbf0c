"""Events that one service has published and another has not processed: they explain a difference that will resolve itself."""

from collections.abc import Mapping
from typing import Final

import asyncpg
import msgspec

from contracts.identity import SessionRevoked
from contracts.topology import SUBSCRIPTIONS
from operations.audit.findings import Kind

# Longer than the whole retry ladder with its default delays (756 s). What is older and no dead letter was lost.
_UNDER_WAY_SECONDS: Final = 1200
_PAIRS: Final = (("orders", "payments"), ("payments", "orders"), ("payments", "payouts"))
_PUBLISHED: Final = """
SELECT id FROM outbox WHERE queue IS NULL AND type = ANY ($1) AND created_at > now() - interval '7 days'
"""
_PROCESSED: Final = "SELECT event_id FROM inbox WHERE event_id = ANY ($1)"
_DEAD: Final = "SELECT event_id FROM dead_letters WHERE event_id = ANY ($1) AND replayed_at IS NULL"
_READ: Final = """
SELECT id, subject, payload, created_at > now() - make_interval(secs => $2) AS is_young FROM outbox WHERE id = ANY ($1)
"""


async def events_under_way(databases: Mapping[str, asyncpg.Connection]) -> dict[str, dict[str, Kind]]:
    """For each consumer the ids of orders and vendors that an unprocessed event is about.

    `open` where its dead letter waits for a person, else `waiting`.
    """
    unprocessed: dict[str, dict[str, Kind]] = {consumer: {} for _, consumer in _PAIRS}
    for publisher, consumer in _PAIRS:
        concerned = unprocessed[consumer]
        types = [
            event.TYPE
            for event in SUBSCRIPTIONS[consumer]
            if event.publisher() == publisher and event is not SessionRevoked
        ]
        published = {row["id"] for row in await databases[publisher].fetch(_PUBLISHED, types)}
        processed = {row["event_id"] for row in await databases[consumer].fetch(_PROCESSED, list(published))}
        missing = list(published - processed)
        dead = {row["event_id"] for row in await databases[consumer].fetch(_DEAD, missing)}
        for row in await databases[publisher].fetch(_READ, missing, _UNDER_WAY_SECONDS):
            kind: Kind | None = "open" if row["id"] in dead else "waiting" if row["is_young"] else None
            if kind is not None:
                named = msgspec.json.decode(bytes(row["payload"]))
                for subject in {row["subject"], named.get("orderId"), named.get("vendorId")} - {None}:
                    concerned[subject] = "open" if "open" in (kind, concerned.get(subject)) else "waiting"
    return unprocessed
