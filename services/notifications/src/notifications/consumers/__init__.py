"""What this service hears, and the work it leaves for itself: event → one use case. One module for each source."""

from typing import Any, Final

from common.messaging.messages import Subscription
from contracts.identity import (
    CredentialsChanged,
    EmailConfirmed,
    ErasureRefused,
    OneTimeCodeIssued,
    ProfileChanged,
    SignUpRepeated,
    UserErased,
    UserProvisioned,
    VendorApplicationDecided,
    VendorApproved,
    VendorChanged,
    VendorClosed,
    VendorReinstated,
    VendorSuspended,
)
from contracts.operations import AlertCleared, AlertRaised
from contracts.orders import (
    DeliveryPinIssued,
    DisputeResolved,
    OrderCancelled,
    OrderDelivered,
    OrderDispatched,
    OrderDisputed,
    OrderExpired,
    OrderPlaced,
    ReturnDecided,
    ReturnRequested,
)
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
from contracts.payouts import (
    BankDetailsChanged,
    BankDetailsQuarantined,
    PayoutDelayed,
    PayoutFailed,
    PayoutProcessed,
    PayoutReversed,
)
from notifications.consumers.identity import (
    on_credentials_changed,
    on_email_confirmed,
    on_erasure_refused,
    on_one_time_code_issued,
    on_profile_changed,
    on_sign_up_repeated,
    on_user_erased,
    on_user_provisioned,
    on_vendor_application_decided,
    on_vendor_approved,
    on_vendor_changed,
    on_vendor_closed,
    on_vendor_reinstated,
    on_vendor_suspended,
)
from notifications.consumers.operations import on_alert_cleared, on_alert_raised
from notifications.consumers.order_ends import (
    alert_vendor_on_order_disputed,
    notify_vendor_on_dispute_resolved,
    on_dispute_resolved,
    on_order_cancelled,
    on_order_disputed,
    on_order_expired,
)
from notifications.consumers.orders import (
    on_delivery_pin_issued,
    on_order_delivered,
    on_order_dispatched,
    on_order_placed,
    on_return_decided,
    on_return_requested,
)
from notifications.consumers.payments import (
    alert_vendor_on_escrow_held,
    notify_vendor_on_escrow_refunded,
    on_charge_disputed,
    on_charge_quarantined,
    on_escrow_held,
    on_escrow_refunded,
    on_escrow_released,
    on_payment_failed,
    on_refund_failed,
    on_refund_settled,
)
from notifications.consumers.payouts import (
    on_bank_details_changed,
    on_bank_details_quarantined,
    on_payout_delayed,
    on_payout_failed,
    on_payout_processed,
    on_payout_reversed,
)
from notifications.consumers.work import WORK, DeliveryJob

__all__ = ["SUBSCRIPTIONS", "WORK", "DeliveryJob"]

SUBSCRIPTIONS: Final[list[Subscription[Any]]] = [
    Subscription(UserProvisioned, on_user_provisioned),
    Subscription(EmailConfirmed, on_email_confirmed),
    Subscription(SignUpRepeated, on_sign_up_repeated),
    Subscription(ProfileChanged, on_profile_changed),
    Subscription(UserErased, on_user_erased),
    Subscription(CredentialsChanged, on_credentials_changed),
    Subscription(ErasureRefused, on_erasure_refused),
    Subscription(VendorApproved, on_vendor_approved),
    Subscription(VendorChanged, on_vendor_changed),
    Subscription(VendorApplicationDecided, on_vendor_application_decided),
    Subscription(VendorSuspended, on_vendor_suspended),
    Subscription(VendorReinstated, on_vendor_reinstated),
    Subscription(VendorClosed, on_vendor_closed),
    Subscription(OneTimeCodeIssued, on_one_time_code_issued),
    Subscription(OrderPlaced, on_order_placed),
    Subscription(OrderCancelled, on_order_cancelled),
    Subscription(OrderExpired, on_order_expired),
    Subscription(DeliveryPinIssued, on_delivery_pin_issued),
    Subscription(OrderDispatched, on_order_dispatched),
    Subscription(OrderDelivered, on_order_delivered),
    Subscription(OrderDisputed, on_order_disputed),
    Subscription(OrderDisputed, alert_vendor_on_order_disputed),
    Subscription(DisputeResolved, on_dispute_resolved),
    Subscription(DisputeResolved, notify_vendor_on_dispute_resolved),
    Subscription(ReturnRequested, on_return_requested),
    Subscription(ReturnDecided, on_return_decided),
    Subscription(EscrowHeld, on_escrow_held),
    Subscription(EscrowHeld, alert_vendor_on_escrow_held),
    Subscription(EscrowReleased, on_escrow_released),
    Subscription(EscrowRefunded, on_escrow_refunded),
    Subscription(EscrowRefunded, notify_vendor_on_escrow_refunded),
    Subscription(RefundSettled, on_refund_settled),
    Subscription(RefundFailed, on_refund_failed),
    Subscription(ChargeDisputed, on_charge_disputed),
    Subscription(ChargeQuarantined, on_charge_quarantined),
    Subscription(PaymentFailed, on_payment_failed),
    Subscription(PayoutProcessed, on_payout_processed),
    Subscription(PayoutFailed, on_payout_failed),
    Subscription(PayoutReversed, on_payout_reversed),
    Subscription(PayoutDelayed, on_payout_delayed),
    Subscription(BankDetailsChanged, on_bank_details_changed),
    Subscription(BankDetailsQuarantined, on_bank_details_quarantined),
    Subscription(AlertRaised, on_alert_raised),
    Subscription(AlertCleared, on_alert_cleared),
]
