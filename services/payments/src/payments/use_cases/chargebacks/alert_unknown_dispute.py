"""Alert finance of a dispute whose charge the gateway does not name."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised


def alert_unknown_dispute(uow: UnitOfWork, identity: str, reason: str | None) -> None:
    """SEV-2, one alert for each dispute: no order can be frozen before staff have found its charge."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title="Dispute without a charge",
            detail=f"Dispute {identity} ({reason or 'no category'}) names no transaction, so that no order is frozen. Find its charge in "
            "the gateway's dashboard, and respond to it there.",
            runbook="chargeback",
            dedup_key=f"dispute-without-charge:{identity}",
            about=identity,
        ),
        source="payments",
    )
