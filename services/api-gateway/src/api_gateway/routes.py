"""The route table: every public path of the services. Any other path is 404."""

from dataclasses import replace
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

# An image of 5 MiB in its multipart/form-data frame. The service limits the file itself to 5 MiB.
IMAGE_BODY_BYTES_MAX: Final = 5 * MIB + 4 * KIB
# A dispatch calls the payment gateway for every payout of its batch. All other operations are far shorter.
DISPATCH_SECONDS_MAX: Final = 100.0
# An unstreamed reply sends no byte until its end, which the service's AI_ANSWER_SECONDS bounds. A streamed one pings.
REPLY_SECONDS_MAX: Final = 80.0


def _read(path: str, upstream: str) -> Route:
    return Route("GET", path, upstream)


def _public(path: str, upstream: str) -> Route:
    """Return a public read without secrets: it is compressed."""
    return Route("GET", path, upstream, access=Access.ANONYMOUS, is_compressed=True)


def _shared_page(path: str, upstream: str) -> Route:
    """Return a page that anonymous readers share for some seconds (`EDGE_CACHE_SECONDS`)."""
    return Route("GET", path, upstream, access=Access.ANONYMOUS, is_shared=True, is_compressed=True)


def _image(path: str, upstream: str) -> Route:
    """Return a public image. A page shows dozens, so they have their own quota (contract 16.8)."""
    return Route("GET", path, upstream, Quota.IMAGES, access=Access.ANONYMOUS)


def _guard(*permissions: str, step_up: bool = False, step_up_with: str | None = None) -> Guard:
    """Return the guard of the service's endpoint, as `@requires` and `@requires_one_of` build it; a test compares the
    two.
    """
    if len(permissions) == 1:
        return Guard(permission=permissions[0], step_up=step_up, step_up_with=step_up_with)
    return Guard(one_of=permissions, step_up=step_up, step_up_with=step_up_with)


def _post(path: str, upstream: str, quota: Quota = Quota.BY_CALLER, guard: Guard = SIGNED_IN) -> Route:
    return Route("POST", path, upstream, quota, idempotency=Idempotency.ACCEPTED, guard=guard)


