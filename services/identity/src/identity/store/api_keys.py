"""API keys. Only a keyed hash of a key is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.api_keys import USE_RECORDED_EVERY, WARNED_BEFORE, ApiKey

# Two creations at once would each see the earlier number of keys.
_LOCK_OWNER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('api_keys:' || $1, 0))"
_COUNT_LIVE: Final = """
SELECT count(*) FROM api_keys WHERE vendor_id IS NOT DISTINCT FROM $1 AND revoked_at IS NULL AND expires_at > $2
"""
_RECORD: Final = """
INSERT INTO api_keys (
    id, key_hash, hint, name, vendor_id, scopes, networks, created_by, created_at, expires_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_FIND_LIVE: Final = """
SELECT k.id, k.vendor_id, k.scopes, k.networks, k.created_by, k.expires_at, v.campus_id,
    v.status = 'active' AS is_shop_open
FROM api_keys k LEFT JOIN vendors v ON v.id = k.vendor_id
WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND k.expires_at > $2
"""
_RECORD_USE: Final = """
UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)
"""
_REVOKE: Final = """
UPDATE api_keys SET revoked_at = $2, revoked_by = $3 WHERE id = $1 AND revoked_at IS NULL RETURNING created_by
"""
_CLAIM_EXPIRING: Final = """
UPDATE api_keys SET warned_at = $1 WHERE id IN (
    SELECT id FROM api_keys WHERE expires_at > $1 AND expires_at <= $2
        AND warned_at IS NULL AND revoked_at IS NULL ORDER BY expires_at LIMIT $3 FOR UPDATE SKIP LOCKED
) RETURNING id, created_by, name, expires_at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApiKey:
    """A key to store."""

    id: UUID
    key_hash: bytes
    hint: str
    name: str
    vendor_id: UUID | None
    scopes: Sequence[str]
    networks: Sequence[str]
    created_by: UUID
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ExpiringApiKey:
    """A key that expires soon."""

    id: UUID
    created_by: UUID
    name: str
    expires_at: datetime


async def lock_owner(uow: UnitOfWork, vendor_id: UUID | None) -> None:
    """Serialize the creation of an owner's keys until the transaction ends. None: the platform."""
    await uow.execute(_LOCK_OWNER, str(vendor_id or "platform"))


async def count_live(uow: UnitOfWork, vendor_id: UUID | None, now: datetime) -> int:
    return int(await uow.fetch_value(_COUNT_LIVE, vendor_id, now))


async def record_api_key(uow: UnitOfWork, key: NewApiKey) -> None:
    values = (key.vendor_id, list(key.scopes), list(key.networks), key.created_by, key.created_at, key.expires_at)
    await uow.execute(_RECORD, key.id, key.key_hash, key.hint, key.name, *values)


async def find_live_key(uow: UnitOfWork, key_hash: bytes, now: datetime) -> ApiKey | None:
    """Return the key with this hash, None for an unknown, revoked or expired one."""
    row = await uow.fetch_row(_FIND_LIVE, key_hash, now)
    if row is None:
        return None
    return ApiKey(
        row["id"],
        row["vendor_id"],
        tuple(row["scopes"]),
        tuple(row["networks"]),
        row["created_by"],
        row["expires_at"],
        row["campus_id"],
        bool(row["is_shop_open"]),
    )


async def record_use(uow: UnitOfWork, key_id: UUID, now: datetime) -> None:
    """Set the time of the last use, at most once in USE_RECORDED_EVERY."""
    await uow.execute(_RECORD_USE, key_id, now, now - USE_RECORDED_EVERY)


async def revoke_key(uow: UnitOfWork, key_id: UUID, *, by: UUID, now: datetime) -> UUID | None:
    """Revoke a live key and return its creator; None for a revoked one."""
    creator: UUID | None = await uow.fetch_value(_REVOKE, key_id, now, by)
    return creator


async def claim_expiring_keys(uow: UnitOfWork, limit: int, now: datetime) -> list[ExpiringApiKey]:
    """Mark up to `limit` keys that expire soon as warned of, and return them."""
    return [ExpiringApiKey(*row) for row in await uow.fetch(_CLAIM_EXPIRING, now, now + WARNED_BEFORE, limit)]
