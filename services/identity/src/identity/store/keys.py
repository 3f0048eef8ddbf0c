"""Signing keys."""

from datetime import datetime
from typing import Any, Final

from common.database import UnitOfWork
from identity.credentials.signing_keys import SealedKey

# Three processes that start at once on an empty system make one key and one administrator.
_LOCK_FOUNDATIONS: Final = "SELECT pg_advisory_xact_lock(hashtextextended('foundations', 0))"
_CURRENT_KEY: Final = "SELECT kid, private_key_sealed FROM signing_keys WHERE state = 'current'"
_RECORD_KEY: Final = """
INSERT INTO signing_keys (kid, public_key, private_key_sealed, state, created_at) VALUES ($1, $2, $3, 'current', $4)
"""


async def lock_foundations(uow: UnitOfWork) -> None:
    await uow.execute(_LOCK_FOUNDATIONS)


async def find_current_key(uow: UnitOfWork) -> tuple[str, str] | None:
    """`kid` and sealed private key."""
    row = await uow.fetch_row(_CURRENT_KEY)
    return (row["kid"], row["private_key_sealed"]) if row else None


async def record_current_key(uow: UnitOfWork, key: SealedKey, now: datetime) -> None:
    public_key: dict[str, Any] = dict(key.public_key)
    await uow.execute(_RECORD_KEY, key.kid, public_key, key.private_key_sealed, now)
