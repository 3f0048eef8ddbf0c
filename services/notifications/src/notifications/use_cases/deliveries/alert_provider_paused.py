"""Say that a provider is left alone for a while, because it failed again and again."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised

RUNBOOK: Final = "notification-not-delivered"


def alert_provider_paused(uow: UnitOfWork, provider: str, reason: str) -> None:
    """One alert for each provider while it is open: its messages wait, those of the others do not."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-3",
            title=f"Provider does not take messages: {provider}",
            detail=f"Its messages wait and it is asked again after a while. The last failure: {reason}",
            runbook=RUNBOOK,
            dedup_key=f"provider-rests:{provider}",
            about=provider,
        ),
        source="notifications",
    )
