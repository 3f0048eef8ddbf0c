"""Examples that no schema yields: requests of operations with several forms, and responses that are files."""

from collections.abc import Mapping
from typing import Any, Final

import orders.domain.exports
import orders.domain.product_files
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
    "POST /api/purchases": {
        "items": [{"productId": _SOME_ID, "quantity": 2}],
        "deliveries": [{"vendorId": str(ADA.id), "hubId": str(AKOKA_HUB.id), "deliveryNote": "At the gate."}],
        "deliveryNote": "Room 12, ground floor.",
        "expectedTotalMinor": 450_000,
    },
    "POST /mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "POST /api/auth/otp": {"email": _BUYER.email},
    "POST /api/auth/otp/verify": {"email": _BUYER.email, "code": "482915"},
    "POST /api/devices": {"kind": "android", "token": "fGx3kQ9Rk0a"},
    "POST /api/products": {
        "name": "Jollof rice",
        "description": "Smoky, with fried plantain.",
        "category": "meals",
        "priceMinor": 225_000,
        "stock": 40,
    },
    "PUT /api/products/:id/variants": {
        "options": [{"name": "Size", "values": ["Regular", "Large"]}],
        "variants": [
            {"values": {"Size": "Regular"}, "priceMinor": 225_000, "stock": 25},
            {"values": {"Size": "Large"}, "priceMinor": 300_000, "stock": 15, "sku": "RICE-L"},
        ],
        "revision": 3,
    },
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
    "POST /api/auth/oidc/:id/backchannel-logout": (
        "application/x-www-form-urlencoded",
        {"logout_token": "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIyNDgifQ.c2lnbmF0dXJl"},
    ),
    "POST /functions/v1/sms-receipts/twilio": (
        "application/x-www-form-urlencoded",
        {"MessageSid": "SM0123456789abcdef0123456789abcdef", "MessageStatus": "delivered"},
    ),
}
# An empty export holds only its header line.
_SALES_HEADING: Final = csv_lines([SalesGroup.__struct_encode_fields__])
FILES: Final[Mapping[str, str]] = {
    "/api/products/feed": (
        '{"id":"018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47","vendorId":"018cc251-f400-7003-8000-000000000001",'
        '"vendorName":"Ada\'s Kitchen","campusId":"018cc251-f400-7001-8000-000000000001","name":"Jollof rice",'
        '"description":"With chicken","category":"meals","priceMinor":225000,"currency":"NGN","stock":12,'
        '"inStock":true,"condition":"new","images":[],"rating":4.5,"ratingCount":8,"revision":3,'
        '"createdAt":"2026-01-05T12:00:00.000Z","options":[]}\n'
    ),
    "/api/campus-orders/export": "".join(orders.domain.exports.csv_of_orders([])),
    "/api/vendors/:id/products/export": "".join(orders.domain.product_files.csv_of_products([])),
    "/api/sales": _SALES_HEADING,
    "/api/vendors/:id/sales": _SALES_HEADING,
    "/api/transactions/export": payments.responses.exports.csv_heading(),
    "/api/wallets/current/statements/:month/export": payouts.responses.exports.csv_heading(),
    "/api/wallets/current/statements/:month/print": "<!doctype html><title>Statement 2026-01</title>",
    "/api/orders/:id/receipt": "<!doctype html><title>Receipt RC-9F21C0D4-000012</title>",
    "/api/purchases/:id/receipt": "<!doctype html><title>Receipt of a purchase CP-7K3M-9QZ2-2</title>",
    "/api/payouts/:id/remittance": "<!doctype html><title>Remittance advice RA-9F21C0D4-000003</title>",
    "/api/vendors/:id/invoices/:month": "<!doctype html><title>Commission invoice CI-9F21C0D4-000001</title>",
    "/api/messaging/webhook": "1158201444",
    "/functions/v1/mail-unsubscribe": '<!doctype html><form method="post"><button>Switch off</button></form>',
}
