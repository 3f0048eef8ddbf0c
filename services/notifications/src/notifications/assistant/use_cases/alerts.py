"""The alert about the assistant's provider, and its clearing."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.messaging.alerts import Alerts

_ALERTS: Final = Alerts("notifications")
_KEY: Final = "assistant-unavailable"


def alert_model_unavailable(uow: UnitOfWork, reason: str) -> None:
    """Raise SEV-3 after repeated failures of the provider."""
    _ALERTS.raise_alert(
        uow,
        "SEV-3",
        "The assistant's provider does not answer",
        f"Messages to the assistant get 503 until the provider recovers. Last failure: {reason}",
        runbook="assistant-unavailable",
        key=_KEY,
        about="assistant",
    )


def clear_model_unavailable(uow: UnitOfWork) -> None:
    """Clear the alert after a response of the provider."""
    _ALERTS.clear_alert(uow, _KEY, "the provider answers again")
