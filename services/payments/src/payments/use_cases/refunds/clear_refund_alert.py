"""Clear the alerts of a failed refund: maker and checker decided, or its payer has the money."""

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from payments.domain.refunds import account_alert_key, failed_alert_key

_BOTH: Final = (failed_alert_key, account_alert_key)


def clear_refund_alert(
    uow: UnitOfWork, refund_id: UUID, reason: str, kinds: Sequence[Callable[[UUID], str]] = _BOTH
) -> None:
    """Clear both kinds unless one is named: the gateway may give up a refund that needed an account. A later failure raises a new alert."""
    for key_of in kinds:
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key_of(refund_id), reason=reason), source="payments")
