"""Examples that no schema yields: requests of operations with several forms, and responses that are files."""

from collections.abc import Mapping
from typing import Any, Final

import orders.domain.exports
import payments.responses.exports
import payouts.responses.exports
from common.web.csv_export import csv_lines
from contracts.demo import ADA, AKOKA_HUB, USERS
from orders.responses.sales import SalesGroup

_BUYER: Final = USERS[0]
_SOME_ID: Final = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"

REQUESTS: Final[Mapping[str, Any]] = {
    "POST /api/orders/checkout": {
        "items": [{"productId": _SOME_ID, "quantity": 2}],
        "hubId": str(AKOKA_HUB.id),
        "deliveryNote": "Room 12, ground floor.",
        "expectedTotalMinor": 450_000,
    },
    "POST /api/auth/otp": {"email": _BUYER.email},
    "POST /api/auth/otp/verify": {"email": _BUYER.email, "code": "482915"},
    "POST /api/devices": {"kind": "android", "token": "fGx3kQ9Rk0a"},
    "PATCH /api/products/:id": {"stock": 25, "revision": 3},
    "PATCH /api/profiles/current": {"fullName": _BUYER.full_name, "phone": _BUYER.phone},
    "POST /api/orders/:id/resolve": {"outcome": "split", "refundMinor": 150_000},
    "POST /functions/v1/deliver-notification": {
        "notificationId": _SOME_ID,
        "userId": str(_BUYER.id),
        "channel": "email",
        "template": "order_dispatched",
        "data": {"orderId": _SOME_ID, "businessName": ADA.business_name},
    },
    "POST /api/staff/:id/grant": {"role": "hub_agent", "hubId": str(AKOKA_HUB.id)},
    "POST /api/payouts/dispatch": {"maxTotalMinor": 50_000_000, "dryRun": True},
}

# Webhook bodies of providers, unchanged.
SIGNED_BODIES: Final[Mapping[str, tuple[str, Any]]] = {
    "POST /functions/v1/gateway-webhook": (
        "application/json",
        {
            "event": "charge.success",
            "data": {"id": 302961, "reference": f"in-{_SOME_ID}", "amount": 450_000, "currency": "NGN"},
        },
    ),
    "POST /api/webhooks/flutterwave": (
        "application/json",
        {"event": "charge.completed", "data": {"id": 285959875, "tx_ref": f"ch-{_SOME_ID}", "status": "successful"}},
    ),
    "POST /api/messaging/webhook": (
        "application/json",
        {"object": "whatsapp_business_account", "entry": [{"id": "1029384756", "changes": []}]},
    ),
    "POST /functions/v1/sms-receipts/termii": (
        "application/json",
        {"message_id": "3017544054459493798", "status": "Delivered"},
    ),
    "POST /functions/v1/sms-receipts/africas-talking": (
        "application/x-www-form-urlencoded",
        {"id": "ATXid_3a1b", "status": "Success"},
    ),
    "POST /functions/v1/mail-unsubscribe": (
        "application/x-www-form-urlencoded",
        {"List-Unsubscribe": "One-Click"},
    ),
    "POST /functions/v1/sms-receipts/twilio": (
        "application/x-www-form-urlencoded",
        {"MessageSid": "SM0123456789abcdef0123456789abcdef", "MessageStatus": "delivered"},
    ),
}
# An empty export holds only its header line.
_SALES_HEADING: Final = csv_lines([SalesGroup.__struct_encode_fields__])
FILES: Final[Mapping[str, str]] = {
    "/api/campus-orders/export": "".join(orders.domain.exports.csv_of_orders([])),
    "/api/sales": _SALES_HEADING,
    "/api/vendors/:id/sales": _SALES_HEADING,
    "/api/transactions/export": payments.responses.exports.csv_heading(),
    "/api/wallets/current/statements/:month/export": payouts.responses.exports.csv_heading(),
    "/api/wallets/current/statements/:month/print": "<!doctype html><title>Statement 2026-01</title>",
    "/api/messaging/webhook": "1158201444",
    "/functions/v1/mail-unsubscribe": '<!doctype html><form method="post"><button>Switch off</button></form>',
}
