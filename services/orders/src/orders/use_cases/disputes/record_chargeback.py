"""Record a chargeback of the buyer's bank."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.disputes import ChargeOutcome, Complaint
from orders.domain.order_updates import evaluate_update
from orders.domain.orders import Order, Windows
from orders.store import disputes
from orders.use_cases.disputes.steps import open_dispute

CHARGEBACK: Final = Complaint("chargeback", "The buyer's bank has disputed the charge.")


async def record_chargeback(
    uow: UnitOfWork,
    order: Order,
    outcome: ChargeOutcome | None,
    *,
    sequence: int,
    now: datetime,
    windows: Windows,
) -> Rejection | None:
    """Dispute the locked, undelivered order on a chargeback; after the PIN its status stays (contract section 6).

    The bank's decision closes no dispute. It is saved for the staff who resolve the dispute, also when it arrives
    first. Raises EarlyUpdate. Returns the reason when nothing changed.
    """
    order, transition = evaluate_update(order, CHARGEBACK.trigger, about=order.id)
    if transition == "disputed":
        await open_dispute(uow, order, CHARGEBACK, now=now, windows=windows)
    await disputes.save_charge_outcome(uow, order.id, outcome, sequence)
    return transition if isinstance(transition, Rejection) else None
