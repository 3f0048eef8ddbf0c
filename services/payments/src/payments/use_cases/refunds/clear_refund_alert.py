"""Clear the alert of a failed refund: two people decided, or its payer has the money."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from payments.domain.refunds import account_alert_key, failed_alert_key


def clear_refund_alert(uow: UnitOfWork, refund_id: UUID, reason: str) -> None:
    """Clear both kinds: the gateway may give up a refund that needed an account. A later failure raises a new alert."""
    for key in (failed_alert_key(refund_id), account_alert_key(refund_id)):
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key, reason=reason), source="payments")
