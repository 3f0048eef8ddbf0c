"""Resume a provider that was paused for a fault of our account."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store.provider_pauses import delete_provider_pause
from notifications.deliveries.use_cases.deliveries.alerts import clear_provider_alerts


async def resume_provider(uow: UnitOfWork, provider: str, attempted_at: datetime) -> bool:
    """End the pause and clear its alert; return whether it was paused.

    `attempted_at` is the time of an accepted message: a fault that was reported after it keeps the pause.
    """
    is_resumed = await delete_provider_pause(uow, provider, attempted_at)
    if is_resumed:
        clear_provider_alerts(uow, provider)
    return is_resumed
