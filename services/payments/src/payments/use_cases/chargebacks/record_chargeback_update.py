"""Record what the gateway says about a dispute of a charge: opened, reminded of, or decided (contract sections 6 and 7)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payments import store
from payments.domain.chargebacks import disputed_minor, read_chargeback
from payments.domain.errors import ChargebackContradiction, SubjectUnknown
from payments.store import chargebacks
from payments.use_cases.chargebacks.alert_chargeback import alert_chargeback
from payments.use_cases.chargebacks.open_chargeback import open_chargeback
from payments.use_cases.chargebacks.record_chargeback_lost import record_chargeback_lost
from payments.use_cases.chargebacks.record_chargeback_won import record_chargeback_won


async def record_chargeback_update(uow: UnitOfWork, event_type: str, told: Mapping[str, Any], now: datetime) -> bool:
    """Whether it moved anything. A decision that comes first opens the chargeback too; an opening that comes after it is stale.

    Raises SubjectUnknown for a charge that is not known yet, ChargebackContradiction and NewsUnreadable.
    """
    update = read_chargeback(event_type, told)
    charge = await chargebacks.lock_disputed_charge(uow, update.reference, update.gateway_id)
    if charge is None:
        raise SubjectUnknown("a dispute of a charge that is not known yet")
    amount_minor = disputed_minor(update, charge)
    held = await store.lock_escrow(uow, charge.order_id) if charge.order_id is not None else None
    standing = await chargebacks.lock_chargeback(uow, update.identity)
    if update.outcome is None:
        if standing is None:
            await open_chargeback(uow, charge, held, update.identity, amount_minor, update.reason, now)
        elif standing.status == "opened":
            alert_chargeback(uow, standing.id, "opened", charge, amount_minor)
        else:
            STALE_EVENTS.labels(event_type).inc()
            return False
        return True
    if standing is None:
        standing = await open_chargeback(uow, charge, held, update.identity, amount_minor, update.reason, now)
    if standing.status == update.outcome:
        return False
    if (standing.status, update.outcome) == ("won", "lost"):
        # What a bank gives up it does not take later under the same dispute: people must look before money is written off.
        raise ChargebackContradiction(f"dispute {update.identity} was won, and is now said to be lost")
    if update.outcome == "lost":
        await record_chargeback_lost(uow, standing.id, charge, held, amount_minor, now)
    else:
        await record_chargeback_won(uow, standing, charge, held, now)
    return True
