"""Twilio: create a message, and its status callback. Both are forms."""

from typing import Final

from testkit.providers.api import Api
from testkit.providers.operations import Operation
from testkit.providers.schemas import DIGITS, OBJECT, TEXT, WHOLE, choice, nullable, record

SID: Final = {**TEXT, "pattern": "^SM[0-9A-Za-z]{32}$"}
STATUSES: Final = (
    *("accepted", "scheduled", "canceled", "queued", "sending", "sent", "failed", "delivered", "undelivered"),
    *("receiving", "received", "read", "partially_delivered"),
)
# E.164; one of From and MessagingServiceSid.
SEND: Final = {
    **record(
        {
            "To": {**TEXT, "pattern": r"^\+[1-9][0-9]{6,14}$"},
            "From?": TEXT,
            "MessagingServiceSid?": {**TEXT, "pattern": "^MG[0-9a-fA-F]{32}$"},
            "Body": {**TEXT, "minLength": 1, "maxLength": 1600},
            "StatusCallback?": {**TEXT, "pattern": "^https?://[^_]+$"},
        },
        closed=True,
    ),
    "oneOf": [{"required": ["From"]}, {"required": ["MessagingServiceSid"]}],
}
# Dates are RFC 2822; prices and counts are texts.
INSTANT: Final = {**TEXT, "pattern": r"^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}$"}
MESSAGE: Final = record(
    {
        "sid": SID,
        "account_sid to body api_version uri": TEXT,
        "messaging_service_sid from price price_unit error_message": nullable(TEXT),
        "status": choice(*STATUSES),
        "direction": choice("outbound-api", "inbound", "outbound-call", "outbound-reply"),
        "num_segments num_media": DIGITS,
        "error_code": nullable(WHOLE),
        "date_created date_updated": INSTANT,
        "date_sent": nullable(INSTANT),
        "subresource_uris": OBJECT,
    },
    closed=True,
)
FAULT: Final = record({"code status": WHOLE, "message more_info": TEXT}, closed=True)
CALLBACK: Final = record(
    {
        "MessageSid SmsSid": SID,
        "MessageStatus SmsStatus": choice(*STATUSES),
        "To From AccountSid ApiVersion": TEXT,
        "ErrorCode?": DIGITS,
    }
)
API: Final = Api(
    (
        "twilio.com/docs: messaging/api/message-resource, usage/twilios-response, "
        "messaging/guides/track-outbound-message-status"
    ),
    (Operation("POST", "/2010-04-01/Accounts/{account}/Messages.json", {201: MESSAGE}, body=SEND),),
    FAULT,
)
