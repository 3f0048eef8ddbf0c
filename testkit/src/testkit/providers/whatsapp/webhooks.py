"""Webhooks of the fields `messages` and `message_template_status_update`.

Pages: developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages (one page for each
kind), and "Business-scoped user ids".
"""

from collections.abc import Mapping
from typing import Any, Final

from testkit.providers.schemas import (
    DIGITS,
    FLAG,
    NUMBER,
    OBJECT,
    TEXT,
    WHOLE,
    Nonconformance,
    Schema,
    choice,
    conform,
    record,
    rows,
)
from testkit.providers.whatsapp.envelopes import (
    EPOCH_SECONDS,
    MESSAGE_ID,
    PRODUCT,
    REPORTED_ERROR,
    USER_ID,
    WA_ID,
)

_MEDIA: Final = record({"id? mime_type? sha256? url? caption? filename?": TEXT})
_CHOICE: Final = record({"id title description?": TEXT})
# The object of each kind of message. A reaction without `emoji` removes one; an `interactive` may be absent.
KINDS: Final[Mapping[str, Schema]] = {
    "text": record({"body": TEXT}),
    "image": _MEDIA,
    "audio": _MEDIA,
    "video": _MEDIA,
    "document": _MEDIA,
    "sticker": _MEDIA,
    "location": record({"latitude longitude": NUMBER, "name? address? url?": TEXT}),
    "contacts": rows(record({"name": record({"formatted_name": TEXT}), "phones?": rows(OBJECT)})),
    "reaction": record({"message_id": MESSAGE_ID, "emoji?": TEXT}),
    "button": record({"payload text": TEXT}),
    "interactive": record({"type": TEXT, "button_reply? list_reply?": _CHOICE, "nfm_reply?": OBJECT}),
    "order": record({"catalog_id text?": TEXT, "product_items": rows(OBJECT)}),
    "edit": record({"original_message_id": MESSAGE_ID, "message": record({"type": TEXT, "context?": OBJECT})}),
    "revoke": record({"original_message_id": MESSAGE_ID}),
    "system": record({"body type": TEXT, "wa_id?": WA_ID, "user_id? parent_user_id?": USER_ID}),
    "unsupported": record({"type": TEXT}),
}
_WITHOUT_OBJECT: Final = frozenset({"interactive", "unsupported", "request_welcome"})
_MESSAGE_FIELDS: Final[Mapping[str, Schema]] = {
    "from?": WA_ID,
    "from_user_id? from_parent_user_id?": USER_ID,
    "group_id? type": TEXT,
    "id": MESSAGE_ID,
    "timestamp": EPOCH_SECONDS,
    "context? referral?": OBJECT,
    "errors?": rows(REPORTED_ERROR),
}
STATUS: Final = record(
    {
        "id": MESSAGE_ID,
        "status": choice("sent", "delivered", "read", "played", "failed", "deleted", "warning"),
        "timestamp": EPOCH_SECONDS,
        "recipient_id? recipient_type? biz_opaque_callback_data?": TEXT,
        "recipient_user_id? recipient_parent_user_id?": USER_ID,
        "conversation?": OBJECT,
        "pricing?": record({"billable?": FLAG, "pricing_model type? category": TEXT}),
        "errors?": {**rows(REPORTED_ERROR), "minItems": 1},
    }
)
CONTACT: Final = record(
    {
        "profile?": record({"name? username?": TEXT}),
        "wa_id?": WA_ID,
        "user_id? parent_user_id?": USER_ID,
        "identity_key_hash?": TEXT,
    }
)
VALUE: Final = record(
    {
        "messaging_product": PRODUCT,
        "metadata": record({"display_phone_number": TEXT, "phone_number_id": DIGITS}),
        "contacts?": rows(CONTACT),
        "messages?": rows(OBJECT),
        "statuses?": rows(STATUS),
        "errors?": rows(REPORTED_ERROR),
    }
)
TEMPLATE_STATUS: Final = record(
    {
        "event message_template_name message_template_language message_template_category?": TEXT,
        "message_template_id": WHOLE,
        "reason": {"type": ["string", "null"]},
        "rejection_info?": OBJECT,
    }
)
FIELDS: Final[Mapping[str, Schema]] = {"messages": VALUE, "message_template_status_update": TEMPLATE_STATUS}
FRAME: Final = record(
    {
        "object": choice("whatsapp_business_account"),
        "entry": rows(record({"id": TEXT, "time?": WHOLE, "changes": rows(record({"field": TEXT, "value": OBJECT}))})),
    }
)


def check_webhook(body: Any) -> None:
    """Check the body of one webhook, with every message in it. Raises Nonconformance."""
    conform(body, FRAME, "webhook")
    for change in (change for entry in body["entry"] for change in entry["changes"]):
        schema = FIELDS.get(change["field"])
        if schema is None:
            raise Nonconformance(f"webhook of the unknown field {change['field']}")
        conform(change["value"], schema, f"webhook of {change['field']}")
        for message in change["value"].get("messages", []):
            check_message(message)


def check_message(message: Any) -> None:
    """One message: its frame, a sender, and the object of its kind. Raises Nonconformance."""
    kind = message.get("type", "")
    content = {kind: KINDS[kind]} if kind in KINDS else {}
    schema = record({**_MESSAGE_FIELDS, **content}, optional=_WITHOUT_OBJECT)
    conform(message, schema, f"message of the kind {kind}")
    if kind not in KINDS and kind not in _WITHOUT_OBJECT:
        raise Nonconformance(f"message of the unknown kind {kind}")
    if not message.keys() & {"from", "from_user_id"}:
        raise Nonconformance(f"message of the kind {kind} without a sender")
