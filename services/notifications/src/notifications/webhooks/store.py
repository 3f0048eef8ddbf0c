"""Writes of outgoing webhooks: endpoints, events, deliveries and their queue."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.database.outbox import Writes
from common.database.reencryption import EncryptedRows, stale_text
from common.database.retention import RetentionRule, Rule
from common.database.state_changes import allows_change, change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from notifications.webhooks.domain.webhook_events import WebhookEvent
from notifications.webhooks.domain.webhooks import (
    ENDPOINT,
    EVENT_LIFETIME,
    WEBHOOK,
    ClaimedWebhook,
    DeliveryStatus,
    DisabledReason,
    EndpointSecrets,
    WebhookEndpoint,
    WebhookResponse,
)

_ENDPOINT: Final = "id, vendor_id, url, event_types, description, status, disabled_reason, created_at"
# Serializes the creations of an owner, so that concurrent ones cannot exceed the limit together.
_LOCK_OWNER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('webhook endpoints:' || $1::text, 0))"
_COUNT: Final = "SELECT count(*) FROM webhook_endpoints WHERE vendor_id IS NOT DISTINCT FROM $1"
_INSERT: Final = """
INSERT INTO webhook_endpoints
    (id, vendor_id, url, event_types, description, status, secret_sealed, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, 'enabled', $6, $7, $8)
"""
_LOCK: Final = f"SELECT {_ENDPOINT} FROM webhook_endpoints WHERE id = $1 FOR UPDATE"
_SAVE: Final = "UPDATE webhook_endpoints SET url = $2, event_types = $3, description = $4 WHERE id = $1"
_ROTATE: Final = """
UPDATE webhook_endpoints
SET previous_secret_sealed = secret_sealed, previous_secret_until = $3, secret_sealed = $2
WHERE id = $1
"""
_ENABLE: Final = f"""
UPDATE webhook_endpoints SET status = 'enabled', disabled_reason = NULL, failing_since = NULL
WHERE id = $1 AND status IN {states_before(ENDPOINT, "enabled")}
"""
_DISABLE: Final = f"""
UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = $2
WHERE id = $1 AND status IN {states_before(ENDPOINT, "disabled")}
"""
_CANCEL_PENDING: Final = f"""
UPDATE webhook_deliveries
SET status = 'failed', next_attempt_at = NULL, finished_at = $2, error = 'the endpoint was disabled'
WHERE endpoint_id = $1 AND status IN {states_before(WEBHOOK, "endpoint_disabled")}
"""
_REMOVE: Final = "DELETE FROM webhook_endpoints WHERE id = $1"
_REMOVE_OF_VENDOR: Final = "DELETE FROM webhook_endpoints WHERE vendor_id = $1"
# An event is stored only if an endpoint names its type. A disabled endpoint can have it replayed later.
_RECORD_EVENTS: Final = Writes(
    """
event AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::timestamptz[], $5::jsonb[], $6::text[])
        AS e (id, type, vendor_id, occurred_at, data, traceparent)
), subscribed AS (
    SELECT event.id AS event_id, endpoint.id AS endpoint_id, endpoint.status
    FROM event JOIN webhook_endpoints AS endpoint ON event.type = ANY (endpoint.event_types)
    WHERE endpoint.vendor_id IS NULL OR endpoint.vendor_id = event.vendor_id
), recorded_event AS (
    INSERT INTO webhook_events (id, type, vendor_id, occurred_at, data, traceparent, recorded_at)
    SELECT id, type, vendor_id, occurred_at, data, traceparent, $7 FROM event
    WHERE id IN (SELECT event_id FROM subscribed)
    ON CONFLICT (id) DO NOTHING
    RETURNING id
), queued_webhook AS (
    INSERT INTO webhook_deliveries (id, endpoint_id, event_id, status, next_attempt_at, created_at)
    SELECT gen_random_uuid(), subscribed.endpoint_id, recorded_event.id, 'pending', $7, $7
    FROM recorded_event JOIN subscribed ON subscribed.event_id = recorded_event.id WHERE subscribed.status = 'enabled'
)
""",
    "(SELECT count(*) FROM recorded_event) AS webhook_events",
    final="true",
)
_INSERT_TEST: Final = """
WITH event AS (
    INSERT INTO webhook_events (id, type, vendor_id, occurred_at, data, recorded_at)
    VALUES ($1, $2, $3, $4, $5, $4) RETURNING id
)
INSERT INTO webhook_deliveries (id, endpoint_id, event_id, status, next_attempt_at, created_at)
SELECT $6, $7, id, 'pending', $4, $4 FROM event
"""
_QUEUE_REPLAY: Final = """
INSERT INTO webhook_deliveries (id, endpoint_id, event_id, status, next_attempt_at, created_at)
SELECT gen_random_uuid(), $1, event_id, 'pending', $3, $3 FROM unnest($2::uuid[]) AS event_id
ON CONFLICT (event_id, endpoint_id) WHERE status = 'pending' DO NOTHING
"""
# At most $3 deliveries of each endpoint, and one of an endpoint whose last attempt failed: a hanging endpoint delays no
# other one. The lease is the next attempt of a worker that dies.
_CLAIM: Final = """
WITH due AS (
    SELECT delivery.id FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
        SELECT id FROM webhook_deliveries
        WHERE endpoint_id = endpoint.id AND status = 'pending' AND next_attempt_at <= $1
        ORDER BY next_attempt_at
        LIMIT CASE WHEN endpoint.failing_since IS NULL THEN $3::integer ELSE 1 END
        FOR UPDATE SKIP LOCKED
    ) AS delivery
    WHERE endpoint.status = 'enabled' AND endpoint.id <> ALL ($2::uuid[])
    LIMIT $4
)
UPDATE webhook_deliveries AS delivery SET attempts = delivery.attempts + 1, next_attempt_at = $5
FROM due, webhook_endpoints AS endpoint, webhook_events AS event
WHERE delivery.id = due.id AND endpoint.id = delivery.endpoint_id AND event.id = delivery.event_id
RETURNING delivery.id AS delivery_id, delivery.attempts, endpoint.id AS endpoint_id,
    endpoint.vendor_id AS endpoint_vendor_id, endpoint.url, endpoint.secret_sealed, endpoint.previous_secret_sealed,
    endpoint.previous_secret_until, event.id AS event_id, event.type, event.vendor_id, event.occurred_at, event.data,
    event.traceparent
