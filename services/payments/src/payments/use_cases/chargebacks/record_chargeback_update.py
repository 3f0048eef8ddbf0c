"""Record the gateway's update about a dispute of a charge: opened, reminded or decided (contract sections 6 and 7.7)."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from common.primitives.lifecycles import Rejection
from payments.domain.chargebacks import ChargebackUpdate, DisputedCharge, disputed_minor
from payments.domain.errors import DisputeUnconfirmed, SubjectUnknown
from payments.domain.transitions import CHARGEBACK
from payments.domain.webhooks import ReportSource
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder, lock_escrow
from payments.use_cases.alerts import alert_chargeback, alert_reversed_decision, alert_unknown_dispute
from payments.use_cases.chargebacks.open_chargeback import open_chargeback
from payments.use_cases.chargebacks.record_chargeback_lost import record_chargeback_lost
from payments.use_cases.chargebacks.record_chargeback_won import record_chargeback_won
from payments.use_cases.chargebacks.record_responded import record_responded


async def record_chargeback_update(
    uow: UnitOfWork, event_type: str, update: ChargebackUpdate, source: ReportSource, now: datetime
) -> bool:
    """Return whether the update changed anything. A decision without an opening opens the chargeback; an opening after it is stale.

    A decision that reverses another one is recorded from the gateway's response only. Raises SubjectUnknown for an unknown
    charge, and DisputeUnconfirmed for a webhook that needs the gateway's response.
    """
    if update.reference is None and update.gateway_id is None:
        if source == "webhook":
            raise DisputeUnconfirmed("the dispute names no charge")
        alert_unknown_dispute(uow, update.identity, update.reason)
        return False
    charge = await chargebacks.lock_disputed_charge(uow, update.reference, update.gateway_id)
    if charge is None:
        raise SubjectUnknown("dispute of an unknown charge")
    held = await lock_escrow(uow, charge.order_id) if charge.order_id is not None else None
    current = await chargebacks.lock_chargeback(uow, update.identity)
    if current is not None and not _is_new_report(current, update, source):
        STALE_EVENTS.labels(event_type).inc()
        return False
    amount_minor = disputed_minor(update, charge)
    if current is None:
        current = await open_chargeback(uow, charge, held, update.identity, amount_minor, update.reason, now)
    elif update.outcome is None:
        alert_chargeback(uow, current.id, "opened", charge, amount_minor)
    await _record_date(uow, current.id, update, now)
    if update.is_unclear:
        alert_chargeback(uow, current.id, "unclear", charge, amount_minor)
    await _record_outcome(uow, current, charge, held, update, amount_minor, now)
    return True


def _is_new_report(current: Chargeback, update: ChargebackUpdate, source: ReportSource) -> bool:
    """Raise DisputeUnconfirmed for a webhook that reverses the recorded decision: it may be an older one."""
    after = CHARGEBACK.next_state(current.status, update.outcome or "opened")
    if after is not Rejection.FORBIDDEN:
        return not isinstance(after, Rejection)
    if source == "webhook":
        raise DisputeUnconfirmed(
            f"dispute {update.identity} was {current.status}, and is now reported as {update.outcome}"
        )
    return source == "gateway"


async def _record_outcome(
    uow: UnitOfWork,
    current: Chargeback,
    charge: DisputedCharge,
    held: HeldOrder | None,
    update: ChargebackUpdate,
    amount_minor: int,
    now: datetime,
) -> None:
    if update.outcome is None:
        return
    if current.status != "opened":
        alert_reversed_decision(uow, current, update.outcome, now)
    if update.outcome == "lost":
        await record_chargeback_lost(uow, current, charge, held, amount_minor, now)
    else:
        await record_chargeback_won(uow, current, charge, held, now)


async def _record_date(uow: UnitOfWork, chargeback_id: UUID, update: ChargebackUpdate, now: datetime) -> None:
    """Record the date; a report without one keeps the earlier one."""
    if update.due_at is not None:
        await chargebacks.save_due(uow, chargeback_id, update.due_at)
    if not update.awaits_response:
        await record_responded(uow, chargeback_id, now)
