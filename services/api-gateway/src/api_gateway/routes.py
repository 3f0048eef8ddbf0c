"""The route table: everything public that a service behind the gateway serves. A path that is not here does not exist."""

from typing import Final

from api_gateway.routing import KIB, SIGNED_IN, Access, Idempotency, Media, Quota, Route
from common.auth.guards import Guard

MIB: Final = 1024 * KIB
IDENTITY: Final = "identity"
ORDERS: Final = "orders"
PAYMENTS: Final = "payments"
PAYOUTS: Final = "payouts"
NOTIFICATIONS: Final = "notifications"
UPSTREAMS: Final = (IDENTITY, ORDERS, PAYMENTS, PAYOUTS, NOTIFICATIONS)

# An image of 5 MiB, and the frame of multipart/form-data around it; the service holds the file itself to 5 MiB.
IMAGE_BODY_BYTES_MAX: Final = 5 * MIB + 4 * KIB
# A dispatch asks the payment gateway for every payout of its batch; everything else answers in far less.
DISPATCH_SECONDS_MAX: Final = 100.0
# A reply in one piece is silent until its end, which the service's AI_ANSWER_SECONDS holds below; one by the word pings.
REPLY_SECONDS_MAX: Final = 80.0


def _read(path: str, upstream: str) -> Route:
    return Route("GET", path, upstream)


def _browse(path: str, upstream: str) -> Route:
    """What anybody may read, and what holds no secret: it is compressed."""
    return Route("GET", path, upstream, access=Access.ANONYMOUS, is_compressed=True)


def _share(path: str, upstream: str) -> Route:
    """A page that anonymous readers share for some seconds (`EDGE_CACHE_SECONDS`)."""
    return Route("GET", path, upstream, access=Access.ANONYMOUS, is_shared=True, is_compressed=True)


def _image(path: str, upstream: str) -> Route:
    """A public image. A page shows dozens: they are counted apart, so that they leave the reader's quota alone (contract 16.8)."""
    return Route("GET", path, upstream, Quota.IMAGES, access=Access.ANONYMOUS)


def _needs(*permissions: str, step_up: bool = False, step_up_with: str | None = None) -> Guard:
    """The guard of the service's endpoint, as `@requires` and `@requires_one_of` make it; a test compares the two."""
    if len(permissions) == 1:
        return Guard(permission=permissions[0], step_up=step_up, step_up_with=step_up_with)
    return Guard(one_of=permissions, step_up=step_up, step_up_with=step_up_with)


def _act(path: str, upstream: str, quota: Quota = Quota.BY_CALLER, guard: Guard = SIGNED_IN) -> Route:
    return Route("POST", path, upstream, quota, idempotency=Idempotency.ACCEPTED, guard=guard)


def _act_once(
    path: str, upstream: str, quota: Quota = Quota.BY_CALLER, seconds_max: float = 30.0, guard: Guard = SIGNED_IN
) -> Route:
    return Route("POST", path, upstream, quota, idempotency=Idempotency.REQUIRED, seconds_max=seconds_max, guard=guard)


def _upload_image(path: str, upstream: str, guard: Guard = SIGNED_IN) -> Route:
    return Route(
        "POST",
        path,
        upstream,
        idempotency=Idempotency.ACCEPTED,
        media=Media.IMAGE,
        body_bytes_max=IMAGE_BODY_BYTES_MAX,
        guard=guard,
    )


def _secret(path: str, upstream: str, quota: Quota) -> Route:
    """A POST whose answer holds a secret: it is never stored, so a key is ignored."""
    return Route("POST", path, upstream, quota)


def _credentials(path: str, quota: Quota, *, passes_token: bool = False) -> Route:
    return Route("POST", path, IDENTITY, quota, access=Access.CREDENTIALS, passes_token=passes_token)


def _question(path: str, seconds_max: float) -> Route:
    """A message to the assistant: a key is ignored, because the answer may be a stream."""
    return Route("POST", path, NOTIFICATIONS, Quota.ASSISTANT, body_bytes_max=64 * KIB, seconds_max=seconds_max)


def _machine(path: str, upstream: str, body_bytes_max: int, media: Media = Media.JSON) -> Route:
    return Route("POST", path, upstream, Quota.MACHINES, access=Access.OPEN, media=media, body_bytes_max=body_bytes_max)


