"""Pause a provider that rejects our account."""

from datetime import datetime, timedelta
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store.provider_pauses import save_provider_pause
from notifications.deliveries.use_cases.deliveries.alerts import alert_account_fault

# An operator corrects an account within minutes to days. A probe costs one message.
PROBE_EVERY: Final = timedelta(minutes=15)


async def pause_provider(uow: UnitOfWork, provider: str, reason: str, now: datetime) -> datetime:
    """Record the pause for all processes and return the time of its next probe. A new pause raises one alert."""
    probe_at = now + PROBE_EVERY
    if await save_provider_pause(uow, provider, reason, now, probe_at):
        alert_account_fault(uow, provider, reason)
    return probe_at
