"""Clear the alerts about a provider that accepts messages again."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from notifications import store
from notifications.domain.alerts import account_fault_key, provider_paused_key


async def clear_provider_alerts(uow: UnitOfWork, provider: str) -> None:
    """Publish the clearing of each open alert about the provider."""
    for key in (provider_paused_key(provider), account_fault_key(provider)):
        if await store.lock_open_alert(uow, key) is not None:
            cleared = AlertCleared(alert_id=new_id(), dedup_key=key, reason="the provider takes messages again")
            uow.publish(cleared, source="notifications")