ROUTES: Final[tuple[Route, ...]] = (
    # Identity (contract section 10)
    Route("GET", "/.well-known/jwks.json", IDENTITY, Quota.UNCOUNTED, access=Access.OPEN),
    _credentials("/api/auth/signup", Quota.ACCOUNT),
    _credentials("/api/auth/login", Quota.ACCOUNT),
    _credentials("/api/auth/refresh", Quota.SESSION),
    # A number is proven by its signed-in owner (contract section 10.1).
    _credentials("/api/auth/otp", Quota.ACCOUNT, passes_token=True),
    _credentials("/api/auth/otp/verify", Quota.ACCOUNT, passes_token=True),
    _credentials("/api/auth/password/forgot", Quota.ACCOUNT),
    _credentials("/api/auth/password/reset", Quota.ACCOUNT),
    _secret("/api/auth/password/change", IDENTITY, Quota.SENSITIVE),
    _secret("/api/auth/logout", IDENTITY, Quota.BY_CALLER),
    _secret("/api/auth/logout-all", IDENTITY, Quota.SENSITIVE),
    _read("/api/auth/sessions", IDENTITY),
    Route("DELETE", "/api/auth/sessions/:id", IDENTITY),
    _secret("/api/auth/mfa/enroll", IDENTITY, Quota.SENSITIVE),
    _secret("/api/auth/mfa/verify", IDENTITY, Quota.SENSITIVE),
    _read("/api/auth/mfa/factors", IDENTITY),
    Route("DELETE", "/api/auth/mfa/factors/:id", IDENTITY),
    _read("/api/auth/mfa/recovery-codes", IDENTITY),
    _secret("/api/auth/mfa/recovery-codes", IDENTITY, Quota.SENSITIVE),
    _secret("/api/auth/mfa/passkeys/options", IDENTITY, Quota.SENSITIVE),
    _secret("/api/auth/mfa/passkeys", IDENTITY, Quota.SENSITIVE),
    _secret("/api/auth/mfa/passkeys/assertion-options", IDENTITY, Quota.SENSITIVE),
    _secret("/api/auth/mfa/passkeys/verify", IDENTITY, Quota.SENSITIVE),
    _read("/api/profiles/current", IDENTITY),
    Route("PATCH", "/api/profiles/current", IDENTITY),
    Route("DELETE", "/api/profiles/current", IDENTITY, Quota.SENSITIVE),
    _read("/api/profiles/current/erasure", IDENTITY),
    _read("/api/referrals/current", IDENTITY),
    _browse("/api/campuses", IDENTITY),
    _browse("/api/campuses/:id", IDENTITY),
    _browse("/api/campuses/:id/hubs", IDENTITY),
    _act("/api/campuses", IDENTITY, guard=_needs("campuses:manage_all")),
    Route("PATCH", "/api/campuses/:id", IDENTITY),
    _act("/api/campuses/:id/hubs", IDENTITY, guard=_needs("campuses:manage", "campuses:manage_all")),
    _browse("/api/hubs/:id", IDENTITY),
    Route("PATCH", "/api/hubs/:id", IDENTITY),
    _browse("/api/vendors", IDENTITY),
    _browse("/api/vendors/:id", IDENTITY),
    Route("PATCH", "/api/vendors/:id", IDENTITY),
    _act("/api/vendors/:id/suspend", IDENTITY, guard=_needs("vendors:suspend")),
    _act("/api/vendors/:id/reinstate", IDENTITY, guard=_needs("vendors:suspend")),
    _read("/api/commission-changes", IDENTITY),
    _read("/api/commission-changes/:id", IDENTITY),
    _act("/api/commission-changes/:id/approve", IDENTITY, guard=_needs("vendors:commission", step_up=True)),
    _act("/api/commission-changes/:id/reject", IDENTITY, guard=_needs("vendors:commission", step_up=True)),
    _act("/api/vendor-applications", IDENTITY),
    _read("/api/vendor-applications", IDENTITY),
    _read("/api/vendor-applications/:id", IDENTITY),
    _act("/api/vendor-applications/:id/approve", IDENTITY, guard=_needs("vendor_applications:decide")),
    _act("/api/vendor-applications/:id/reject", IDENTITY, guard=_needs("vendor_applications:decide")),
    _read("/api/staff", IDENTITY),
    _read("/api/staff/:id", IDENTITY),
    _act("/api/staff/:id/grant", IDENTITY, guard=_needs("staff:manage", step_up=True)),
    _act("/api/staff/:id/revoke", IDENTITY, guard=_needs("staff:manage", step_up=True)),
    _act("/api/staff/:id/suspend", IDENTITY, guard=_needs("staff:manage", step_up=True)),
    _act("/api/staff/:id/reinstate", IDENTITY, guard=_needs("staff:manage", step_up=True)),
    _read("/api/staff-grants", IDENTITY),
    _read("/api/staff-grants/:id", IDENTITY),
    _act("/api/staff-grants/:id/approve", IDENTITY, guard=_needs("staff:manage", step_up=True)),
    _act("/api/staff-grants/:id/reject", IDENTITY, guard=_needs("staff:manage", step_up=True)),
    _read("/api/staff-acts", IDENTITY),
    _machine("/functions/v1/create-user", IDENTITY, 256 * KIB),
    # Catalog and orders (sections 6 and 11)
    _share("/api/products", ORDERS),
    _share("/api/products/:id", ORDERS),
    _act("/api/products", ORDERS, guard=_needs("catalog:own")),
    _read("/api/products/mine", ORDERS),
    Route("PUT", "/api/products/:id", ORDERS),
    Route("PATCH", "/api/products/:id", ORDERS),
    Route("DELETE", "/api/products/:id", ORDERS),
    _upload_image("/api/products/:id/images", ORDERS, guard=_needs("catalog:own")),
    Route("DELETE", "/api/products/:id/images/:id", ORDERS),
    _share("/api/categories", ORDERS),
    _image("/media/:id", ORDERS),
    _image("/media/:id/thumbnail", ORDERS),
    _act_once("/api/orders/checkout", ORDERS, guard=_needs("orders:place")),
    _read("/api/orders", ORDERS),
    _read("/api/orders/:id", ORDERS),
    _read("/api/orders/:id/items", ORDERS),
    _act("/api/orders/:id/cancel", ORDERS),
    _act("/api/orders/:id/dispatch", ORDERS, guard=_needs("orders:fulfil")),
    _act_once("/api/orders/:id/verify-delivery", ORDERS),
    _read("/api/orders/:id/delivery-pin", ORDERS),
    _secret("/api/orders/:id/delivery-pin/reissue", ORDERS, Quota.BY_CALLER),
    _act("/api/orders/:id/dispute", ORDERS),
    _read("/api/orders/:id/dispute", ORDERS),
    _act("/api/orders/:id/resolve", ORDERS, guard=_needs("disputes:prepare")),
    _read("/api/dispute-resolutions", ORDERS),
    _read("/api/dispute-resolutions/:id", ORDERS),
    _act("/api/dispute-resolutions/:id/approve", ORDERS, guard=_needs("disputes:approve", step_up=True)),
    _act("/api/dispute-resolutions/:id/reject", ORDERS, guard=_needs("disputes:approve", step_up=True)),
    _act("/api/orders/:id/return-requests", ORDERS),
    _read("/api/orders/:id/return-requests", ORDERS),
    _read("/api/return-requests/:id", ORDERS),
    _act("/api/return-requests/:id/approve", ORDERS, guard=_needs("orders:fulfil", "returns:decide")),
    _act("/api/return-requests/:id/reject", ORDERS, guard=_needs("orders:fulfil", "returns:decide")),
    _read("/api/campus-orders", ORDERS),
    _read("/api/campus-orders/export", ORDERS),
    _read("/api/carts/current", ORDERS),
    Route("DELETE", "/api/carts/current", ORDERS),
    Route("PUT", "/api/carts/current/items/:id", ORDERS),
    Route("DELETE", "/api/carts/current/items/:id", ORDERS),
    _browse("/api/flash-sales", ORDERS),
    _browse("/api/flash-sales/:id", ORDERS),
    _act(
        "/api/flash-sales",
        ORDERS,
        guard=_needs("flash_sales:keep", "flash_sales:propose", step_up_with="flash_sales:propose"),
    ),
    _act("/api/flash-sales/:id/approve", ORDERS, guard=_needs("flash_sales:keep")),
    _act(
        "/api/flash-sales/:id/end",
        ORDERS,
        guard=_needs("flash_sales:keep", "flash_sales:propose", step_up_with="flash_sales:propose"),
    ),
    _browse("/api/vendors/:id/reviews", ORDERS),
    _act("/api/vendors/:id/reviews", ORDERS, guard=_needs("orders:place")),
    _browse("/api/products/:id/reviews", ORDERS),
    _act("/api/products/:id/reviews", ORDERS, guard=_needs("orders:place")),
    _read("/api/reviews", ORDERS),
    _act("/api/reviews/:id/hide", ORDERS, guard=_needs("reviews:moderate")),
    _act("/api/reviews/:id/restore", ORDERS, guard=_needs("reviews:moderate")),
    # Payments (section 7)
    _act_once("/api/payments/intent", PAYMENTS, Quota.SENSITIVE, guard=_needs("orders:place")),
    _read("/api/payments", PAYMENTS),
    _read("/api/payments/:id", PAYMENTS),
    _act("/api/orders/:id/release", PAYMENTS, Quota.SENSITIVE, guard=_needs("escrow:release", step_up=True)),
    _read("/api/rewards/balance", PAYMENTS),
    _read("/api/transactions", PAYMENTS),
    _read("/api/transactions/export", PAYMENTS),
    _read("/api/ledger/accounts", PAYMENTS),
    _read("/api/quarantined-charges", PAYMENTS),
    _read("/api/quarantined-charges/:id", PAYMENTS),
    _act("/api/quarantined-charges/:id/prepare", PAYMENTS, guard=_needs("quarantine:prepare", step_up=True)),
    _act("/api/quarantined-charges/:id/approve", PAYMENTS, guard=_needs("quarantine:approve", step_up=True)),
    _act("/api/quarantined-charges/:id/reject", PAYMENTS, guard=_needs("quarantine:approve", step_up=True)),
    _read("/api/refunds", PAYMENTS),
    _read("/api/refunds/:id", PAYMENTS),
    _act("/api/refunds/:id/prepare", PAYMENTS, guard=_needs("refunds:prepare", step_up=True)),
    _act("/api/refunds/:id/approve", PAYMENTS, guard=_needs("refunds:approve", step_up=True)),
    _act("/api/refunds/:id/reject", PAYMENTS, guard=_needs("refunds:approve", step_up=True)),
    _read("/api/chargebacks", PAYMENTS),
    _read("/api/reconciliation-cases", PAYMENTS),
    _read("/api/reconciliation-cases/:id", PAYMENTS),
    _act("/api/reconciliation-cases/:id/close", PAYMENTS, guard=_needs("exceptions:classify")),
    _read("/api/dead-letter-webhooks", PAYMENTS),
    _act("/api/dead-letter-webhooks/:id/replay", PAYMENTS, guard=_needs("webhooks:replay", step_up=True)),
    _machine("/functions/v1/gateway-webhook", PAYMENTS, MIB, Media.ANY),
    # Payouts (section 8)
    _read("/api/wallets/current", PAYOUTS),
    _read("/api/wallets/current/statement", PAYOUTS),
    _read("/api/wallets/current/statements/:month", PAYOUTS),
    _read("/api/wallets/current/statements/:month/export", PAYOUTS),
    Route("GET", "/api/wallets/current/statements/:month/print", PAYOUTS, is_page=True),
    _read("/api/vendors/:id/wallet", PAYOUTS),
    _read("/api/vendors/:id/statement", PAYOUTS),
    _read("/api/vendors/:id/payout-schedule", PAYOUTS),
    Route("PUT", "/api/vendors/:id/payout-schedule", PAYOUTS),
    _read("/api/vendors/:id/bank-details", PAYOUTS),
    Route("PUT", "/api/vendors/:id/bank-details", PAYOUTS, Quota.SENSITIVE),
    _read("/api/vendors/:id/bank-details/history", PAYOUTS),
    _act(
        "/api/vendors/:id/bank-details/quarantine",
        PAYOUTS,
        Quota.SENSITIVE,
        guard=_needs("bank_details:quarantine", step_up=True),
    ),
    _act("/api/payouts", PAYOUTS, Quota.SENSITIVE, guard=_needs("wallet:own")),
    _read("/api/payouts", PAYOUTS),
    _read("/api/payouts/:id", PAYOUTS),
    _act_once(
        "/api/payouts/dispatch",
        PAYOUTS,
        Quota.SENSITIVE,
        DISPATCH_SECONDS_MAX,
        guard=_needs("payouts:dispatch", step_up=True),
    ),
    _act("/api/payouts/:id/cancel", PAYOUTS, guard=_needs("wallet:own")),
    _act("/api/payouts/:id/reset", PAYOUTS, guard=_needs("payouts:reset", step_up=True)),
    _act("/api/payouts/:id/reconciliations", PAYOUTS, guard=_needs("reconciliations:prepare", step_up=True)),
    _read("/api/reconciliations", PAYOUTS),
    _read("/api/reconciliations/:id", PAYOUTS),
    _act("/api/reconciliations/:id/approve", PAYOUTS, guard=_needs("reconciliations:approve", step_up=True)),
    _act("/api/reconciliations/:id/reject", PAYOUTS, guard=_needs("reconciliations:approve", step_up=True)),
    _read("/api/payout-exceptions", PAYOUTS),
    _read("/api/payout-exceptions/observations", PAYOUTS),
    _read("/api/payout-exceptions/:id", PAYOUTS),
    _act("/api/payout-exceptions/:id/classify", PAYOUTS, guard=_needs("exceptions:classify")),
    _act("/api/payout-exceptions/:id/close", PAYOUTS, guard=_needs("exceptions:classify")),
    # Notifications (section 12)
    _read("/api/notifications", NOTIFICATIONS),
    _read("/api/notifications/unread-count", NOTIFICATIONS),
    _read("/api/notifications/stream", NOTIFICATIONS),
    _act("/api/notifications/read-all", NOTIFICATIONS),
    _act("/api/notifications/:id/read", NOTIFICATIONS),
    _read("/api/notification-delivery-logs", NOTIFICATIONS),
    _act("/api/notification-delivery-logs/:id/resend", NOTIFICATIONS, guard=_needs("notifications:resend")),
    _read("/api/notification-preferences", NOTIFICATIONS),
    Route("PUT", "/api/notification-preferences", NOTIFICATIONS),
    _read("/api/devices", NOTIFICATIONS),
    _act("/api/devices", NOTIFICATIONS),
    Route("DELETE", "/api/devices/:id", NOTIFICATIONS),
    Route("GET", "/api/devices/vapid-key", NOTIFICATIONS, access=Access.ANONYMOUS),
    _read("/api/alerts", NOTIFICATIONS),
    Route("GET", "/api/messaging/webhook", NOTIFICATIONS, Quota.MACHINES, access=Access.OPEN),
    _machine("/api/messaging/webhook", NOTIFICATIONS, 4 * MIB, Media.ANY),
    _read("/api/support-tickets", NOTIFICATIONS),
    _act("/api/support-tickets", NOTIFICATIONS),
    _read("/api/support-tickets/:id", NOTIFICATIONS),
    Route("PATCH", "/api/support-tickets/:id", NOTIFICATIONS),
    _act("/api/support-tickets/:id/assign", NOTIFICATIONS, guard=_needs("tickets:manage")),
    _act("/api/support-tickets/:id/close", NOTIFICATIONS),
    _act("/api/support-tickets/:id/read", NOTIFICATIONS),
    _read("/api/support-tickets/:id/messages", NOTIFICATIONS),
    _act("/api/support-tickets/:id/messages", NOTIFICATIONS),
    _read("/api/support-tickets/:id/attachments", NOTIFICATIONS),
    _upload_image("/api/support-tickets/:id/attachments", NOTIFICATIONS),
    _read("/api/support-tickets/:id/attachments/:id", NOTIFICATIONS),
    _question("/api/assistant/chat", REPLY_SECONDS_MAX),
    _question("/api/assistant/stream", 30.0),
    _read("/api/assistant/conversations", NOTIFICATIONS),
    Route("DELETE", "/api/assistant/conversations/:id", NOTIFICATIONS),
    _read("/api/assistant/conversations/:id/messages", NOTIFICATIONS),
    _machine("/functions/v1/deliver-notification", NOTIFICATIONS, 256 * KIB),
    _machine("/functions/v1/sms-receipts/termii", NOTIFICATIONS, 16 * KIB, Media.ANY),
    _machine("/functions/v1/sms-receipts/africas-talking", NOTIFICATIONS, 16 * KIB, Media.ANY),
    # What a service keeps of the caller; what it gave up, read and replayed at that service (sections 7 and 13)
    *(
        route
        for service in UPSTREAMS
        for route in (
            _read(f"/api/personal-records/{service}", service),
            _read(f"/api/dead-letters/{service}", service),
            _act(f"/api/dead-letters/{service}/:id/replay", service, guard=_needs("webhooks:replay", step_up=True)),
        )
    ),
)
