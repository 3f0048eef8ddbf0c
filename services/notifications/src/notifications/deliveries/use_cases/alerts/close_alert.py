"""Close an alert and notify the on-call staff."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from notifications.deliveries.domain.alerts import evaluate_clearing
from notifications.deliveries.store import alerts

log: Final = get_logger(__name__)


async def close_alert(uow: UnitOfWork, dedup_key: str, reason: str, cleared_at: datetime) -> bool:
    """Close the open alert of the key; False, without an effect, when it is closed or was raised again since.

    Raises AlertNotRaisedYet when the clearing arrives before the alert.
    """
    open_alert = await alerts.lock_open_alert(uow, dedup_key)
    raised_at = None if open_alert is None else open_alert.last_raised_at
    closed_at = await alerts.find_last_closed_at(uow, dedup_key)
    is_effective = evaluate_clearing(dedup_key, cleared_at=cleared_at, raised_at=raised_at, closed_at=closed_at)
    if open_alert is None or not is_effective:
        return False
    log.info("alert cleared", dedup_key=dedup_key, reason=reason)
    await alerts.save_alert_closed(uow, open_alert.id, cleared_at)
    alerts.enqueue_page(uow, open_alert.id)
    return True