"""
# A worker that outlived its lease records nothing: another attempt has started. An endpoint that changes is locked
# before its deliveries, as by the transactions that disable or remove it. A success ends its failures.
_SAVE_ATTEMPT: Final = f"""
WITH changing AS MATERIALIZED (
    SELECT id FROM webhook_endpoints WHERE id = $9 AND ($3 <> 'delivered' OR failing_since IS NOT NULL)
    FOR NO KEY UPDATE
), saved AS (
    UPDATE webhook_deliveries
    SET status = $3, next_attempt_at = $4, finished_at = $5, response_status = $6, response_excerpt = $7, error = $8
    WHERE id = $1 AND attempts = $2 AND {allows_change(WEBHOOK, "$3")} AND (SELECT count(*) FROM changing) >= 0
    RETURNING id
), recovered AS (
    UPDATE webhook_endpoints SET failing_since = NULL
    WHERE $3 = 'delivered' AND id IN (SELECT id FROM changing) AND EXISTS (SELECT FROM saved)
)
SELECT count(*) FROM saved
"""
_SAVE_FAILURE: Final = "UPDATE webhook_endpoints SET failing_since = $2 WHERE id = $1 AND failing_since IS NULL"
_FAILING_SINCE: Final = "SELECT failing_since FROM webhook_endpoints WHERE id = $1"
_WITHOUT_PENDING: Final = """
NOT EXISTS (
    SELECT FROM webhook_deliveries AS delivery
    WHERE delivery.event_id = webhook_events.id AND delivery.status = 'pending'
)
"""
_SECRETS: Final = ("secret_sealed", "previous_secret_sealed")


async def lock_webhook_owner(uow: UnitOfWork, vendor_id: UUID | None) -> None:
    """Serialize the creations of an owner's endpoints."""
    await uow.execute(_LOCK_OWNER, str(vendor_id or "platform"))


async def count_webhook_endpoints(uow: UnitOfWork, vendor_id: UUID | None) -> int:
    """Return the number of the owner's endpoints."""
    count: int = await uow.fetch_value(_COUNT, vendor_id)
    return count


async def insert_webhook_endpoint(
    uow: UnitOfWork, endpoint: WebhookEndpoint, encrypted_secret: str, created_by: UUID
) -> None:
    await uow.execute(
        _INSERT,
        endpoint.id,
        endpoint.vendor_id,
        endpoint.url,
        endpoint.event_types,
        endpoint.description,
        encrypted_secret,
        created_by,
        endpoint.created_at,
    )


async def find_webhook_endpoint_for_update(uow: UnitOfWork, endpoint_id: UUID) -> WebhookEndpoint | None:
    """Return the locked endpoint; None for an unknown or invisible one."""
    row = await uow.fetch_row(_LOCK, endpoint_id)
    return None if row is None else WebhookEndpoint(*row)


async def save_webhook_endpoint(uow: UnitOfWork, endpoint: WebhookEndpoint) -> None:
    """Save address, event types and description."""
    await uow.execute(_SAVE, endpoint.id, endpoint.url, endpoint.event_types, endpoint.description)


async def save_webhook_secret(
    uow: UnitOfWork, endpoint_id: UUID, encrypted_secret: str, previous_until: datetime
) -> None:
    """Replace the secret; the former one stays until `previous_until`."""
    await uow.execute(_ROTATE, endpoint_id, encrypted_secret, previous_until)


async def enable_webhook_endpoint(uow: UnitOfWork, endpoint_id: UUID) -> None:
    await change_state(uow, _ENABLE, endpoint_id)


