"""Authentication of each operation: tokens, the service key, signatures."""

from collections.abc import Mapping
from typing import Any, Final

from campus_tools.documents.described import Described
from common.auth.guards import Access

# Endpoints that a signature or a secret authenticates instead of a token.
_SIGNED: Final[Mapping[str, str]] = {
    "POST /functions/v1/gateway-webhook": "gatewaySignature",
    "POST /api/webhooks/flutterwave": "flutterwaveHash",
    "POST /api/messaging/webhook": "messagingSignature",
    "POST /functions/v1/sms-receipts/termii": "termiiSignature",
    "POST /functions/v1/sms-receipts/africas-talking": "receiptKey",
    "POST /functions/v1/sms-receipts/twilio": "twilioSignature",
    "GET /functions/v1/mail-unsubscribe": "unsubscribeToken",
    "POST /functions/v1/mail-unsubscribe": "unsubscribeToken",
}
SECURITY_SCHEMES: Final[Mapping[str, Any]] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "The access token of `POST /api/auth/login` or `POST /api/auth/mfa/verify`.",
    },
    "serviceKey": {"type": "http", "scheme": "bearer", "description": "`SERVICE_ROLE_KEY`, for the functions only."},
    "gatewaySignature": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Gateway-Signature",
        "description": "HMAC SHA-512 of the raw body under the payment gateway's secret, in hex. "
        "`GATEWAY_SIGNATURE_HEADER` may name another header.",
    },
    "flutterwaveHash": {
        "type": "apiKey",
        "in": "header",
        "name": "verif-hash",
        "description": "`FLUTTERWAVE_WEBHOOK_HASH`; or `flutterwave-signature` with the HMAC SHA-256 of the raw body under it, in base64.",
    },
    "messagingSignature": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Hub-Signature-256",
        "description": "`sha256=` and the HMAC SHA-256 of the raw body under the messaging app's secret, in hex.",
    },
    "unsubscribeToken": {
        "type": "apiKey",
        "in": "query",
        "name": "token",
        "description": "The token of the link in a mail's `List-Unsubscribe`, made for one user.",
    },
    "twilioSignature": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Twilio-Signature",
        "description": "HMAC SHA-1 of our address and the sorted form fields under Twilio's auth token, in base64.",
    },
    "termiiSignature": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Termii-Signature",
        "description": "HMAC SHA-512 of the raw body under `SMS_RECEIPT_KEY`, in hex.",
    },
    "receiptKey": {"type": "apiKey", "in": "query", "name": "key", "description": "`SMS_RECEIPT_KEY`."},
}


def security_of(entry: Described) -> list[dict[str, list[str]]]:
    """Return the `security` of an operation."""
    if entry.guard.access is Access.SERVICE_KEY:
        return [{"serviceKey": []}]
    if entry.route.name in _SIGNED:
        return [{_SIGNED[entry.route.name]: []}]
    if entry.route.access is Access.TOKEN:
        return [{"bearer": []}]
    if entry.route.access is Access.ANONYMOUS:
        return [{}, {"bearer": []}]
    return []
