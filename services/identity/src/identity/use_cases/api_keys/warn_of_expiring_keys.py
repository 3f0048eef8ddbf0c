"""Warn the creators of API keys that expire soon."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import ApiKeyExpiring
from identity.store import api_keys

# One transaction; the next run warns of further ones.
_KEYS_AT_ONCE_MAX: Final = 100


async def warn_of_expiring_keys(uow: UnitOfWork, *, now: datetime) -> int:
    """Publish a notice for each key that expires within 14 days, once for each; return their number."""
    expiring = await api_keys.claim_expiring_keys(uow, _KEYS_AT_ONCE_MAX, now)
    for key in expiring:
        uow.publish(
            ApiKeyExpiring(user_id=key.created_by, key_id=key.id, name=key.name, expires_at=iso(key.expires_at))
        )
    return len(expiring)
