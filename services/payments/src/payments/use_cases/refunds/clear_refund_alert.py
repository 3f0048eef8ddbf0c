"""Clear the alert of a failed refund: maker and checker decided, or its payer has the money."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from payments.domain.refunds import account_alert_key, failed_alert_key
from payments.store.refunds import LockedRefund


def clear_refund_alert(uow: UnitOfWork, refund: LockedRefund, reason: str) -> None:
    """Clear the alert that `alert_refund` raised of the refund in this state. A later failure raises a new one."""
    key = account_alert_key(refund.id) if refund.needs_account else failed_alert_key(refund.id)
    uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key, reason=reason), source="payments")
