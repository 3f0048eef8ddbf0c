"""The services behind the gateway."""

from typing import Final

IDENTITY: Final = "identity"
ORDERS: Final = "orders"
PAYMENTS: Final = "payments"
PAYOUTS: Final = "payouts"
NOTIFICATIONS: Final = "notifications"
UPSTREAMS: Final = (IDENTITY, ORDERS, PAYMENTS, PAYOUTS, NOTIFICATIONS)
