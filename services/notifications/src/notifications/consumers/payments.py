"""What is heard from payments."""

from typing import TYPE_CHECKING

from common.database import UnitOfWork
from common.messages import Received
from contracts.payments import EscrowHeld
from notifications.consumers.telling import order_of, tell, vendor_of

if TYPE_CHECKING:
    from notifications.app import Dependencies


async def on_escrow_held(event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: "Dependencies") -> None:
    """The order is paid: the buyer has a confirmation."""
    order, vendor = await order_of(uow, event.order_id), await vendor_of(uow, event.vendor_id)
    parameters = {
        "orderId": str(event.order_id),
        "businessName": vendor["business_name"],
        "totalMinor": order["total_minor"],
        "deliveryFeeMinor": order["delivery_fee_minor"],
        "items": order["items"],
    }
    await tell(uow, dependencies, event.buyer_id, "order_confirmation", parameters, event.order_id)


async def alert_vendor_on_escrow_held(
    event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    """The order is paid: the vendor has something to hand over."""
    order, vendor = await order_of(uow, event.order_id), await vendor_of(uow, event.vendor_id)
    parameters = {
        "orderId": str(event.order_id),
        "businessName": vendor["business_name"],
        "items": order["items"],
    }
    await tell(uow, dependencies, vendor["owner_user_id"], "vendor_dispatch_alert", parameters, event.order_id)
