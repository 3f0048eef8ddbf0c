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
        "sms api_key": {**TEXT, "minLength": 1},
        "type": choice("plain", "unicode"),
        "channel": choice("dnd", "generic", "whatsapp", "voice"),
    },
    closed=True,
)
SENT: Final = record({"message_id message user code?": TEXT, "balance": NUMBER})
# `message` is a text or a list of `{issue}`.
FAULT: Final = record({"code? message status?": ANYTHING})
STATUSES: Final = (
    *("DELIVERED", "Delivered", "Message Sent", "Message Failed", "Rejected", "Expired"),
    "DND Active on Phone Number",
)
REPORT: Final = record(
    {"type id message_id receiver sender message sent_at cost channel": TEXT, "status": choice(*STATUSES)}
)
API: Final = Api(
    "developers.termii.com: messaging, error, events and reports",
    (Operation("POST", "/api/sms/send", {200: SENT}, body=SEND),),
    FAULT,
)
