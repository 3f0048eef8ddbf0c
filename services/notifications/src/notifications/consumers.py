"""Subscriptions and work items of this service. Handlers are with their context; those of several contexts are here."""

from typing import Any, Final

import contracts.identity as identity_events
import contracts.operations as operations_events
import contracts.orders as orders_events
import contracts.payments as payments_events
import contracts.payouts as payouts_events
from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Outcome, Received, Subscription, WorkItem, applied_if
from contracts.identity import UserErased, VendorClosed
from notifications.assistant.store import delete_conversations
from notifications.deliveries.consumers import identity, operations, orders, payments, payouts
from notifications.deliveries.consumers.work import DELIVERIES_WORK
from notifications.deliveries.queries import find_contact
from notifications.deliveries.store import erase_contact, save_vendor
from notifications.deliveries.use_cases.deliveries.notify_erased_user import notify_erased_user
from notifications.dependencies import Dependencies
from notifications.support.consumers import SUPPORT_WORK
from notifications.support.use_cases.messaging.erase_dead_webhooks import erase_dead_webhooks
from notifications.support.use_cases.tickets.erase_tickets import erase_tickets
from notifications.webhooks.consumers import WEBHOOK_SUBSCRIPTIONS
from notifications.webhooks.store import remove_webhook_endpoints_of

__all__ = ["SUBSCRIPTIONS", "WORK"]

# Replaces the name of a closed vendor.
CLOSED_SHOP: Final = "a closed shop"


async def on_user_erased(event: UserErased, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> Outcome:
    """Erase the contact and the user's texts. Older events cannot restore them."""
    contact = await find_contact(uow, event.user_id)
    hasher, now = dependencies.phone_hasher, dependencies.clock.now()
    phone_key = hasher.key_of(contact.phone) if contact and contact.phone else None
    await erase_dead_webhooks(uow, event.user_id, phone_key, hasher, now)
    await erase_tickets(uow, event.user_id, phone_key, now)
    is_newer = await erase_contact(uow, event.user_id, received.sequence)
    if is_newer and contact and contact.email:
        await notify_erased_user(
            uow, dependencies.delivery_context(), dependencies.delivery_sender.encryptor, event.user_id, contact.email
        )
    await delete_conversations(uow, event.user_id)
    return applied_if(is_newer)


async def on_vendor_closed(
    event: VendorClosed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    """Replace the vendor's name, also in messages that are not rendered yet, and remove its webhook endpoints."""
    await remove_webhook_endpoints_of(uow, event.vendor_id)
    return applied_if(await save_vendor(uow, event.vendor_id, event.owner_user_id, CLOSED_SHOP, received.sequence))


SUBSCRIPTIONS: Final[list[Subscription[Any]]] = [
    Subscription(identity_events.UserProvisioned, identity.on_user_provisioned),
    Subscription(identity_events.EmailConfirmed, identity.on_email_confirmed),
    Subscription(identity_events.SignUpRepeated, identity.on_sign_up_repeated),
    Subscription(identity_events.ProfileChanged, identity.on_profile_changed),
    Subscription(UserErased, on_user_erased, alone=True),
    Subscription(identity_events.CredentialsChanged, identity.on_credentials_changed),
    Subscription(identity_events.ErasureRefused, identity.on_erasure_refused),
    Subscription(identity_events.VendorApproved, identity.on_vendor_approved),
    Subscription(identity_events.VendorChanged, identity.on_vendor_changed),
    Subscription(identity_events.VendorApplicationDecided, identity.on_vendor_application_decided),
    Subscription(identity_events.VendorSuspended, identity.on_vendor_suspended),
    Subscription(identity_events.VendorReinstated, identity.on_vendor_reinstated),
    Subscription(VendorClosed, on_vendor_closed, alone=True),
    Subscription(identity_events.OneTimeCodeIssued, identity.on_one_time_code_issued),
    Subscription(orders_events.OrderPlaced, orders.on_order_placed),
    Subscription(orders_events.OrderCancelled, orders.on_order_cancelled),
    Subscription(orders_events.OrderExpired, orders.on_order_expired),
    Subscription(orders_events.DeliveryPinIssued, orders.on_delivery_pin_issued),
    Subscription(orders_events.OrderDispatched, orders.on_order_dispatched),
    Subscription(orders_events.OrderDelivered, orders.on_order_delivered),
    Subscription(orders_events.OrderDisputed, orders.on_order_disputed),
    Subscription(orders_events.OrderDisputed, orders.alert_vendor_on_order_disputed),
    Subscription(orders_events.DisputeResolved, orders.on_dispute_resolved),
    Subscription(orders_events.DisputeResolved, orders.notify_vendor_on_dispute_resolved),
    Subscription(orders_events.ReturnRequested, orders.on_return_requested),
    Subscription(orders_events.ReturnDecided, orders.on_return_decided),
    Subscription(payments_events.EscrowHeld, payments.on_escrow_held),
    Subscription(payments_events.EscrowReleased, payments.on_escrow_released),
    Subscription(payments_events.EscrowRefunded, payments.on_escrow_refunded),
    Subscription(payments_events.EscrowRefunded, payments.notify_vendor_on_escrow_refunded),
    Subscription(payments_events.RefundSettled, payments.on_refund_settled),
    Subscription(payments_events.RefundFailed, payments.on_refund_failed),
    Subscription(payments_events.ChargeDisputed, payments.on_charge_disputed),
    Subscription(payments_events.ChargeQuarantined, payments.on_charge_quarantined),
    Subscription(payments_events.ChargeQuarantined, payments.notify_finance_on_charge_quarantined),
    Subscription(payments_events.PaymentFailed, payments.on_payment_failed),
    Subscription(payouts_events.PayoutProcessed, payouts.on_payout_processed),
    Subscription(payouts_events.PayoutFailed, payouts.on_payout_failed),
    Subscription(payouts_events.PayoutReversed, payouts.on_payout_reversed),
    Subscription(payouts_events.PayoutDelayed, payouts.on_payout_delayed),
    Subscription(payouts_events.BankDetailsChanged, payouts.on_bank_details_changed),
    Subscription(payouts_events.BankDetailsQuarantined, payouts.on_bank_details_quarantined),
    Subscription(operations_events.AlertRaised, operations.on_alert_raised),
    Subscription(operations_events.AlertCleared, operations.on_alert_cleared),
    *WEBHOOK_SUBSCRIPTIONS,
]

WORK: Final[list[WorkItem[Any]]] = [*DELIVERIES_WORK, SUPPORT_WORK]
