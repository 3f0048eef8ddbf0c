"""Subscriptions and work items of this service. Handlers are with their context; those of several contexts are here.

- `payments.escrow_held` → buyer: `order_confirmation`, mail, push, messaging app
- `payments.escrow_held` → vendor's owner: `vendor_dispatch_alert`, mail, push, messaging app; managers and packers of
  the shop: `order_to_pack` without amounts, mail, push
- `orders.delivery_pin_issued` → buyer: `delivery_pin`: SMS, then the messaging app, then push; without a proven
  number `delivery_pin_ready`, mail and push, which does not contain the PIN
- `orders.order_line_cancelled` → buyer: the template of the same name, mail, push
- `orders.order_dispatched`, `order_delivered` → buyer: `order_dispatched`, `order_delivered`, mail, push
- `orders.order_dispatched` of an order with a hub → the agents of the hub: `parcel_coming`, feed, push
- `orders.order_arrived` → buyer: `order_arrived` with where and when to collect the parcel, mail, push
- `orders.order_cancelled`, `order_expired` → buyer: the template of the same name, or `order_closed_under_review`
  when a payment for the order is in quarantine, mail, push; vendors are not notified of unpaid orders
- `payments.charge_quarantined` → buyer, when one is named: `payment_too_low`, with what arrived and what the orders
  cost, else `payment_under_review`, another currency than the naira without its amount; mail, push
- `payments.charge_quarantined` → finance makers and checkers: `charge_quarantined`, mail (always): the charge is
  flagged for fraud; not in the feed
- `payments.payment_failed` → buyer: `payment_failed` with the gateway's reason and how to try again, mail, push
- `orders.order_disputed` → buyer, vendor's owner and managers: `dispute_opened`, mail, push
- `orders.dispute_resolved` → buyer and vendor's owner: `dispute_resolved`, mail, push
- `payments.escrow_released` → vendor's owner: `order_completed` (the vendor's net share is in the wallet), mail, push
- `payments.escrow_refunded` → buyer: `refund_in_balance`, `refund_on_its_way`, each for its part; vendor's owner:
  `order_refunded`; mail, push
- `payments.refund_settled`, `refund_failed` → buyer, when one is named: the template of the same name, mail, push;
  another currency than the naira is named without its amount
- `payments.goodwill_given` → buyer: `refund_in_balance`, mail, push
- `payments.withdrawal_requested`, `withdrawal_paid`, `withdrawal_returned` → buyer: the template of the same name, mail
  (the first one always), push
- `payments.charge_disputed` → vendor's owner: `chargeback_opened`, with an outcome `chargeback_decided`, mail, push
- `orders.return_requested` → vendor's owner and managers: `return_requested`, mail, push
- `orders.return_decided` → buyer: `return_request_update`, mail, push, messaging app
- `identity.vendor_application_decided` → applicant: template of the same name, mail, push
- `identity.vendor_suspended`, `vendor_reinstated` → vendor's owner: the template of the same name, mail, push
- `orders.product_delisted`, `product_relisted` → vendor's owner and managers: the template of the same name, mail, push
- `payouts.payout_processed`, `payout_failed`, `payout_reversed`, `payout_delayed`, `bank_details_changed`,
  `bank_details_quarantined` → vendor's owner: the template of the same name, mail, push
- `identity.erasure_refused` → the user: `erasure_refused` with what is still under way, mail, push
- `identity.credentials_changed` → the user: `credentials_changed`, mail (always) and push, not the feed, which an
  attacker could read: password, second factors, recovery codes, number or API keys have changed
- `identity.api_key_expiring` → the key's creator: the template of the same name, mail, push
- `identity.shop_invitation_sent` → the invited user: `shop_invitation`, mail, push
- `identity.user_erased` → the erased address: `account_erased`, mail; not in the feed
- `identity.one_time_code_issued` → the encrypted address: `one_time_code`, SMS or mail; `confirm_email` for the first
  proof of a mail address; not in the feed
- `identity.sign_up_repeated` → the owner of the address: `already_registered`, mail (always); not in the feed
- `identity.email_confirmed`: deletes the devices that were registered before the first proof
- the public events of orders, payments and payouts → webhook endpoints: recorded, and sent by the worker
- `operations.alert_raised` → the on-call staff: log, list, `ON_CALL_URL`
- `operations.alert_cleared` → the on-call staff: the alert closes; log, resolution to `ON_CALL_URL`

Contacts, vendors and order summaries are projections of identity's and orders' events. `identity.user_erased` empties
the contact, erases addresses and texts of the user's messages, fails queued ones, and deletes devices, preferences
and conversations. The empty contact stays, so that older events restore nothing. `identity.vendor_closed` replaces
the name of a vendor. A ticket without a user is erased with the user's number. So is a ticket of an id of the
messaging app that occurred in a message with that number. An id that never occurred together with a number belongs to
no account. The service publishes `notifications.delivery_settled.v1` for the statuses `sent`, `delivered`, `read`,
`failed` and `bounced`, `operations.alert_raised.v1` for a lost message, and `notifications.notification_shown.v1` for
a new entry of a streamed feed.
"""

