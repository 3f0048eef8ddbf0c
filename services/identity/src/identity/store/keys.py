"""Signing keys."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import JsonObject
from identity.credentials.signing_keys import EncryptedKey
from identity.domain.key_rotation import ListedKey

# Processes that start concurrently on an empty system create one key and one administrator. Key changes hold the lock
# too.
_LOCK_FOUNDATIONS: Final = "SELECT pg_advisory_xact_lock(hashtextextended('foundations', 0))"
# The newest key that may sign. If all start in the future, because a clock was set back, the nearest.
_CURRENT_KEY: Final = """
SELECT kid, private_key_sealed, signs_from FROM signing_keys WHERE retired_at IS NULL
ORDER BY signs_from <= $1 DESC, abs(extract(epoch FROM signs_from - $1)), kid DESC LIMIT 1
"""
_LISTED_KEYS: Final = "SELECT kid, signs_from FROM signing_keys WHERE retired_at IS NULL"
_RECORD_KEY: Final = """
INSERT INTO signing_keys (kid, public_key, private_key_sealed, created_at, signs_from) VALUES ($1, $2, $3, $4, $5)
"""
_SIGN_FROM: Final = "UPDATE signing_keys SET signs_from = $2 WHERE kid = $1"
_RETIRE_KEY: Final = """
UPDATE signing_keys SET retired_at = $2, retired_because = $3, private_key_sealed = NULL
WHERE kid = $1 AND retired_at IS NULL RETURNING true
"""
_RETIRED_AT: Final = "SELECT retired_at FROM signing_keys WHERE kid = $1"


async def lock_foundations(uow: UnitOfWork) -> None:
    await uow.execute(_LOCK_FOUNDATIONS)


async def find_current_key(uow: UnitOfWork, now: datetime) -> tuple[str, str] | None:
    """Return `kid` and encrypted private key of the key that signs now."""
    row = await uow.fetch_row(_CURRENT_KEY, now)
    return (row["kid"], row["private_key_sealed"]) if row else None


async def find_signing_since(uow: UnitOfWork, now: datetime) -> datetime | None:
    """Return since when the current key signs; None without one."""
    row = await uow.fetch_row(_CURRENT_KEY, now)
    return row["signs_from"] if row else None


async def list_keys(uow: UnitOfWork) -> list[ListedKey]:
    """Return the published keys."""
    return [ListedKey(row["kid"], row["signs_from"]) for row in await uow.fetch(_LISTED_KEYS)]


async def record_key(uow: UnitOfWork, key: EncryptedKey, *, now: datetime, signs_from: datetime) -> None:
    public_key: JsonObject = dict(key.public_key)
    await uow.execute(_RECORD_KEY, key.kid, public_key, key.encrypted_private_key, now, signs_from)


async def save_signs_from(uow: UnitOfWork, kid: str, signs_from: datetime) -> None:
    await uow.execute(_SIGN_FROM, kid, signs_from)


async def retire_key_if_due(uow: UnitOfWork, kid: str, now: datetime, because: str) -> bool:
    """Remove the key from the published set and delete its private half. Return False when it was retired before."""
    return bool(await uow.fetch_value(_RETIRE_KEY, kid, now, because))


async def find_retired_at(uow: UnitOfWork, kid: str) -> datetime | None:
    """Return when the key was retired; None for a published or unknown key."""
    retired_at: datetime | None = await uow.fetch_value(_RETIRED_AT, kid)
    return retired_at
