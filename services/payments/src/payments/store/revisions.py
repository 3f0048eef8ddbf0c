"""SQL for revised webhooks, their bodies, and their queries to the gateway."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from common.database.unit_of_work import Reads, UnitOfWork
from providers.gateways import GatewayName


class RevisedWebhook(NamedTuple):
    """A key that arrived with other content: `revisions` counts them, `stored` those whose bodies are stored."""

    event_type: str
    revisions: int
    stored: int
    due_at: datetime | None
    queried_at: datetime | None
    queries: int
    gateway: GatewayName


_INSERT: Final = """
INSERT INTO revised_webhooks (webhook_id, revisions, kept, revised_at) VALUES ($1, 0, 0, $2)
ON CONFLICT (webhook_id) DO NOTHING
"""
_LOCK: Final = """
SELECT w.event_type, r.revisions, r.kept, r.due_at, r.queried_at, r.queries, w.gateway
FROM revised_webhooks r JOIN processed_webhook_events w ON w.id = r.webhook_id WHERE r.webhook_id = $1 FOR UPDATE OF r
"""
_IS_KNOWN: Final = "SELECT EXISTS (SELECT FROM webhook_revisions WHERE webhook_id = $1 AND content_hash = $2)"
_RECORD: Final = "INSERT INTO webhook_revisions (webhook_id, content_hash, raw, received_at) VALUES ($1, $2, $3, $4)"
_SAVE: Final = """
UPDATE revised_webhooks SET revisions = revisions + 1, kept = $2, due_at = $3, revised_at = $4 WHERE webhook_id = $1
"""
_LIST_DUE: Final = "SELECT webhook_id FROM revised_webhooks WHERE due_at <= $1 ORDER BY due_at LIMIT 50"
_SAVE_QUERY: Final = """
UPDATE revised_webhooks SET queried_at = $2, due_at = $3, queries = queries + 1 WHERE webhook_id = $1
"""
_LIST_BODIES: Final = """
SELECT raw FROM processed_webhook_events WHERE id = $1
UNION ALL SELECT raw FROM webhook_revisions WHERE webhook_id = $1
"""
# Keeps the query due when the key was revised again after it.
_SAVE_QUERIED: Final = """
UPDATE revised_webhooks SET due_at = NULL, answered_at = $3, queries = 0 WHERE webhook_id = $1 AND revisions = $2
"""


async def lock_revised_webhook(uow: UnitOfWork, webhook_id: str, now: datetime) -> RevisedWebhook:
    """Return the locked counts of a key; zero at its first revision."""
    await uow.execute(_INSERT, webhook_id, now)
    row = await uow.fetch_row(_LOCK, webhook_id)
    if row is None:
        raise LookupError(f"revision of webhook {webhook_id}, which is not recorded")
    return RevisedWebhook(*row)


async def revision_is_known(uow: UnitOfWork, webhook_id: str, content_hash: bytes) -> bool:
    return bool(await uow.fetch_value(_IS_KNOWN, webhook_id, content_hash))


async def record_revision(uow: UnitOfWork, webhook_id: str, content_hash: bytes, raw: bytes, now: datetime) -> None:
    await uow.execute(_RECORD, webhook_id, content_hash, raw, now)


async def save_revised_webhook(
    uow: UnitOfWork, webhook_id: str, stored: int, due_at: datetime | None, now: datetime
) -> None:
    await uow.execute(_SAVE, webhook_id, stored, due_at, now)


async def list_due_queries(reads: Reads, now: datetime) -> list[str]:
    return [row["webhook_id"] for row in await reads.fetch(_LIST_DUE, now)]


async def claim_query(
    uow: UnitOfWork, webhook_id: str, now: datetime, again_at: Callable[[datetime, int], datetime]
) -> RevisedWebhook | None:
    """Return the key when its query is due. It is due again at `again_at(now, queries)` unless its response is saved
    before.
    """
    row = await uow.fetch_row(_LOCK, webhook_id)
    revised = None if row is None else RevisedWebhook(*row)
    if revised is None or revised.due_at is None or revised.due_at > now:
        return None
    await uow.execute(_SAVE_QUERY, webhook_id, now, again_at(now, revised.queries))
    return revised


async def list_bodies(uow: UnitOfWork, webhook_id: str) -> list[bytes]:
    """Return the first body and the stored revisions."""
    return [bytes(row["raw"]) for row in await uow.fetch(_LIST_BODIES, webhook_id)]


async def save_queried(uow: UnitOfWork, webhook_id: str, revisions: int, now: datetime) -> None:
    await uow.execute(_SAVE_QUERIED, webhook_id, revisions, now)
