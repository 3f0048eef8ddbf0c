"""The alerts about a provider, and their clearing."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from notifications.deliveries import store
from notifications.deliveries.domain.alerts import account_fault_key, provider_paused_key

ACCOUNT_FAULT_RUNBOOK: Final = "provider-account-fault"
PAUSED_RUNBOOK: Final = "notification-not-delivered"


def alert_account_fault(uow: UnitOfWork, provider: str, reason: str) -> None:
    """Raise one alert for each provider. Only an operator can correct the fault."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title=f"Provider rejects our account: {provider}",
            detail=f"Its messages wait, or another provider sends them, until the account is corrected. Fault: {reason}",
            runbook=ACCOUNT_FAULT_RUNBOOK,
            dedup_key=account_fault_key(provider),
            about=provider,
        ),
        source="notifications",
    )


def alert_provider_paused(uow: UnitOfWork, provider: str, reason: str) -> None:
    """Raise one alert for each provider. Messages of other providers are unaffected."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-3",
            title=f"Provider does not take messages: {provider}",
            detail=f"Its messages wait for the next attempt. Last failure: {reason}",
            runbook=PAUSED_RUNBOOK,
            dedup_key=provider_paused_key(provider),
            about=provider,
        ),
        source="notifications",
    )


async def clear_provider_alerts(uow: UnitOfWork, provider: str) -> None:
    """Publish the clearing of each open alert about the provider."""
    for key in (provider_paused_key(provider), account_fault_key(provider)):
        if await store.lock_open_alert(uow, key) is not None:
            cleared = AlertCleared(alert_id=new_id(), dedup_key=key, reason="the provider takes messages again")
            uow.publish(cleared, source="notifications")
