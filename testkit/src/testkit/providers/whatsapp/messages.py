"""Sending of messages: `POST /{version}/{phone_number_id}/messages`.

Pages: developers.facebook.com/documentation/business-messaging/whatsapp, "Messages API", "Business-scoped user ids" and
"Authentication templates".
"""

from typing import Any, Final

from testkit.providers.operations import Operation
from testkit.providers.schemas import FLAG, TEXT, Schema, choice, record, rows
from testkit.providers.whatsapp.envelopes import MESSAGE_ID, PRODUCT, USER_ID, WA_ID

TEXT_MAX: Final = 4096
CALLBACK_DATA_MAX: Final = 512
_PARAMETER: Final = record(
    {"type": choice("text"), "text": {"type": "string", "minLength": 1, "pattern": r"^(?!.*( {5}|[\n\t]))"}},
    closed=True,
)
_BODY: Final = record({"type": choice("body"), "parameters": rows(_PARAMETER)}, closed=True)
_BUTTON: Final = record(
    {
        "type": choice("button"),
        "sub_type": choice("url"),
        "index": {"type": "string", "pattern": "^[0-9]$"},
        "parameters": {**rows(_PARAMETER), "minItems": 1, "maxItems": 1},
    },
    closed=True,
)
_TEMPLATE: Final = record(
    {
        "name": {"type": "string", "pattern": "^[a-z0-9_]{1,512}$"},
        "language": record({"code": {"type": "string", "pattern": "^[a-z]{2,3}(_[A-Z]{2})?$"}}, closed=True),
        "components": rows({"anyOf": [_BODY, _BUTTON]}),
    },
    closed=True,
)
_FRAME: Final[dict[str, Schema]] = {
    "messaging_product": PRODUCT,
    "recipient_type": choice("individual"),
    "to": {"type": "string", "pattern": r"^\+?[0-9]{5,20}$"},
    "recipient": USER_ID,
    "biz_opaque_callback_data": {"type": "string", "maxLength": CALLBACK_DATA_MAX},
}


def _message(kind: str, content: Schema) -> dict[str, Any]:
    """Return a message to a number or to a user id, with the object of its kind and no other field."""
    schema = record({**_FRAME, "type": choice(kind), kind: content}, optional=("to", "recipient"), closed=True)
    return {**schema, "oneOf": [{"required": ["to"]}, {"required": ["recipient"]}]}


MESSAGE: Final[Schema] = {
    "anyOf": [
        _message(
            "text",
            record(
                {"body": {"type": "string", "minLength": 1, "maxLength": TEXT_MAX}, "preview_url": FLAG}, closed=True
            ),
        ),
        _message("template", _TEMPLATE),
    ]
}
SENT: Final = record(
    {
        "messaging_product": PRODUCT,
        "contacts": {
            **rows(record({"input": TEXT, "wa_id?": WA_ID, "user_id?": USER_ID})),
            "minItems": 1,
        },
        "messages": {
            **rows(
                record(
                    {"id": MESSAGE_ID, "message_status?": choice("accepted", "held_for_quality_assessment", "paused")}
                )
            ),
            "minItems": 1,
        },
    }
)
OPERATIONS: Final = (Operation("POST", "/{version}/{phone_number_id}/messages", responses={200: SENT}, body=MESSAGE),)
