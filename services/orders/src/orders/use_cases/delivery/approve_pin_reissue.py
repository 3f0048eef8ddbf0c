"""Approve a prepared reissue of a delivery PIN."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from orders.domain.order_history import OrderActor
from orders.domain.pin_reissues import ALERT_FROM
from orders.store.pins import PIN_REISSUES, count_approved_reissues
from orders.use_cases.alerts import alert_repeated_reissue
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer, issue_delivery_pin
from orders.use_cases.delivery.steps import lock_exhausted_pin, lock_reissued_order


async def approve_pin_reissue(
    uow: UnitOfWork, pins: PinIssuer, reissue_id: UUID, approved_hash: str, *, by: Caller, now: datetime
) -> None:
    """Issue a new PIN to the buyer once: the old one becomes invalid, and wrong attempts are counted anew.

    Raises NotFound, PartyCannotDecide (403), the errors of `evaluate_approval` and of `lock_exhausted_pin`.
    """
    order = await lock_reissued_order(uow, reissue_id, by)
    if await PIN_REISSUES.approve(uow, reissue_id, approved_hash, by.id, now) is None:
        return
    issue = await lock_exhausted_pin(uow, order)
    await issue_delivery_pin(uow, pins, order, issue, OrderActor(by.id, "staff"), now)
    if await count_approved_reissues(uow, order.id) >= ALERT_FROM:
        alert_repeated_reissue(uow, order)
