"""Authentication of each operation: tokens, the service key, signatures."""

from collections.abc import Mapping
from typing import Any, Final

from campus_tools.documents.described import Described
from campus_tools.documents.texts import COMPONENTS
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
SECURITY_SCHEMES: Final[Mapping[str, Any]] = COMPONENTS["securitySchemes"]


def security_of(entry: Described) -> list[dict[str, list[str]]]:
    """Return the `security` of an operation."""
    if entry.guard.access is Access.SERVICE_KEY:
        return [{"serviceKey": []}]
    if entry.route.name in _SIGNED:
        return [{_SIGNED[entry.route.name]: []}]
    if entry.route.access is Access.TOKEN:
        keys: list[dict[str, list[str]]] = [{"apiKey": []}] if entry.guard.key_scopes else []
        return [{"bearer": []}, *keys]
    if entry.route.access is Access.ANONYMOUS:
        return [{}, {"bearer": []}]
    return []
