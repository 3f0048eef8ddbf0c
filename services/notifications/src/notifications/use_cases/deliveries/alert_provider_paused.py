"""Raise an alert about a provider that is paused after repeated failures."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from notifications.domain.alerts import provider_paused_key

RUNBOOK: Final = "notification-not-delivered"


def alert_provider_paused(uow: UnitOfWork, provider: str, reason: str) -> None:
    """Raise one alert for each provider. Messages of other providers are unaffected."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-3",
            title=f"Provider does not take messages: {provider}",
            detail=f"Its messages wait for the next attempt. Last failure: {reason}",
            runbook=RUNBOOK,
            dedup_key=provider_paused_key(provider),
            about=provider,
        ),
        source="notifications",
    )