async def disable_webhook_endpoint(uow: UnitOfWork, endpoint_id: UUID, reason: DisabledReason, now: datetime) -> bool:
    """Disable the endpoint and fail its pending deliveries; False when it is disabled already."""
    if not await uow.execute(_DISABLE, endpoint_id, reason):
        return False
    await uow.execute(_CANCEL_PENDING, endpoint_id, now)
    return True


async def remove_webhook_endpoint(uow: UnitOfWork, endpoint_id: UUID) -> None:
    """Delete the endpoint with its deliveries."""
    await uow.execute(_REMOVE, endpoint_id)


async def remove_webhook_endpoints_of(uow: UnitOfWork, vendor_id: UUID) -> None:
    """Delete all endpoints of a vendor."""
    await uow.execute(_REMOVE_OF_VENDOR, vendor_id)


def record_webhook_events(
    uow: UnitOfWork, events: Sequence[WebhookEvent], now: datetime, on_recorded: Callable[[], None]
) -> None:
    """Store the events and queue them for each endpoint that names their types, with the next statement that takes
    further writes. `on_recorded` is called if an endpoint names one of them.
    """
    rows = ((one.id, one.type, one.vendor_id, one.occurred_at, dict(one.data), one.traceparent) for one in events)
    columns = [list(column) for column in zip(*rows, strict=True)]

    def check(row: asyncpg.Record) -> None:
        if row["webhook_events"]:
            on_recorded()

    uow.attach(_RECORD_EVENTS, *columns, now, then=check)


async def insert_webhook_test(
    uow: UnitOfWork, event: WebhookEvent, endpoint_id: UUID, delivery_id: UUID, now: datetime
) -> None:
    """Store the event and queue it for this endpoint alone."""
    await uow.execute(
        _INSERT_TEST, event.id, event.type, event.vendor_id, now, dict(event.data), delivery_id, endpoint_id
    )


async def queue_webhook_replay(uow: UnitOfWork, endpoint_id: UUID, event_ids: Sequence[UUID], now: datetime) -> int:
    """Queue the events again, except those that are queued already; return the number of new deliveries."""
    return await uow.execute(_QUEUE_REPLAY, endpoint_id, event_ids, now)


async def claim_webhooks(
    uow: UnitOfWork,
    *,
    now: datetime,
    leased_until: datetime,
    except_endpoints: Sequence[UUID],
    per_endpoint_max: int,
    claimed_max: int,
) -> list[ClaimedWebhook]:
    """Claim due deliveries. A claim whose result is not recorded by `leased_until` is claimed again."""
    rows = await uow.fetch(_CLAIM, now, except_endpoints, per_endpoint_max, claimed_max, leased_until)
    return [
        ClaimedWebhook(
            row["delivery_id"],
            row["attempts"],
            row["endpoint_id"],
            row["endpoint_vendor_id"],
            row["url"],
            EndpointSecrets(row["secret_sealed"], row["previous_secret_sealed"], row["previous_secret_until"]),
            WebhookEvent(
                row["event_id"], row["type"], row["vendor_id"], row["occurred_at"], row["data"], row["traceparent"]
            ),
        )
        for row in rows
    ]


async def save_webhook_attempt(
    uow: UnitOfWork,
    claimed: ClaimedWebhook,
    response: WebhookResponse,
    status: DeliveryStatus,
    *,
    retry_at: datetime | None,
    now: datetime,
) -> bool:
    """Save the result of the attempt; False when the delivery ended or was claimed again in the meantime.

    A success ends the failures of the endpoint. After any other status the endpoint is locked.
    """
    return bool(
        await uow.fetch_value(
            _SAVE_ATTEMPT,
            claimed.delivery_id,
            claimed.attempt,
            status,
            retry_at,
            now if retry_at is None else None,
            response.status,
            response.excerpt,
            response.error,
            claimed.endpoint_id,
        )
    )


async def save_webhook_failure(uow: UnitOfWork, endpoint_id: UUID, now: datetime) -> datetime | None:
    """Return the time of the first failure since the last success; None for a removed endpoint."""
    if await uow.execute(_SAVE_FAILURE, endpoint_id, now):
        return now
    failing_since: datetime | None = await uow.fetch_value(_FAILING_SINCE, endpoint_id)
    return failing_since


def retention_rules() -> tuple[Rule, ...]:
    """Return the rules of stored events (decision 23)."""
    return (
        RetentionRule(
            "webhook_events",
            ("id",),
            "recorded_at",
            EVENT_LIFETIME,
            over=_WITHOUT_PENDING,
            followers={"webhook_deliveries": "event_id"},
        ),
    )


def encrypted_rows(encryptor: Encryptor) -> EncryptedRows:
    """Return the signing secrets of endpoints, for `re-encrypt`."""

    def renewed(text: str | None, context: str) -> str | None:
        return text and encryptor.encrypt(encryptor.decrypt(text, context), context)

    return EncryptedRows(
        table="webhook_endpoints",
        key="id",
        read=_SECRETS,
        stale=" OR ".join(stale_text(column) for column in _SECRETS),
        encryptor=encryptor,
        renew=lambda row: {column: renewed(row[column], str(row["id"])) for column in _SECRETS},
    )
