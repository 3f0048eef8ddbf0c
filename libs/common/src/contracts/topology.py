"""The subscriptions of all services: the topology of the broker. Each pair has a queue `<service>.<publisher>`.

The provisioner declares the whole topology before any process starts, so that no event is published before the queues
of all its consumers exist (decision 31). `SUBSCRIPTIONS[service]` lists the event types in the order of the business
process.
"""

from collections.abc import Mapping
from typing import Final

from contracts import identity, notifications, operations, orders, payments, payouts
from contracts.event import Event

EVENTS_EXCHANGE: Final = "campus.events"
PUBLIC_EXCHANGE: Final = "campus.public"
# Three exchanges whose routing key is a queue: `campus.work` routes directly, `campus.retry` through a delay queue,
# which the headers exchange `campus.delay` selects by a header. A service may publish only keys that start with its own
# name.
WORK_EXCHANGE: Final = "campus.work"
RETRY_EXCHANGE: Final = "campus.retry"
DELAY_EXCHANGE: Final = "campus.delay"

# Work items of a service for its own worker, sent through its outbox. They are not events; no other service consumes
# them.
WORK_QUEUES: Final[tuple[str, ...]] = (
    "identity.codes",
    "payments.webhooks",
    "payments.refunds",
    "payments.withdrawals",
    "notifications.deliveries",
    "notifications.deliveries.push",
    "notifications.deliveries.messaging",
    "notifications.deliveries.sms",
    "notifications.deliveries.email",
    "notifications.support",
    "payouts.transfers",
)

# The event types for outside subscribers, without identity, PIN, one-time code, bank detail and alert types
# (events.md).
PUBLIC: Final[tuple[type[Event], ...]] = (
    orders.OrderPlaced,
    orders.PurchasePlaced,
    orders.OrderCancelled,
    orders.OrderExpired,
    orders.RefundRequested,
    orders.OrderLineCancelled,
    orders.OrderDispatched,
    orders.OrderArrived,
    orders.OrderDelivered,
    orders.OrderDisputed,
    orders.DisputeResolved,
    orders.ReturnRequested,
    orders.ReturnDecided,
    orders.OrderCompleted,
    orders.ProductChanged,
    orders.ReviewPosted,
    orders.ProductDelisted,
    orders.ProductRelisted,
    orders.ProductHidden,
    orders.OfferMade,
    orders.OfferAccepted,
    payments.EscrowHeld,
    payments.EscrowReleased,
    payments.EscrowRefunded,
    payments.RefundSettled,
    payments.RefundFailed,
    payments.ChargeDisputed,
    payments.OutsideRefundRecorded,
    payments.ChargeQuarantined,
    payments.PaymentFailed,
    payments.TransferSucceeded,
    payments.TransferFailed,
    payments.TransferReversed,
    payments.RewardCredited,
    payments.GoodwillGiven,
    payments.WithdrawalRequested,
    payments.WithdrawalPaid,
    payments.WithdrawalReturned,
    payouts.PayoutRequested,
    payouts.PayoutSubmitted,
    payouts.PayoutProcessed,
    payouts.PayoutFailed,
    payouts.PayoutReversed,
    payouts.PayoutDelayed,
    payouts.ExceptionOpened,
    payouts.ExceptionChanged,
    payouts.ExceptionClosed,
    notifications.DeliverySettled,
    notifications.TicketOpened,
)

# Recorded by notifications for outgoing webhooks. Its own events are about its own messages (decision 63).
WEBHOOK_EVENTS: Final = tuple(event for event in PUBLIC if event.publisher() != "notifications")

SUBSCRIPTIONS: Final[Mapping[str, tuple[type[Event], ...]]] = {
    "api-gateway": (identity.SessionRevoked,),
    "identity": (
        identity.SessionRevoked,
        orders.ErasureJudged,
        orders.VendorSuspensionDecided,
        payments.ErasureJudged,
        payouts.ErasureJudged,
    ),
    "orders": (
        identity.SessionRevoked,
        identity.VendorApproved,
        identity.VendorChanged,
        identity.VendorSuspended,
        identity.VendorReinstated,
        identity.VendorClosed,
        identity.UserProvisioned,
        identity.ProfileChanged,
        identity.ErasureRequested,
        identity.ErasureRefused,
        identity.UserErased,
        identity.CampusChanged,
        identity.HubChanged,
        payments.EscrowHeld,
        payments.EscrowReleased,
        payments.EscrowRefunded,
        payments.EscrowStated,
        payments.RefundSettled,
        payments.RefundFailed,
        payments.ChargeDisputed,
        payments.OutsideRefundRecorded,
        payments.ChargeQuarantined,
        notifications.CartReceived,
    ),
    "payments": (
        identity.SessionRevoked,
        identity.UserProvisioned,
        identity.EmailConfirmed,
        identity.UserErased,
        identity.VendorClosed,
        identity.ErasureRequested,
        orders.OrderPlaced,
        orders.PurchasePlaced,
        orders.OrderCancelled,
        orders.OrderExpired,
        orders.OrderDelivered,
        orders.OrderDisputed,
        orders.DisputeResolved,
        orders.RefundRequested,
        payouts.BankDetailsQuarantined,
        payouts.BankDetailsChanged,
    ),
    "payouts": (
        identity.SessionRevoked,
        identity.VendorApproved,
        identity.VendorChanged,
        identity.VendorSuspended,
        identity.VendorReinstated,
        identity.VendorClosed,
        identity.ErasureRequested,
        payments.EscrowHeld,
        payments.EscrowReleased,
        payments.EscrowRefunded,
        payments.ChargeDisputed,
        payments.OutsideRefundRecorded,
        payments.VendorStatementIssued,
        payments.TransferSucceeded,
        payments.TransferFailed,
        payments.TransferReversed,
    ),
    "notifications": (
        identity.SessionRevoked,
        identity.UserProvisioned,
        identity.EmailConfirmed,
        identity.SignUpRepeated,
        identity.ProfileChanged,
        identity.UserErased,
        identity.ErasureRefused,
        identity.VendorApplicationDecided,
        identity.VendorApproved,
        identity.VendorChanged,
        identity.VendorSuspended,
        identity.VendorReinstated,
        identity.VendorClosed,
        identity.OneTimeCodeIssued,
        identity.CredentialsChanged,
        identity.ApiKeyExpiring,
        identity.ShopInvitationSent,
        identity.ShopMemberChanged,
        orders.DeliveryPinIssued,
        orders.SavedProductChanged,
        orders.MessagePosted,
        payouts.BankDetailsChanged,
        payouts.BankDetailsQuarantined,
        operations.AlertRaised,
        operations.AlertCleared,
        *WEBHOOK_EVENTS,
    ),
}

# Received by every process on its own exclusive queue.
BROADCASTS: Final[tuple[type[Event], ...]] = (
    identity.SessionRevoked,
    orders.ProductChanged,
    orders.MessagePosted,
    notifications.NotificationShown,
)

# No service consumes these. They are published while a team names the type in the list of subscribers (decision 140);
# `*` allows them without requesting them.
ON_REQUEST: Final[tuple[type[Event], ...]] = (notifications.DeliverySettled,)
