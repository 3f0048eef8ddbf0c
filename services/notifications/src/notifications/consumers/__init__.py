"""Subscriptions and work items of this service. Handlers are in one module for each publisher."""

from typing import Any, Final

import contracts.identity as identity_events
import contracts.operations as operations_events
import contracts.orders as orders_events
import contracts.payments as payments_events
import contracts.payouts as payouts_events
from common.messaging.messages import Subscription
from notifications.consumers import identity, operations, orders, payments, payouts
from notifications.consumers.webhooks import WEBHOOK_SUBSCRIPTIONS
from notifications.consumers.work import WORK, DeliveryJob

__all__ = ["SUBSCRIPTIONS", "WORK", "DeliveryJob"]

SUBSCRIPTIONS: Final[list[Subscription[Any]]] = [
    Subscription(identity_events.UserProvisioned, identity.on_user_provisioned),
    Subscription(identity_events.EmailConfirmed, identity.on_email_confirmed),
    Subscription(identity_events.SignUpRepeated, identity.on_sign_up_repeated),
    Subscription(identity_events.ProfileChanged, identity.on_profile_changed),
    Subscription(identity_events.UserErased, identity.on_user_erased, alone=True),
    Subscription(identity_events.CredentialsChanged, identity.on_credentials_changed),
    Subscription(identity_events.ErasureRefused, identity.on_erasure_refused),
    Subscription(identity_events.VendorApproved, identity.on_vendor_approved),
    Subscription(identity_events.VendorChanged, identity.on_vendor_changed),
    Subscription(identity_events.VendorApplicationDecided, identity.on_vendor_application_decided),
    Subscription(identity_events.VendorSuspended, identity.on_vendor_suspended),
    Subscription(identity_events.VendorReinstated, identity.on_vendor_reinstated),
    Subscription(identity_events.VendorClosed, identity.on_vendor_closed, alone=True),
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
