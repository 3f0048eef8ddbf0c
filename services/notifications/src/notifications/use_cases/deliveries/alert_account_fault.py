"""Raise an alert about a provider that rejects our account, key, sender or balance."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from notifications.domain.alerts import account_fault_key

RUNBOOK: Final = "provider-account-fault"


def alert_account_fault(uow: UnitOfWork, provider: str, reason: str) -> None:
    """Raise one alert for each provider. Only an operator can correct the fault."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title=f"Provider rejects our account: {provider}",
            detail=f"Its messages wait, or another provider sends them, until the account is corrected. Fault: {reason}",
            runbook=RUNBOOK,
            dedup_key=account_fault_key(provider),
            about=provider,
        ),
        source="notifications",
    )
