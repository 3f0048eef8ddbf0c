"""Record what the gateway reports about a dispute."""

from collections.abc import Sequence
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
from payments.store.escrow import lock_escrows_of_charge
from payments.use_cases.alerts import alert_chargeback, alert_reversed_decision, alert_unknown_dispute
from payments.use_cases.chargebacks.steps import (
    DisputedOrder,
    open_chargebacks,
    pair_orders,
    record_chargeback_lost,
    record_chargeback_won,
    record_responded,
)


async def record_dispute(
    uow: UnitOfWork, event_type: str, update: ChargebackUpdate, source: ReportSource, now: datetime
) -> bool:
    """Return whether the update changed anything. A decision without an opening opens the chargeback; an opening after
    it is stale.

    A decision that reverses another one is recorded from the gateway's response only. Raises SubjectUnknown for an
    unknown charge, and DisputeUnconfirmed for a webhook that needs the gateway's response.
    """
    if update.reference is None and update.gateway_id is None:
        if source == "webhook":
            raise DisputeUnconfirmed("the dispute names no charge")
        alert_unknown_dispute(uow, update.identity, update.reason)
        return False
    charge = await chargebacks.lock_disputed_charge(uow, update.reference, update.gateway_id, update.identity)
    if charge is None:
        raise SubjectUnknown("dispute of an unknown charge")
    held = await lock_escrows_of_charge(uow, charge.id)
    recorded = await chargebacks.lock_chargebacks(uow, update.identity)
    # The orders' parts are decided together.
    current = recorded[0] if recorded else None
    if current is not None and not _is_new_report(current, update, source):
        STALE_EVENTS.labels(event_type).inc()
        return False
    amount_minor = disputed_minor(update, charge)
    if current is None:
        recorded = await open_chargebacks(uow, charge, held, update.identity, amount_minor, update.reason, now)
        current = recorded[0]
    elif update.outcome is None:
        alert_chargeback(uow, current.id, "opened", charge, amount_minor)
    await _record_date(uow, current.id, update, now)
    if update.is_unclear:
        alert_chargeback(uow, current.id, "unclear", charge, amount_minor)
    await _record_outcome(uow, current, charge, pair_orders(recorded, held), update, amount_minor, now)
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
    disputed: Sequence[DisputedOrder],
    update: ChargebackUpdate,
    amount_minor: int,
    now: datetime,
) -> None:
    if update.outcome is None:
        return
    if current.status != "opened":
        alert_reversed_decision(uow, current, update.outcome, now)
    if update.outcome == "lost":
        await record_chargeback_lost(uow, charge, disputed, amount_minor, now)
    else:
        decided_minor = sum(chargeback.amount_minor for chargeback, _ in disputed)
        await record_chargeback_won(uow, charge, disputed, decided_minor, now)


async def _record_date(uow: UnitOfWork, chargeback_id: UUID, update: ChargebackUpdate, now: datetime) -> None:
    """Record the date; a report without one keeps the earlier one."""
    if update.due_at is not None:
        await chargebacks.save_due(uow, chargeback_id, update.due_at)
    if not update.awaits_response:
        await record_responded(uow, chargeback_id, now)