def _post_with_key(
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


def _post_secret(path: str, upstream: str, quota: Quota) -> Route:
    """Return a POST whose response holds a secret: it is never stored, so a key is ignored."""
    return Route("POST", path, upstream, quota)


def _credentials(path: str, quota: Quota, *, passes_token: bool = False) -> Route:
    return Route("POST", path, IDENTITY, quota, access=Access.CREDENTIALS, passes_token=passes_token)


def _assistant_message(path: str, seconds_max: float) -> Route:
    """Return a message to the assistant: a key is ignored, because the response may be a stream."""
    return Route("POST", path, NOTIFICATIONS, Quota.ASSISTANT, body_bytes_max=64 * KIB, seconds_max=seconds_max)


def _webhook(path: str, upstream: str, body_bytes_max: int, media: Media = Media.JSON) -> Route:
    return Route("POST", path, upstream, Quota.MACHINES, access=Access.OPEN, media=media, body_bytes_max=body_bytes_max)


ROUTES: Final[tuple[Route, ...]] = (
    # Identity (contract section 10)
    Route("GET", "/.well-known/jwks.json", IDENTITY, Quota.UNCOUNTED, access=Access.OPEN),
    _credentials("/api/auth/signup", Quota.ACCOUNT),
    _credentials("/api/auth/login", Quota.ACCOUNT),
    _credentials("/api/auth/refresh", Quota.SESSION),
    # A number is confirmed by its signed-in owner (contract section 10.1).
    _credentials("/api/auth/otp", Quota.ACCOUNT, passes_token=True),
    _credentials("/api/auth/otp/verify", Quota.ACCOUNT, passes_token=True),
    _credentials("/api/auth/password/forgot", Quota.ACCOUNT),
    _credentials("/api/auth/password/reset", Quota.ACCOUNT),
    _post_secret("/api/auth/password/change", IDENTITY, Quota.SENSITIVE),
    _post_secret("/api/auth/logout", IDENTITY, Quota.BY_CALLER),
    _post_secret("/api/auth/logout-all", IDENTITY, Quota.SENSITIVE),
    _read("/api/auth/sessions", IDENTITY),
    Route("DELETE", "/api/auth/sessions/:id", IDENTITY),
    _post_secret("/api/auth/mfa/enroll", IDENTITY, Quota.SENSITIVE),
    _post_secret("/api/auth/mfa/verify", IDENTITY, Quota.SENSITIVE),
    _read("/api/auth/mfa/factors", IDENTITY),
    Route("DELETE", "/api/auth/mfa/factors/:id", IDENTITY),
    _read("/api/auth/mfa/recovery-codes", IDENTITY),
    _post_secret("/api/auth/mfa/recovery-codes", IDENTITY, Quota.SENSITIVE),
    _post_secret("/api/auth/mfa/passkeys/options", IDENTITY, Quota.SENSITIVE),
    _post_secret("/api/auth/mfa/passkeys", IDENTITY, Quota.SENSITIVE),
    _post_secret("/api/auth/mfa/passkeys/assertion-options", IDENTITY, Quota.SENSITIVE),
    _post_secret("/api/auth/mfa/passkeys/verify", IDENTITY, Quota.SENSITIVE),
    _read("/api/profiles/current", IDENTITY),
    Route("PATCH", "/api/profiles/current", IDENTITY),
    Route("DELETE", "/api/profiles/current", IDENTITY, Quota.SENSITIVE),
    _read("/api/profiles/current/erasure", IDENTITY),
    _read("/api/referrals/current", IDENTITY),
    _public("/api/campuses", IDENTITY),
    _public("/api/campuses/:id", IDENTITY),
    _public("/api/campuses/:id/hubs", IDENTITY),
    _post("/api/campuses", IDENTITY, guard=_guard("campuses:manage_all")),
    Route("PATCH", "/api/campuses/:id", IDENTITY),
    _post("/api/campuses/:id/hubs", IDENTITY, guard=_guard("campuses:manage", "campuses:manage_all")),
    _public("/api/hubs/:id", IDENTITY),
    Route("PATCH", "/api/hubs/:id", IDENTITY),
    _public("/api/vendors", IDENTITY),
    _public("/api/vendors/:id", IDENTITY),
    Route("PATCH", "/api/vendors/:id", IDENTITY),
    _post("/api/vendors/:id/suspend", IDENTITY, guard=_guard("vendors:suspend")),
    _post("/api/vendors/:id/reinstate", IDENTITY, guard=_guard("vendors:suspend")),
    _read("/api/commission-changes", IDENTITY),
    _read("/api/commission-changes/:id", IDENTITY),
    _post("/api/commission-changes/:id/approve", IDENTITY, guard=_guard("vendors:commission", step_up=True)),
    _post("/api/commission-changes/:id/reject", IDENTITY, guard=_guard("vendors:commission", step_up=True)),
    _post("/api/vendor-applications", IDENTITY),
    _read("/api/vendor-applications", IDENTITY),
    _read("/api/vendor-applications/:id", IDENTITY),
    _post("/api/vendor-applications/:id/approve", IDENTITY, guard=_guard("vendor_applications:decide")),
    _post("/api/vendor-applications/:id/reject", IDENTITY, guard=_guard("vendor_applications:decide")),
    _read("/api/staff", IDENTITY),
    _read("/api/staff/:id", IDENTITY),
    _read("/api/signing-keys", IDENTITY),
    _post("/api/staff/:id/grant", IDENTITY, guard=_guard("staff:manage", step_up=True)),
    _post("/api/staff/:id/revoke", IDENTITY, guard=_guard("staff:manage", step_up=True)),
    _post("/api/staff/:id/suspend", IDENTITY, guard=_guard("staff:manage", step_up=True)),
    _post("/api/staff/:id/reinstate", IDENTITY, guard=_guard("staff:manage", step_up=True)),
    _read("/api/staff-grants", IDENTITY),
    _read("/api/staff-grants/:id", IDENTITY),
    _post("/api/staff-grants/:id/approve", IDENTITY, guard=_guard("staff:manage", step_up=True)),
    _post("/api/staff-grants/:id/reject", IDENTITY, guard=_guard("staff:manage", step_up=True)),
    _read("/api/staff-acts", IDENTITY),
    _read("/api/staff-names", IDENTITY),
    _webhook("/functions/v1/create-user", IDENTITY, 256 * KIB),
    # Catalog and orders (sections 6 and 11)
    _shared_page("/api/products", ORDERS),
    _shared_page("/api/products/:id", ORDERS),
    _post("/api/products", ORDERS, guard=_guard("catalog:own")),
    _read("/api/products/mine", ORDERS),
    Route("PUT", "/api/products/:id", ORDERS),
    Route("PATCH", "/api/products/:id", ORDERS),
    Route("DELETE", "/api/products/:id", ORDERS),
    _upload_image("/api/products/:id/images", ORDERS, guard=_guard("catalog:own")),
    Route("DELETE", "/api/products/:id/images/:id", ORDERS),
    _shared_page("/api/categories", ORDERS),
    _image("/media/:id", ORDERS),
    _image("/media/:id/thumbnail", ORDERS),
    _post_with_key("/api/orders/checkout", ORDERS, guard=_guard("orders:place")),
    _read("/api/orders", ORDERS),
    _read("/api/orders/:id", ORDERS),
    _read("/api/orders/:id/items", ORDERS),
    _read("/api/orders/:id/timeline", ORDERS),
    _post("/api/orders/:id/cancel", ORDERS),
    _post("/api/orders/:id/dispatch", ORDERS, guard=_guard("orders:fulfil")),
    _post_with_key("/api/orders/:id/verify-delivery", ORDERS),
    _read("/api/orders/:id/delivery-pin", ORDERS),
    _post_secret("/api/orders/:id/delivery-pin/reissue", ORDERS, Quota.BY_CALLER),
    _post("/api/orders/:id/dispute", ORDERS),
    _read("/api/orders/:id/dispute", ORDERS),
    _upload_image("/api/orders/:id/dispute/evidence", ORDERS),
    _read("/api/orders/:id/dispute/evidence", ORDERS),
    _read("/api/orders/:id/dispute/evidence/:id", ORDERS),
    _post("/api/orders/:id/resolve", ORDERS, guard=_guard("disputes:prepare")),
    _read("/api/dispute-resolutions", ORDERS),
    _read("/api/dispute-resolutions/:id", ORDERS),
    _post("/api/dispute-resolutions/:id/approve", ORDERS, guard=_guard("disputes:approve", step_up=True)),
    _post("/api/dispute-resolutions/:id/reject", ORDERS, guard=_guard("disputes:approve", step_up=True)),
    _post("/api/orders/:id/return-requests", ORDERS),
    _read("/api/orders/:id/return-requests", ORDERS),
    _read("/api/return-requests", ORDERS),
    _read("/api/return-requests/:id", ORDERS),
    _post(
        "/api/return-requests/:id/approve",
        ORDERS,
        guard=_guard("orders:fulfil", "returns:decide", step_up_with="returns:decide"),
    ),
    _post(
        "/api/return-requests/:id/reject",
        ORDERS,
        guard=_guard("orders:fulfil", "returns:decide", step_up_with="returns:decide"),
    ),
    _read("/api/campus-orders", ORDERS),
    _read("/api/campus-orders/export", ORDERS),
    _read("/api/sales", ORDERS),
    _read("/api/vendors/:id/sales", ORDERS),
    _read("/api/carts/current", ORDERS),
    Route("DELETE", "/api/carts/current", ORDERS),
    Route("PUT", "/api/carts/current/items/:id", ORDERS),
    Route("DELETE", "/api/carts/current/items/:id", ORDERS),
    _public("/api/flash-sales", ORDERS),
    _public("/api/flash-sales/:id", ORDERS),
    _post(
        "/api/flash-sales",
        ORDERS,
        guard=_guard("flash_sales:keep", "flash_sales:propose", step_up_with="flash_sales:propose"),
    ),
    _post("/api/flash-sales/:id/approve", ORDERS, guard=_guard("flash_sales:keep")),
    _post(
        "/api/flash-sales/:id/end",
        ORDERS,
        guard=_guard("flash_sales:keep", "flash_sales:propose", step_up_with="flash_sales:propose"),
    ),
    _public("/api/vendors/:id/reviews", ORDERS),
    _post("/api/vendors/:id/reviews", ORDERS, guard=_guard("orders:place")),
    _public("/api/products/:id/reviews", ORDERS),
    _post("/api/products/:id/reviews", ORDERS, guard=_guard("orders:place")),
    _read("/api/reviews", ORDERS),
    _post("/api/reviews/:id/hide", ORDERS, guard=_guard("reviews:moderate")),
    _post("/api/reviews/:id/restore", ORDERS, guard=_guard("reviews:moderate")),
    # Payments (section 7)
    _post_with_key("/api/payments/intent", PAYMENTS, Quota.SENSITIVE, guard=_guard("orders:place")),
    _read("/api/payments", PAYMENTS),
    _read("/api/payments/:id", PAYMENTS),
    _post("/api/orders/:id/release", PAYMENTS, Quota.SENSITIVE, guard=_guard("escrow:release", step_up=True)),
    _read("/api/rewards/balance", PAYMENTS),
    _read("/api/transactions", PAYMENTS),
    _read("/api/transactions/export", PAYMENTS),
    _read("/api/transactions/:id", PAYMENTS),
    _read("/api/ledger/accounts", PAYMENTS),
    _read("/api/ledger/trial-balance", PAYMENTS),
    _read("/api/quarantined-charges", PAYMENTS),
    _read("/api/quarantined-charges/:id", PAYMENTS),
    _read("/api/quarantined-charges/:id/postings", PAYMENTS),
    _post("/api/quarantined-charges/:id/prepare", PAYMENTS, guard=_guard("quarantine:prepare", step_up=True)),
    _post("/api/quarantined-charges/:id/approve", PAYMENTS, guard=_guard("quarantine:approve", step_up=True)),
    _post("/api/quarantined-charges/:id/reject", PAYMENTS, guard=_guard("quarantine:approve", step_up=True)),
    _read("/api/refunds", PAYMENTS),
    _read("/api/refunds/:id", PAYMENTS),
    _post("/api/refunds/:id/prepare", PAYMENTS, guard=_guard("refunds:prepare", step_up=True)),
    _post("/api/refunds/:id/approve", PAYMENTS, guard=_guard("refunds:approve", step_up=True)),
    _post("/api/refunds/:id/reject", PAYMENTS, guard=_guard("refunds:approve", step_up=True)),
    _read("/api/chargebacks", PAYMENTS),
    _read("/api/chargebacks/:id", PAYMENTS),
    _post("/api/chargebacks/:id/evidence", PAYMENTS, guard=_guard("chargebacks:respond", step_up=True)),
    _post("/api/chargebacks/:id/resolve", PAYMENTS, guard=_guard("chargebacks:respond", step_up=True)),
    _read("/api/reconciliation-cases", PAYMENTS),
    _read("/api/reconciliation-cases/:id", PAYMENTS),
    _post("/api/reconciliation-cases/:id/close", PAYMENTS, guard=_guard("exceptions:classify")),
    Route("GET", "/api/dead-letter-webhooks", PAYMENTS, parts=(PAYMENTS, NOTIFICATIONS)),
    *(
        replace(
            _post(f"/api/dead-letter-webhooks/:id/{verb}", PAYMENTS, guard=_guard("webhooks:replay", step_up=True)),
            parts=(PAYMENTS, NOTIFICATIONS),
        )
        for verb in ("replay", "close")
    ),
    _read("/api/audits", PAYMENTS),
    _read("/api/audits/:id", PAYMENTS),
    _webhook("/functions/v1/record-audit", PAYMENTS, MIB),
    _webhook("/functions/v1/gateway-webhook", PAYMENTS, MIB, Media.ANY),
    _webhook("/api/webhooks/flutterwave", PAYMENTS, MIB, Media.ANY),
    # Payouts (section 8)
    _read("/api/wallets/current", PAYOUTS),
    _post("/api/wallets/current/waiver", PAYOUTS, Quota.SENSITIVE, guard=_guard("wallet:own")),
    _read("/api/wallets/current/statement", PAYOUTS),
    _read("/api/wallets/current/statements/:month", PAYOUTS),
    _read("/api/wallets/current/statements/:month/export", PAYOUTS),
    Route("GET", "/api/wallets/current/statements/:month/print", PAYOUTS, is_page=True),
    _read("/api/vendors/:id/wallet", PAYOUTS),
    _read("/api/wallet-transactions", PAYOUTS),
    _read("/api/vendors/:id/statement", PAYOUTS),
    _read("/api/vendors/:id/payout-schedule", PAYOUTS),
    Route("PUT", "/api/vendors/:id/payout-schedule", PAYOUTS),
    _read("/api/vendors/:id/bank-details", PAYOUTS),
    Route("PUT", "/api/vendors/:id/bank-details", PAYOUTS, Quota.SENSITIVE),
    _read("/api/vendors/:id/bank-details/history", PAYOUTS),
    _post(
        "/api/vendors/:id/bank-details/quarantine",
        PAYOUTS,
        Quota.SENSITIVE,
        guard=_guard("bank_details:quarantine", step_up=True),
    ),
    _post("/api/vendors/:id/bank-details/release", PAYOUTS, guard=_guard("bank_details:quarantine", step_up=True)),
    _read("/api/bank-detail-releases", PAYOUTS),
    _read("/api/bank-detail-releases/:id", PAYOUTS),
    _post("/api/bank-detail-releases/:id/approve", PAYOUTS, guard=_guard("bank_details:release", step_up=True)),
    _post("/api/bank-detail-releases/:id/reject", PAYOUTS, guard=_guard("bank_details:release", step_up=True)),
    _post("/api/payouts", PAYOUTS, Quota.SENSITIVE, guard=_guard("wallet:own")),
    _read("/api/payouts", PAYOUTS),
    _read("/api/payouts/:id", PAYOUTS),
    _post_with_key(
        "/api/payouts/dispatch",
        PAYOUTS,
        Quota.SENSITIVE,
        DISPATCH_SECONDS_MAX,
        guard=_guard("payouts:dispatch", step_up=True),
    ),
    _read("/api/payout-batches", PAYOUTS),
    _read("/api/payout-batches/:id", PAYOUTS),
    _post("/api/payouts/:id/cancel", PAYOUTS, guard=_guard("wallet:own")),
    _post("/api/payouts/:id/reset", PAYOUTS, guard=_guard("payouts:reset", step_up=True)),
    _post("/api/payouts/:id/reconciliations", PAYOUTS, guard=_guard("reconciliations:prepare", step_up=True)),
    _read("/api/reconciliations", PAYOUTS),
    _read("/api/reconciliations/:id", PAYOUTS),
    _read("/api/reconciliations/:id/postings", PAYOUTS),
    _post("/api/reconciliations/:id/approve", PAYOUTS, guard=_guard("reconciliations:approve", step_up=True)),
    _post("/api/reconciliations/:id/reject", PAYOUTS, guard=_guard("reconciliations:approve", step_up=True)),
    _read("/api/payout-exceptions", PAYOUTS),
    _read("/api/payout-exceptions/observations", PAYOUTS),
    _read("/api/payout-exceptions/:id", PAYOUTS),
    _post("/api/payout-exceptions/:id/query", PAYOUTS, guard=_guard("exceptions:classify")),
    _post("/api/payout-exceptions/:id/classify", PAYOUTS, guard=_guard("exceptions:classify")),
    _post("/api/payout-exceptions/:id/close", PAYOUTS, guard=_guard("exceptions:classify")),
    # Notifications (section 12)
    _read("/api/notifications", NOTIFICATIONS),
    _read("/api/notifications/unread-count", NOTIFICATIONS),
    _read("/api/notifications/stream", NOTIFICATIONS),
    _post("/api/notifications/read-all", NOTIFICATIONS),
    _post("/api/notifications/:id/read", NOTIFICATIONS),
    _read("/api/notification-delivery-logs", NOTIFICATIONS),
    _post("/api/notification-delivery-logs/:id/resend", NOTIFICATIONS, guard=_guard("notifications:resend")),
    _read("/api/notification-preferences", NOTIFICATIONS),
    Route("PUT", "/api/notification-preferences", NOTIFICATIONS),
    _read("/api/devices", NOTIFICATIONS),
    _post("/api/devices", NOTIFICATIONS),
    Route("DELETE", "/api/devices/:id", NOTIFICATIONS),
    Route("GET", "/api/devices/vapid-key", NOTIFICATIONS, access=Access.ANONYMOUS),
    _read("/api/alerts", NOTIFICATIONS),
    Route("GET", "/api/messaging/webhook", NOTIFICATIONS, Quota.MACHINES, access=Access.OPEN),
    _webhook("/api/messaging/webhook", NOTIFICATIONS, 4 * MIB, Media.ANY),
    _read("/api/support-tickets", NOTIFICATIONS),
    _post("/api/support-tickets", NOTIFICATIONS),
    _read("/api/support-tickets/:id", NOTIFICATIONS),
    Route("PATCH", "/api/support-tickets/:id", NOTIFICATIONS),
    _post("/api/support-tickets/:id/assign", NOTIFICATIONS, guard=_guard("tickets:manage")),
    _post("/api/support-tickets/:id/close", NOTIFICATIONS),
    _post("/api/support-tickets/:id/read", NOTIFICATIONS),
    _read("/api/support-tickets/:id/messages", NOTIFICATIONS),
    _post("/api/support-tickets/:id/messages", NOTIFICATIONS),
    _read("/api/support-tickets/:id/attachments", NOTIFICATIONS),
    _upload_image("/api/support-tickets/:id/attachments", NOTIFICATIONS),
    _read("/api/support-tickets/:id/attachments/:id", NOTIFICATIONS),
    _read("/api/webhook-endpoints", NOTIFICATIONS),
    # These two responses hold a secret.
    _post_secret("/api/webhook-endpoints", NOTIFICATIONS, Quota.BY_CALLER),
    Route("PATCH", "/api/webhook-endpoints/:id", NOTIFICATIONS),
    Route("DELETE", "/api/webhook-endpoints/:id", NOTIFICATIONS),
    _post_secret("/api/webhook-endpoints/:id/rotate-secret", NOTIFICATIONS, Quota.BY_CALLER),
    _post("/api/webhook-endpoints/:id/replay", NOTIFICATIONS, guard=_guard("webhooks:own", "webhooks:manage")),
    _read("/api/webhook-endpoints/:id/deliveries", NOTIFICATIONS),
    _assistant_message("/api/assistant/chat", REPLY_SECONDS_MAX),
    _assistant_message("/api/assistant/stream", 30.0),
    _read("/api/assistant/conversations", NOTIFICATIONS),
    Route("DELETE", "/api/assistant/conversations/:id", NOTIFICATIONS),
    _read("/api/assistant/conversations/:id/messages", NOTIFICATIONS),
    _webhook("/functions/v1/deliver-notification", NOTIFICATIONS, 256 * KIB),
    _webhook("/functions/v1/sms-receipts/termii", NOTIFICATIONS, 16 * KIB, Media.ANY),
    _webhook("/functions/v1/sms-receipts/africas-talking", NOTIFICATIONS, 16 * KIB, Media.ANY),
    _webhook("/functions/v1/sms-receipts/twilio", NOTIFICATIONS, 16 * KIB, Media.ANY),
    Route("GET", "/functions/v1/mail-unsubscribe", NOTIFICATIONS, Quota.MACHINES, access=Access.OPEN),
    _webhook("/functions/v1/mail-unsubscribe", NOTIFICATIONS, 16 * KIB, Media.ANY),
    # The caller's work in all services (section 13.6)
    Route("GET", "/api/work", IDENTITY, parts=UPSTREAMS),
    # The caller's own actions in all services (section 13.8)
    Route("GET", "/api/staff-acts/current", IDENTITY, parts=UPSTREAMS),
    # What a service keeps of the caller; what it gave up, read and replayed at that service (sections 7 and 13)
    *(
        route
        for service in UPSTREAMS
        for route in (
            _read(f"/api/personal-records/{service}", service),
            _read(f"/api/dead-letters/{service}", service),
            _read(f"/api/queues/{service}", service),
            _post(f"/api/dead-letters/{service}/:id/replay", service, guard=_guard("webhooks:replay", step_up=True)),
            _post(f"/api/dead-letters/{service}/:id/close", service, guard=_guard("webhooks:replay", step_up=True)),
        )
    ),
)
