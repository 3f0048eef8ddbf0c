"""Handlers of payments' events."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received
from common.primitives.json_records import JsonObject
from contracts.payments import (
    ChargeDisputed,
    ChargeQuarantined,
    EscrowHeld,
    EscrowRefunded,
    EscrowReleased,
    GoodwillGiven,
    PaymentFailed,
    RefundFailed,
    RefundSettled,
    WithdrawalPaid,
    WithdrawalRequested,
    WithdrawalReturned,
)
from contracts.permissions import PERMISSIONS_BY_ROLE
from notifications.deliveries.consumers.subject_parameters import order_parameters
from notifications.deliveries.domain.errors import OrderUnknown
from notifications.deliveries.queries.contacts import get_order_summary, list_staff
from notifications.deliveries.store.contacts import save_payment_under_review
from notifications.deliveries.use_cases.deliveries.notify_shop import notify_shop
from notifications.deliveries.use_cases.deliveries.notify_user import notify_user
from notifications.dependencies import Dependencies

HOME_CURRENCY: Final = "NGN"
QUARANTINE_DECIDERS: Final = frozenset(
    role
    for role, permissions in PERMISSIONS_BY_ROLE.items()
    if not permissions.isdisjoint({"quarantine:prepare", "quarantine:approve"})
)


async def on_escrow_held(event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    """Confirm the paid order to the buyer, and request the dispatch from the people of the shop."""
    order, delivery_context = await get_order_summary(uow, event.order_id), dependencies.delivery_context()
    items: JsonObject = {**await order_parameters(uow, event), "items": order.items}
    amounts = {"totalMinor": order.total_minor, "deliveryFeeMinor": order.delivery_fee_minor}
    confirmed: JsonObject = {**items, **amounts}
    notify_user(
        uow,
        delivery_context,
        event.buyer_id,
        "order_confirmation",
        confirmed,
        event.order_id,
        vendor_id=event.vendor_id,
    )
    notify_shop(uow, delivery_context, event.vendor_id, "vendor_dispatch_alert", items, event.order_id)


async def on_escrow_released(
    event: EscrowReleased, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the vendor of the credit in the wallet, unless the whole release belongs to the platform."""
    if event.net_minor == 0:
        return
    parameters = {**await order_parameters(uow, event), "netMinor": event.net_minor}
    notify_shop(uow, dependencies.delivery_context(), event.vendor_id, "order_completed", parameters, event.release_id)


