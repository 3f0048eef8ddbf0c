"""What is heard from payments."""

from typing import Any, Final

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received
from contracts.payments import (
    ChargeDisputed,
    ChargeQuarantined,
    EscrowHeld,
    EscrowRefunded,
    EscrowReleased,
    PaymentFailed,
    RefundFailed,
    RefundSettled,
)
from notifications import store
from notifications.consumers.notifying import notify, notify_vendor, order_of, vendor_of
from notifications.dependencies import Dependencies
from notifications.domain.errors import OrderUnknown

HOME_CURRENCY: Final = "NGN"


async def on_escrow_held(event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    """The order is paid: the buyer has a confirmation."""
    order, vendor = await order_of(uow, event.order_id), await vendor_of(uow, event.vendor_id)
    parameters = {
        "orderId": str(event.order_id),
        "businessName": vendor["business_name"],
        "totalMinor": order["total_minor"],
        "deliveryFeeMinor": order["delivery_fee_minor"],
        "items": order["items"],
    }
    await notify(uow, dependencies, event.buyer_id, "order_confirmation", parameters, event.order_id)


async def alert_vendor_on_escrow_held(
    event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The order is paid: the vendor has something to hand over."""
    order, vendor = await order_of(uow, event.order_id), await vendor_of(uow, event.vendor_id)
    parameters = {
        "orderId": str(event.order_id),
        "businessName": vendor["business_name"],
        "items": order["items"],
    }
    await notify(uow, dependencies, vendor["owner_user_id"], "vendor_dispatch_alert", parameters, event.order_id)


async def on_escrow_released(
    event: EscrowReleased, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The money of the order, or of a part of it, is in the vendor's wallet. A release that is all the platform's is no news."""
    if event.net_minor == 0:
        return
    parameters = {"orderId": str(event.order_id), "netMinor": event.net_minor}
    await notify_vendor(uow, dependencies, event.vendor_id, "order_completed", parameters, event.release_id)


async def on_escrow_refunded(
    event: EscrowRefunded, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The refund is in the books, and the payment gateway is asked for it."""
    parameters = {"orderId": str(event.order_id), "amountMinor": event.amount_minor}
    await notify(uow, dependencies, event.buyer_id, "refund_on_its_way", parameters, event.refund_id)


async def notify_vendor_on_escrow_refunded(
    event: EscrowRefunded, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The vendor must not hand over what is no longer paid."""
    parameters = {
        "orderId": str(event.order_id),
        "amountMinor": event.amount_minor,
        "fromVendorMinor": event.from_vendor_minor,
    }
    await notify_vendor(uow, dependencies, event.vendor_id, "order_refunded", parameters, event.refund_id)


async def on_refund_settled(
    event: RefundSettled, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    if event.buyer_id is not None:
        await notify(uow, dependencies, event.buyer_id, "refund_settled", _refund(event), event.refund_id)


async def on_refund_failed(
    event: RefundFailed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """A refund that failed may be tried again and fail again: once told is enough."""
    if event.buyer_id is not None:
        await notify(uow, dependencies, event.buyer_id, "refund_failed", _refund(event), event.refund_id)


def _refund(event: RefundSettled | RefundFailed) -> dict[str, Any]:
    known = {"orderId": str(event.order_id)} if event.order_id is not None else {}
    return known | ({"amountMinor": event.amount_minor} if event.currency is None else {})


async def on_charge_quarantined(
    event: ChargeQuarantined, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The buyer's payment was received and is being checked; when the order closes meanwhile, no message says that they did not pay."""
    if event.buyer_id is None or event.order_id is None:
        return
    if not await store.save_payment_under_review(uow, event.order_id):
        raise OrderUnknown(event.order_id)
    parameters: dict[str, Any] = {"orderId": str(event.order_id)}
    if event.currency == HOME_CURRENCY:
        parameters["amountMinor"] = event.amount_minor
    about = event.quarantined_charge_id or event.reference
    await notify(uow, dependencies, event.buyer_id, "payment_under_review", parameters, about)


async def on_payment_failed(
    event: PaymentFailed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The buyer may try again, under a new reference."""
    parameters = {
        "orderId": str(event.order_id),
        "amountMinor": event.amount_minor,
        "failureReason": event.failure_reason,
    }
    await notify(uow, dependencies, event.buyer_id, "payment_failed", parameters, event.payment_id)


async def on_charge_disputed(
    event: ChargeDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """The buyer's bank asks for the money back, or has decided: the vendor is told what is theirs of it."""
    about = event.chargeback_id or event.order_id
    parameters: dict[str, Any] = {"orderId": str(event.order_id)}
    if event.outcome is None:
        parameters |= {"amountMinor": event.vendor_minor} if event.vendor_minor else {}
        await notify_vendor(uow, dependencies, event.vendor_id, "chargeback_opened", parameters, about)
        return
    parameters |= {"outcome": event.outcome, "amountMinor": event.from_vendor_minor}
    await notify_vendor(uow, dependencies, event.vendor_id, "chargeback_decided", parameters, about, event.outcome)
