"""Writes of pauses: a provider that rejects our account receives one message at each `probe_at`, and no other."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork

_SAVE: Final = """
INSERT INTO provider_pauses (provider, reason, failed_at, probe_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (provider) DO UPDATE
SET reason = $2, failed_at = greatest(provider_pauses.failed_at, $3), probe_at = greatest(provider_pauses.probe_at, $4)
RETURNING xmax = 0
"""
_PROBE_AT: Final = "SELECT probe_at FROM provider_pauses WHERE provider = $1"
_CLAIM_PROBE: Final = "UPDATE provider_pauses SET probe_at = $3 WHERE provider = $1 AND probe_at <= $2"
_DELETE: Final = "DELETE FROM provider_pauses WHERE provider = $1 AND failed_at < $2"


async def save_provider_pause(
    uow: UnitOfWork, provider: str, reason: str, failed_at: datetime, probe_at: datetime
) -> bool:
    """Record the pause; return whether it is new."""
    return bool(await uow.fetch_value(_SAVE, provider, reason, failed_at, probe_at))


async def find_probe_time(uow: UnitOfWork, provider: str) -> datetime | None:
    """Return when a paused provider is probed next; None for one that is not paused."""
    at: datetime | None = await uow.fetch_value(_PROBE_AT, provider)
    return at


async def claim_probe(uow: UnitOfWork, provider: str, now: datetime, next_at: datetime) -> bool:
    """Return whether this message is the probe that is due; the next one is at `next_at`."""
    return bool(await uow.execute(_CLAIM_PROBE, provider, now, next_at))


async def delete_provider_pause(uow: UnitOfWork, provider: str, failed_before: datetime) -> bool:
    """End a pause whose last fault is older; return whether there was one."""
    return bool(await uow.execute(_DELETE, provider, failed_before))
