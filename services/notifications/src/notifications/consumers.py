"""What this service hears, and the work it leaves for itself: event → one use case."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import msgspec

from common import telemetry
from common.database import UnitOfWork
from common.logging import get_logger
from common.messages import PermanentFault, Received, Subscription, WorkItem
from common.sealing import SealBroken
from contracts.identity import (
    OneTimeCodeIssued,
    ProfileChanged,
    UserErased,
    UserProvisioned,
    VendorApplicationDecided,
    VendorApproved,
    VendorChanged,
    VendorReinstated,
    VendorSuspended,
)
from contracts.operations import AlertRaised
from contracts.orders import (
    DeliveryPinIssued,
    OrderDelivered,
    OrderDispatched,
    OrderPlaced,
    ReturnDecided,
    ReturnRequested,
)
from contracts.payments import EscrowHeld
from contracts.payouts import BankDetailsChanged, PayoutDelayed, PayoutProcessed
from notifications import queries, store
from notifications.domain.alerts import Alert
from notifications.domain.deliveries import (
    Contact,
    Sealed,
    Wanted,
    masked,
    notification_id_of,
    pin_channel,
)
from notifications.domain.errors import ContactUnknown, OrderUnknown, VendorUnknown
from notifications.templates.words import GREETED
from notifications.use_cases.deliver_notification import deliver_notification
from notifications.use_cases.give_up_delivery import give_up_delivery
from notifications.use_cases.page_on_call import page_on_call
from notifications.use_cases.record_alert import record_alert
from notifications.use_cases.send_delivery import send_delivery

if TYPE_CHECKING:
    from notifications.app import Dependencies

log: Final = get_logger(__name__)


# --- Contacts, heard from identity -----------------------------------------------------------------------------------


async def on_user_provisioned(
    event: UserProvisioned, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _keep_contact(event, received, uow)


async def on_profile_changed(
    event: ProfileChanged, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _keep_contact(event, received, uow)


async def on_user_erased(event: UserErased, received: Received, uow: UnitOfWork, dependencies: "Dependencies") -> None:
    """How the person was reached is forgotten, here and in every message; late news of before brings none of it back."""
    if not await store.forget_contact(uow, event.user_id, received.sequence, named_in=GREETED):
        telemetry.STALE_NEWS.labels(received.type).inc()


async def on_vendor_approved(
    event: VendorApproved, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _keep_vendor(event, received, uow)


async def on_vendor_changed(
    event: VendorChanged, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _keep_vendor(event, received, uow)


async def _keep_contact(event: UserProvisioned | ProfileChanged, received: Received, uow: UnitOfWork) -> None:
    contact = Contact(event.user_id, event.email, event.phone, event.full_name)
    if not await store.save_contact(uow, contact, received.sequence):
        telemetry.STALE_NEWS.labels(received.type).inc()


async def _keep_vendor(
    event: VendorApproved | VendorChanged | VendorSuspended | VendorReinstated, received: Received, uow: UnitOfWork
) -> None:
    news = await store.save_vendor(uow, event.vendor_id, event.owner_user_id, event.business_name, received.sequence)
    if not news:
        telemetry.STALE_NEWS.labels(received.type).inc()


# --- Vendors ---------------------------------------------------------------------------------------------------------


async def on_vendor_application_decided(
    event: VendorApplicationDecided, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    parameters = {"outcome": event.outcome} | ({"reason": event.reason} if event.reason else {})
    await _mail(uow, dependencies, event.user_id, "vendor_application_decided", parameters, event.application_id)


async def on_vendor_suspended(
    event: VendorSuspended, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    """A vendor may be suspended more than once: each time is told."""
    await _keep_vendor(event, received, uow)
    parameters = {"businessName": event.business_name, "reason": event.reason}
    await _mail(uow, dependencies, event.owner_user_id, "vendor_suspended", parameters, received.event_id)


async def on_vendor_reinstated(
    event: VendorReinstated, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _keep_vendor(event, received, uow)
    parameters = {"businessName": event.business_name}
    await _mail(uow, dependencies, event.owner_user_id, "vendor_reinstated", parameters, received.event_id)


# --- Orders ----------------------------------------------------------------------------------------------------------


async def on_order_placed(
    event: OrderPlaced, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    """Keeps what the confirmation will tell; nobody is told before the order is paid."""
    items = [
        {"name": item.name, "quantity": item.quantity, "lineTotalMinor": item.line_total_minor} for item in event.items
    ]
    await store.save_order_summary(
        uow, event.order_id, event.vendor_id, event.total_minor, event.delivery_fee_minor, items
    )


async def on_escrow_held(event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: "Dependencies") -> None:
    """The order is paid: the buyer has a confirmation."""
    order, vendor = await _order(uow, event.order_id), await _vendor(uow, event.vendor_id)
    parameters = {
        "orderId": str(event.order_id),
        "businessName": vendor["business_name"],
        "totalMinor": order["total_minor"],
        "deliveryFeeMinor": order["delivery_fee_minor"],
        "items": order["items"],
    }
    await _mail(uow, dependencies, event.buyer_id, "order_confirmation", parameters, event.order_id)


async def alert_vendor_on_escrow_held(
    event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    """The order is paid: the vendor has something to hand over."""
    order, vendor = await _order(uow, event.order_id), await _vendor(uow, event.vendor_id)
    parameters = {
        "orderId": str(event.order_id),
        "businessName": vendor["business_name"],
        "items": order["items"],
    }
    await _mail(uow, dependencies, vendor["owner_user_id"], "vendor_dispatch_alert", parameters, event.order_id)


async def on_delivery_pin_issued(
    event: DeliveryPinIssued, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    """The PIN stays sealed until the moment of sending. Each issue is a message of its own."""
    contact = await queries.find_contact(uow, event.buyer_id)
    if contact is None:
        raise ContactUnknown
    if contact.is_erased:
        return
    channel, template = pin_channel(contact)
    secrets = {"pin": Sealed(event.pin_sealed, str(event.order_id))} if channel == "sms" else {}
    wanted = Wanted(
        notification_id=notification_id_of("delivery_pin", event.order_id, event.issue),
        user_id=event.buyer_id,
        channel=channel,
        template=template,
        parameters={"orderId": str(event.order_id)},
        sealed=secrets,
    )
    await deliver_notification(uow, wanted, dependencies.desk())


async def on_order_dispatched(
    event: OrderDispatched, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    vendor = await _vendor(uow, event.vendor_id)
    parameters = {"orderId": str(event.order_id), "businessName": vendor["business_name"]}
    await _mail(uow, dependencies, event.buyer_id, "order_dispatched", parameters, event.order_id)


async def on_order_delivered(
    event: OrderDelivered, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    vendor = await _vendor(uow, event.vendor_id)
    parameters = {"orderId": str(event.order_id), "businessName": vendor["business_name"]}
    await _mail(uow, dependencies, event.buyer_id, "order_delivered", parameters, event.order_id)


async def on_return_requested(
    event: ReturnRequested, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    """The vendor has something to decide."""
    parameters = {"orderId": str(event.order_id)}
    about = event.return_request_id
    await _mail_vendor(uow, dependencies, event.vendor_id, "return_requested", parameters, about)


async def on_return_decided(
    event: ReturnDecided, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    decided: dict[str, Any] = {"outcome": event.outcome, "refundMinor": event.refund_minor}
    parameters = {name: value for name, value in decided.items() if value is not None}
    parameters["orderId"] = str(event.order_id)
    await _mail(uow, dependencies, event.buyer_id, "return_request_update", parameters, event.return_request_id)


# --- Payouts ---------------------------------------------------------------------------------------------------------


async def on_payout_processed(
    event: PayoutProcessed, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    parameters = {"payoutId": str(event.payout_id), "amountMinor": event.amount_minor}
    await _mail_vendor(uow, dependencies, event.vendor_id, "payout_processed", parameters, event.payout_id)


async def on_payout_delayed(
    event: PayoutDelayed, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    """A payout may be delayed more than once: each time is told."""
    parameters = {"payoutId": str(event.payout_id), "amountMinor": event.amount_minor, "cause": event.cause}
    await _mail_vendor(uow, dependencies, event.vendor_id, "payout_delayed", parameters, received.event_id)


async def on_bank_details_changed(
    event: BankDetailsChanged, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _mail_vendor(
        uow, dependencies, event.vendor_id, "bank_details_changed", {"last4": event.last4}, received.event_id
    )


# --- Codes and alerts ------------------------------------------------------------------------------------------------


async def on_one_time_code_issued(
    event: OneTimeCodeIssued, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    """Address and code stay sealed; the address is opened for a moment to be kept masked."""
    context = str(event.code_id)
    try:
        shown = masked(dependencies.post.sealer.unseal(event.address_sealed, context))
    except SealBroken:
        raise PermanentFault("the sealed address does not open") from None
    wanted = Wanted(
        notification_id=event.code_id,
        channel=event.channel,
        template="one_time_code",
        parameters={"purpose": event.purpose},
        sealed={"address": Sealed(event.address_sealed, context), "code": Sealed(event.code_sealed, context)},
    )
    await deliver_notification(uow, wanted, dependencies.desk(), recipient=shown)


async def on_alert_raised(
    event: AlertRaised, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    alert = Alert(
        alert_id=str(event.alert_id),
        severity=event.severity,
        title=event.title,
        detail=event.detail,
        runbook=event.runbook,
        dedup_key=event.dedup_key,
        about=event.about,
        source=received.source.rpartition("/")[2],
        raised_at=received.time,
    )
    await record_alert(uow, alert, datetime.fromisoformat(received.time), dependencies.clock.now())


async def _order(uow: UnitOfWork, order_id: UUID) -> Any:
    order = await queries.find_order_summary(uow, order_id)
    if order is None:
        raise OrderUnknown(order_id)
    return order


async def _vendor(uow: UnitOfWork, vendor_id: UUID) -> Any:
    vendor = await queries.find_vendor(uow, vendor_id)
    if vendor is None:
        raise VendorUnknown(vendor_id)
    return vendor


async def _mail(
    uow: UnitOfWork,
    dependencies: "Dependencies",
    user_id: UUID,
    template: str,
    parameters: dict[str, Any],
    about: UUID,
) -> None:
    contact = await queries.find_contact(uow, user_id)
    if contact is not None and contact.is_erased:
        return
    wanted = Wanted(
        notification_id=notification_id_of(template, about),
        user_id=user_id,
        channel="email",
        template=template,
        parameters=parameters,
    )
    await deliver_notification(uow, wanted, dependencies.desk())


async def _mail_vendor(
    uow: UnitOfWork,
    dependencies: "Dependencies",
    vendor_id: UUID,
    template: str,
    parameters: dict[str, Any],
    about: UUID,
) -> None:
    vendor = await _vendor(uow, vendor_id)
    named = {**parameters, "businessName": vendor["business_name"]}
    await _mail(uow, dependencies, vendor["owner_user_id"], template, named, about)


SUBSCRIPTIONS: Final[list[Subscription[Any]]] = [
    Subscription(UserProvisioned, on_user_provisioned),
    Subscription(ProfileChanged, on_profile_changed),
    Subscription(UserErased, on_user_erased),
    Subscription(VendorApproved, on_vendor_approved),
    Subscription(VendorChanged, on_vendor_changed),
    Subscription(VendorApplicationDecided, on_vendor_application_decided),
    Subscription(VendorSuspended, on_vendor_suspended),
    Subscription(VendorReinstated, on_vendor_reinstated),
    Subscription(OneTimeCodeIssued, on_one_time_code_issued),
    Subscription(OrderPlaced, on_order_placed),
    Subscription(DeliveryPinIssued, on_delivery_pin_issued),
    Subscription(OrderDispatched, on_order_dispatched),
    Subscription(OrderDelivered, on_order_delivered),
    Subscription(ReturnRequested, on_return_requested),
    Subscription(ReturnDecided, on_return_decided),
    Subscription(EscrowHeld, on_escrow_held),
    Subscription(EscrowHeld, alert_vendor_on_escrow_held),
    Subscription(PayoutProcessed, on_payout_processed),
    Subscription(PayoutDelayed, on_payout_delayed),
    Subscription(BankDetailsChanged, on_bank_details_changed),
    Subscription(AlertRaised, on_alert_raised),
]


class Errand(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One piece of work: a message to send, or an alert to page."""

    delivery_id: UUID | None = None
    alert_id: UUID | None = None


async def run_errand(errand: Errand, received: Received, dependencies: "Dependencies") -> None:
    """Sends or pages; what the provider does not take climbs the retry ladder."""
    if errand.delivery_id is not None:
        await send_delivery(errand.delivery_id, dependencies.post)
    if errand.alert_id is not None:
        await page_on_call(errand.alert_id, dependencies.database, dependencies.on_call, dependencies.clock)


async def give_up_errand(errand: Errand, received: Received, uow: UnitOfWork, error: str) -> None:
    """The end of the ladder. A page that nobody took is written down and logged: an alert about it would go the same way."""
    if errand.delivery_id is not None:
        await give_up_delivery(uow, errand.delivery_id, error)
    if errand.alert_id is not None:
        log.error("nobody on call could be reached", alert_id=str(errand.alert_id), error=error)
        await store.save_page_failed(uow, errand.alert_id, error)


WORK: Final[list[WorkItem[Any]]] = [WorkItem(store.DELIVERIES_QUEUE, Errand, run_errand, give_up_errand)]
