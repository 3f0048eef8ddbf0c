"""What is heard of orders that end otherwise than by their delivery: cancelled, expired, disputed.

What both parties are told is one text that names neither, and one notification for each of them; so each has a handler of its own.
"""

from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received
from contracts.orders import DisputeResolved, OrderCancelled, OrderDisputed, OrderExpired
from notifications import queries
from notifications.consumers.notifying import notify, vendor_of
from notifications.dependencies import Dependencies


async def on_order_cancelled(
    event: OrderCancelled, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The vendor never heard of an order that was not paid."""
    vendor = await vendor_of(uow, event.vendor_id)
    parameters = {"orderId": str(event.order_id), "businessName": vendor["business_name"]}
    template = await _closing(uow, event.order_id, "order_cancelled")
    await notify(uow, dependencies, event.buyer_id, template, parameters, event.order_id)


async def on_order_expired(
    event: OrderExpired, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    vendor = await vendor_of(uow, event.vendor_id)
    parameters = {"orderId": str(event.order_id), "businessName": vendor["business_name"]}
    template = await _closing(uow, event.order_id, "order_expired")
    await notify(uow, dependencies, event.buyer_id, template, parameters, event.order_id)


async def _closing(uow: UnitOfWork, order_id: UUID, template: str) -> str:
    """The message of a closed order: without a claim about the payment while one is being checked (contract section 7.6)."""
    return "order_closed_under_review" if await queries.payment_is_under_review(uow, order_id) else template


async def on_order_disputed(
    event: OrderDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The reason stays on the page of the order: a buyer may have written into it how to be reached."""
    parameters = {"orderId": str(event.order_id)}
    await notify(uow, dependencies, event.buyer_id, "dispute_opened", parameters, event.order_id, event.buyer_id)


async def alert_vendor_on_order_disputed(
    event: OrderDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    owner = (await vendor_of(uow, event.vendor_id))["owner_user_id"]
    parameters = {"orderId": str(event.order_id)}
    await notify(uow, dependencies, owner, "dispute_opened", parameters, event.order_id, event.vendor_id)


async def on_dispute_resolved(
    event: DisputeResolved, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    about = (event.order_id, event.outcome, event.refund_id, event.buyer_id)
    await notify(uow, dependencies, event.buyer_id, "dispute_resolved", _decision(event), *about)


async def notify_vendor_on_dispute_resolved(
    event: DisputeResolved, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    owner = (await vendor_of(uow, event.vendor_id))["owner_user_id"]
    about = (event.order_id, event.outcome, event.refund_id, event.vendor_id)
    await notify(uow, dependencies, owner, "dispute_resolved", _decision(event), *about)


def _decision(event: DisputeResolved) -> dict[str, Any]:
    return {
        "orderId": str(event.order_id),
        "outcome": event.outcome,
        "refundMinor": event.refund_minor,
        "releaseMinor": event.release_minor,
    }
