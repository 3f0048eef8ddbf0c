"""The route table: every public path of the services, from `contracts/endpoints.txt`. Any other path is 404."""

from typing import Final

from common.web.endpoint_table import Route, read_routes

IDENTITY: Final = "identity"
ORDERS: Final = "orders"
PAYMENTS: Final = "payments"
PAYOUTS: Final = "payouts"
NOTIFICATIONS: Final = "notifications"
UPSTREAMS: Final = (IDENTITY, ORDERS, PAYMENTS, PAYOUTS, NOTIFICATIONS)

ROUTES: Final[tuple[Route, ...]] = read_routes()
