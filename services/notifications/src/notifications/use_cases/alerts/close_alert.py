"""What an alert was about is over: it closes, and the people on call hear so."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.observability.telemetry import STALE_EVENTS
from contracts.operations import AlertCleared
from notifications import store
from notifications.domain.alerts import evaluate_clearing

log = get_logger(__name__)


async def close_alert(uow: UnitOfWork, dedup_key: str, reason: str, cleared_at: datetime) -> None:
    """Closes the open alert of the key, unless it was raised again since. Twice: without effect.

    Raises AlertUnheardOf when nothing was raised yet: the ladder brings the clearing again.
    """
    standing = await store.lock_open_alert(uow, dedup_key)
    raised_at = standing["last_raised_at"] if standing is not None else None
    closed_at = await store.find_last_closing(uow, dedup_key)
    if not evaluate_clearing(dedup_key, cleared_at=cleared_at, raised_at=raised_at, closed_at=closed_at):
        STALE_EVENTS.labels(AlertCleared.TYPE).inc()
        return
    log.info("alert cleared", dedup_key=dedup_key, reason=reason)
    await store.save_alert_closed(uow, standing["id"], cleared_at)
    store.leave_page(uow, standing["id"])
