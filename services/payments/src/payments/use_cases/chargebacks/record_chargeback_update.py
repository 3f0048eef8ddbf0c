"""Record the gateway's update about a dispute of a charge: opened, reminded or decided (contract sections 6 and 7)."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payments.domain.chargebacks import ChargebackUpdate, disputed_minor
from payments.domain.errors import ChargebackContradiction, SubjectUnknown
from payments.store import chargebacks
from payments.store.escrow import lock_escrow
from payments.use_cases.chargebacks.alert_chargeback import alert_chargeback
from payments.use_cases.chargebacks.open_chargeback import open_chargeback
from payments.use_cases.chargebacks.record_chargeback_lost import record_chargeback_lost
from payments.use_cases.chargebacks.record_chargeback_won import record_chargeback_won
from payments.use_cases.chargebacks.record_responded import record_responded


async def record_chargeback_update(uow: UnitOfWork, event_type: str, update: ChargebackUpdate, now: datetime) -> bool:
    """Whether the update changed anything. A decision without an opening opens the chargeback; an opening after it is stale.

    Raises SubjectUnknown for an unknown charge, and ChargebackContradiction.
    """
    charge = await chargebacks.lock_disputed_charge(uow, update.reference, update.gateway_id)
    if charge is None:
        raise SubjectUnknown("dispute of an unknown charge")
    amount_minor = disputed_minor(update, charge)
    held = await lock_escrow(uow, charge.order_id) if charge.order_id is not None else None
    current = await chargebacks.lock_chargeback(uow, update.identity)
    if update.outcome is None and current is not None:
        if current.status != "opened":
            STALE_EVENTS.labels(event_type).inc()
            return False
        await _record_date(uow, current.id, update, now)
        alert_chargeback(uow, current.id, "opened", charge, amount_minor)
        return True
    if current is None:
        current = await open_chargeback(uow, charge, held, update.identity, amount_minor, update.reason, now)
    await _record_date(uow, current.id, update, now)
    if update.outcome is None:
        return True
    if current.status == update.outcome:
        return False
    if (current.status, update.outcome) == ("won", "lost"):
        # A bank does not reverse a win under the same dispute: staff check before the loss is posted.
        raise ChargebackContradiction(f"dispute {update.identity} was won, and is now reported as lost")
    if update.outcome == "lost":
        await record_chargeback_lost(uow, current.id, charge, held, amount_minor, now)
    else:
        await record_chargeback_won(uow, current, charge, held, now)
    return True


async def _record_date(uow: UnitOfWork, chargeback_id: UUID, update: ChargebackUpdate, now: datetime) -> None:
    """A report without a date keeps the earlier one."""
    if update.due_at is not None:
        await chargebacks.save_due(uow, chargeback_id, update.due_at)
    if not update.awaits_response:
        await record_responded(uow, chargeback_id, now)