async def on_escrow_refunded(
    event: EscrowRefunded, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the buyer: one part is in the balance, the other is requested from the payment gateway."""
    order = await order_parameters(uow, event)
    balance_minor = event.balance_minor or 0
    parts = {"refund_in_balance": balance_minor, "refund_on_its_way": event.amount_minor - balance_minor}
    for template, amount_minor in parts.items():
        if amount_minor:
            parameters = {**order, "amountMinor": amount_minor}
            notify_user(uow, dependencies.delivery_context(), event.buyer_id, template, parameters, event.refund_id)


async def notify_shop_on_escrow_refunded(
    event: EscrowRefunded, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Warn the vendor against handing over a refunded order."""
    parameters = {
        **await order_parameters(uow, event),
        "amountMinor": event.amount_minor,
        "fromVendorMinor": event.from_vendor_minor,
    }
    notify_shop(uow, dependencies.delivery_context(), event.vendor_id, "order_refunded", parameters, event.refund_id)


async def on_refund_settled(
    event: RefundSettled, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    paid_minor = event.amount_minor - (event.balance_minor or 0)
    if event.buyer_id is not None and paid_minor:
        notify_user(
            uow,
            dependencies.delivery_context(),
            event.buyer_id,
            "refund_settled",
            await _refund(uow, event, paid_minor),
            event.refund_id,
        )


async def on_goodwill_given(
    event: GoodwillGiven, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = {**await order_parameters(uow, event), "amountMinor": event.amount_minor}
    notify_user(
        uow, dependencies.delivery_context(), event.buyer_id, "refund_in_balance", parameters, event.goodwill_id
    )


async def on_refund_failed(
    event: RefundFailed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the buyer once, even if further attempts fail."""
    if event.buyer_id is not None:
        notify_user(
            uow,
            dependencies.delivery_context(),
            event.buyer_id,
            "refund_failed",
            await _refund(uow, event, event.amount_minor),
            event.refund_id,
        )


async def on_withdrawal_requested(
    event: WithdrawalRequested, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the buyer at once: the request may be fraud."""
    _notify_withdrawal(uow, dependencies, event, "withdrawal_requested")


async def on_withdrawal_paid(
    event: WithdrawalPaid, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    _notify_withdrawal(uow, dependencies, event, "withdrawal_paid")


async def on_withdrawal_returned(
    event: WithdrawalReturned, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    _notify_withdrawal(uow, dependencies, event, "withdrawal_returned")


def _notify_withdrawal(
    uow: UnitOfWork,
    dependencies: Dependencies,
    event: WithdrawalRequested | WithdrawalPaid | WithdrawalReturned,
    template: str,
) -> None:
    parameters: JsonObject = {"amountMinor": event.amount_minor, "last4": event.account_last4}
    notify_user(uow, dependencies.delivery_context(), event.user_id, template, parameters, event.withdrawal_id)


async def _refund(uow: UnitOfWork, event: RefundSettled | RefundFailed, amount_minor: int) -> JsonObject:
    return await order_parameters(uow, event) | ({"amountMinor": amount_minor} if event.currency is None else {})


async def on_charge_quarantined(
    event: ChargeQuarantined, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the buyer of the review, and mark the orders, so that no later message denies the payment.

    Too low a payment is never used: its notice says what arrived, and what the orders cost.
    """
    if event.buyer_id is None or event.order_id is None:
        return
    for order_id in sorted(event.named_orders):
        if not await save_payment_under_review(uow, order_id):
            raise OrderUnknown(order_id)
    parameters: JsonObject = await order_parameters(uow, event)
    if event.currency == HOME_CURRENCY:
        parameters["amountMinor"] = event.amount_minor
    template = "payment_under_review"
    if event.reason == "underpaid" and event.expected_minor is not None:
        template, parameters["expectedMinor"] = "payment_too_low", event.expected_minor
    about = event.quarantined_charge_id or event.reference
    notify_user(uow, dependencies.delivery_context(), event.buyer_id, template, parameters, about)


async def notify_finance_on_charge_quarantined(
    event: ChargeQuarantined, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the staff who decide on quarantined charges, of a charge without an order too."""
    parameters: JsonObject = await order_parameters(uow, event)
    parameters |= {"reference": event.reference, "quarantineReason": event.reason}
    if event.currency == HOME_CURRENCY:
        parameters["amountMinor"] = event.amount_minor
    about = event.quarantined_charge_id or event.reference
    for user_id in await list_staff(uow, QUARANTINE_DECIDERS):
        notify_user(uow, dependencies.delivery_context(), user_id, "charge_quarantined", parameters, about, user_id)


async def on_payment_failed(
    event: PaymentFailed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the buyer, who may retry with a new reference."""
    parameters = {
        **await order_parameters(uow, event),
        "amountMinor": event.amount_minor,
        "failureReason": event.failure_reason,
    }
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.buyer_id,
        "payment_failed",
        parameters,
        event.payment_id,
        subject_id=event.payment_id,
    )


async def on_charge_disputed(
    event: ChargeDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify the vendor of an opened or decided chargeback, with the vendor's share in kobo."""
    about = event.chargeback_id or event.order_id
    parameters: JsonObject = await order_parameters(uow, event)
    if event.outcome is None:
        parameters |= {"amountMinor": event.vendor_minor} if event.vendor_minor else {}
        notify_shop(uow, dependencies.delivery_context(), event.vendor_id, "chargeback_opened", parameters, about)
        return
    parameters |= {"outcome": event.outcome, "amountMinor": event.from_vendor_minor}
    notify_shop(
        uow, dependencies.delivery_context(), event.vendor_id, "chargeback_decided", parameters, about, event.outcome
    )
