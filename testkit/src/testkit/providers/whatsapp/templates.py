"""Templates: their registration, list and change.

Pages: developers.facebook.com/documentation/business-messaging/whatsapp/templates, "Authentication templates", and the
reference of the node WhatsAppBusinessHSM. Examples: facebook/openapi, paths `/{WABA-ID}/message_templates`.
"""

from typing import Any, Final

from testkit.providers.operations import Operation
from testkit.providers.schemas import DIGITS, FLAG, TEXT, Schema, choice, conform, record, rows

CATEGORY: Final = choice("AUTHENTICATION", "MARKETING", "UTILITY")
STATUS: Final = choice(
    "APPROVED",
    "IN_APPEAL",
    "PENDING",
    "REJECTED",
    "PENDING_DELETION",
    "DELETED",
    "DISABLED",
    "PAUSED",
    "LIMIT_EXCEEDED",
    "ARCHIVED",
)
BODY_MAX: Final = 1024
_TEXT_BODY: Final = record(
    {
        "type": choice("BODY"),
        "text": {"type": "string", "minLength": 1, "maxLength": BODY_MAX},
        "example?": record(
            {"body_text": {**rows(rows({"type": "string", "minLength": 1})), "minItems": 1}}, closed=True
        ),
    },
    closed=True,
)
_CODE_BODY: Final = record({"type": choice("BODY"), "add_security_recommendation": FLAG}, closed=True)
_CODE_BUTTONS: Final = record(
    {
        "type": choice("BUTTONS"),
        "buttons": {
            **rows(
                record(
                    {
                        "type": choice("OTP"),
                        "otp_type": choice("COPY_CODE"),
                        "text": {"type": "string", "maxLength": 25},
                    },
                    closed=True,
                )
            ),
            "minItems": 1,
            "maxItems": 1,
        },
    },
    closed=True,
)
_LANGUAGE: Final[Schema] = {"type": "string", "pattern": "^[a-z]{2,3}(_[A-Z]{2})?$"}
_NAME: Final[Schema] = {"type": "string", "pattern": "^[a-z0-9_]{1,512}$"}
_CODE_COMPONENTS: Final[dict[str, Any]] = {
    "type": "array",
    "prefixItems": [_CODE_BODY, _CODE_BUTTONS],
    "minItems": 2,
    "maxItems": 2,
}
_TEXT_COMPONENTS: Final[dict[str, Any]] = {"type": "array", "items": _TEXT_BODY, "minItems": 1, "maxItems": 1}
REGISTRATION: Final[Schema] = {
    "anyOf": [
        record(
            {"name": _NAME, "language": _LANGUAGE, "category": choice("UTILITY"), "components": _TEXT_COMPONENTS},
            closed=True,
        ),
        record(
            {
                "name": _NAME,
                "language": _LANGUAGE,
                "category": choice("AUTHENTICATION"),
                "message_send_ttl_seconds?": {"type": "integer", "minimum": 30, "maximum": 900},
                "components": _CODE_COMPONENTS,
            },
            closed=True,
        ),
    ]
}
CHANGE: Final = record(
    {"category?": CATEGORY, "components": {"anyOf": [_TEXT_COMPONENTS, _CODE_COMPONENTS]}}, closed=True
)
REGISTERED: Final = record({"id": DIGITS, "status": STATUS, "category": CATEGORY})
ITEM: Final = record(
    {
        "id": DIGITS,
        "name?": _NAME,
        "language?": TEXT,
        "category?": CATEGORY,
        "status?": STATUS,
        "rejected_reason?": choice(
            "ABUSIVE_CONTENT", "INVALID_FORMAT", "NONE", "PROMOTIONAL", "TAG_CONTENT_MISMATCH", "SCAM"
        ),
        "components?": rows(record({"type": TEXT})),
    }
)
PAGE: Final = record(
    {"data": rows(ITEM), "paging?": record({"cursors": record({"before after": TEXT}), "next?": TEXT})}
)
OPERATIONS: Final = (
    Operation(
        "GET",
        "/{version}/{account_id}/message_templates",
        query={"fields": TEXT, "limit": {"type": "integer"}, "after": TEXT, "name": TEXT, "status": TEXT},
        responses={200: PAGE},
    ),
    Operation("POST", "/{version}/{account_id}/message_templates", responses={200: REGISTERED}, body=REGISTRATION),
    Operation("POST", "/{version}/{template_id}", responses={200: record({"success": FLAG})}, body=CHANGE),
)


def check_registration(registration: Any) -> None:
    """One payload of an exported file. Raises Nonconformance."""
    conform(registration, REGISTRATION, "registration of a template")
