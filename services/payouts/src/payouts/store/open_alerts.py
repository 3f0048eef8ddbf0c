"""SQL for open alerts: several workers raise one once and clear it once. No decision is made here."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork

_RAISE: Final = "INSERT INTO standing_alerts (dedup_key, raised_at) VALUES ($1, $2) ON CONFLICT DO NOTHING"
_CLEAR: Final = "DELETE FROM standing_alerts WHERE dedup_key = $1"
_IS_OPEN: Final = "SELECT EXISTS (SELECT FROM standing_alerts WHERE dedup_key = $1)"
_SAVE_CALM: Final = "UPDATE standing_alerts SET calm_since = $2 WHERE dedup_key = $1"


async def save_alert_if_new(uow: UnitOfWork, dedup_key: str, at: datetime) -> bool:
    """Open the alert; False when another worker has opened it."""
    return await uow.execute(_RAISE, dedup_key, at) == 1


async def is_open(uow: UnitOfWork, dedup_key: str) -> bool:
    found: bool = await uow.fetch_value(_IS_OPEN, dedup_key)
    return found


async def remove_alert(uow: UnitOfWork, dedup_key: str) -> bool:
    """Remove the alert; False when it is no longer open."""
    return await uow.execute(_CLEAR, dedup_key) == 1


async def save_calm(uow: UnitOfWork, dedup_key: str, since: datetime | None) -> None:
    await uow.execute(_SAVE_CALM, dedup_key, since)