from dataclasses import replace
from typing import Final

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
from notifications.deliveries.queries.contacts import find_contact
from notifications.deliveries.store.contacts import erase_contact, erase_messages, save_vendor
from notifications.deliveries.store.shop_members import erase_member
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
    """Erase the contact and the user's texts. Older events cannot restore them.

    The rows are locked in the order of every transaction: a message of the app locks its item before its ticket, and a
    ticket's messages are deliveries.
    """
    contact = await find_contact(uow, event.user_id)
    hasher, now = dependencies.phone_hasher, dependencies.clock.now()
    phone_key = hasher.key_of(contact.phone) if contact and contact.phone else None
    is_newer = await erase_contact(uow, event.user_id, received.sequence)
    await erase_member(uow, event.user_id, received.sequence)
    await erase_dead_webhooks(uow, event.user_id, phone_key, hasher, now)
    replies = await erase_tickets(uow, event.user_id, phone_key, now)
    await erase_messages(uow, event.user_id if is_newer else None, replies)
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
    is_newer = await save_vendor(uow, event.vendor_id, event.owner_user_id, CLOSED_SHOP, received.sequence)
    await remove_webhook_endpoints_of(uow, event.vendor_id)
    return applied_if(is_newer)


_SUBSCRIPTIONS: Final[list[Subscription]] = [
    Subscription(identity_events.UserProvisioned, identity.on_user_provisioned),
    # Devices are locked after deliveries.
    Subscription(identity_events.EmailConfirmed, identity.on_email_confirmed, alone=True),
    Subscription(identity_events.SignUpRepeated, identity.on_sign_up_repeated),
    Subscription(identity_events.ProfileChanged, identity.on_profile_changed),
    Subscription(UserErased, on_user_erased, alone=True),
    Subscription(identity_events.CredentialsChanged, identity.on_credentials_changed),
    Subscription(identity_events.ApiKeyExpiring, identity.on_api_key_expiring),
    Subscription(identity_events.ShopInvitationSent, identity.on_shop_invitation_sent),
    Subscription(identity_events.ShopMemberChanged, identity.on_shop_member_changed, alone=True),
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
    Subscription(orders_events.OrderLineCancelled, orders.on_order_line_cancelled),
    Subscription(orders_events.OrderDispatched, orders.on_order_dispatched),
    Subscription(orders_events.OrderDispatched, orders.notify_hub_on_order_dispatched),
    Subscription(orders_events.OrderArrived, orders.on_order_arrived),
    Subscription(orders_events.OrderDelivered, orders.on_order_delivered),
    Subscription(orders_events.OrderDisputed, orders.on_order_disputed),
    Subscription(orders_events.OrderDisputed, orders.alert_shop_on_order_disputed),
    Subscription(orders_events.DisputeResolved, orders.on_dispute_resolved),
    Subscription(orders_events.DisputeResolved, orders.notify_shop_on_dispute_resolved),
    Subscription(orders_events.ReturnRequested, orders.on_return_requested),
    Subscription(orders_events.ReturnDecided, orders.on_return_decided),
    Subscription(orders_events.ProductDelisted, orders.on_product_delisted),
    Subscription(orders_events.ProductRelisted, orders.on_product_relisted),
    Subscription(orders_events.SavedProductChanged, orders.on_saved_product_changed),
    Subscription(orders_events.MessagePosted, orders.on_message_posted),
    Subscription(payments_events.EscrowHeld, payments.on_escrow_held),
    Subscription(payments_events.EscrowReleased, payments.on_escrow_released),
    Subscription(payments_events.EscrowRefunded, payments.on_escrow_refunded),
    Subscription(payments_events.EscrowRefunded, payments.notify_shop_on_escrow_refunded),
    Subscription(payments_events.RefundSettled, payments.on_refund_settled),
    Subscription(payments_events.GoodwillGiven, payments.on_goodwill_given),
    Subscription(payments_events.RefundFailed, payments.on_refund_failed),
    Subscription(payments_events.WithdrawalRequested, payments.on_withdrawal_requested),
    Subscription(payments_events.WithdrawalPaid, payments.on_withdrawal_paid),
    Subscription(payments_events.WithdrawalReturned, payments.on_withdrawal_returned),
    Subscription(payments_events.ChargeDisputed, payments.on_charge_disputed),
    # Its charge may be of several orders.
    Subscription(payments_events.ChargeQuarantined, payments.on_charge_quarantined, alone=True),
    Subscription(payments_events.ChargeQuarantined, payments.notify_finance_on_charge_quarantined),
    Subscription(payments_events.PaymentFailed, payments.on_payment_failed),
    Subscription(payouts_events.PayoutProcessed, payouts.on_payout_processed),
    Subscription(payouts_events.PayoutFailed, payouts.on_payout_failed),
    Subscription(payouts_events.PayoutReversed, payouts.on_payout_reversed),
    Subscription(payouts_events.PayoutDelayed, payouts.on_payout_delayed),
    Subscription(payouts_events.BankDetailsChanged, payouts.on_bank_details_changed),
    Subscription(payouts_events.BankDetailsQuarantined, payouts.on_bank_details_quarantined),
    # Alerts are locked after deliveries.
    Subscription(operations_events.AlertRaised, operations.on_alert_raised, alone=True),
    Subscription(operations_events.AlertCleared, operations.on_alert_cleared, alone=True),
    *WEBHOOK_SUBSCRIPTIONS,
]

# Their handlers read, then write. One that locks rows of several aggregates locks before it reads.
SUBSCRIPTIONS: Final = [replace(line, starts_late=not line.alone) for line in _SUBSCRIPTIONS]
WORK: Final[list[WorkItem]] = [*DELIVERIES_WORK, SUPPORT_WORK]
