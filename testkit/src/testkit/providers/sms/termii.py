"""Termii: send a message, and the report of its delivery."""

from typing import Final

from testkit.providers.api import Api
from testkit.providers.operations import Operation
from testkit.providers.schemas import ANYTHING, DIGITS, NUMBER, TEXT, choice, record, rows

# `dnd` reaches numbers with do-not-disturb and is for codes and notices; `generic` is for promotions.
SEND: Final = record(
    {
        "to": {"anyOf": [DIGITS, rows(DIGITS)]},
        "from": {**TEXT, "minLength": 3, "maxLength": 11},
        "sms": {**TEXT, "minLength": 1},
        "type": choice("plain", "unicode"),
        "channel": choice("dnd", "generic", "whatsapp", "voice"),
        "api_key": {**TEXT, "minLength": 1},
    },
    closed=True,
)
SENT: Final = record(
    {"message_id": TEXT, "message": TEXT, "balance": NUMBER, "user": TEXT, "code": TEXT}, optional=("code",)
)
# `message` is a text or a list of `{issue}`.
FAULT: Final = record({"code": ANYTHING, "message": ANYTHING, "status": ANYTHING}, optional=("code", "status"))
STATUSES: Final = (
    *("DELIVERED", "Delivered", "Message Sent", "Message Failed", "Rejected", "Expired"),
    "DND Active on Phone Number",
)
REPORT: Final = record(
    {
        "type": TEXT,
        "id": TEXT,
        "message_id": TEXT,
        "receiver": TEXT,
        "sender": TEXT,
        "message": TEXT,
        "sent_at": TEXT,
        "cost": TEXT,
        "status": choice(*STATUSES),
        "channel": TEXT,
    }
)
API: Final = Api(
    "developers.termii.com: messaging, error, events and reports",
    (Operation("POST", "/api/sms/send", {200: SENT}, body=SEND),),
    FAULT,
)
