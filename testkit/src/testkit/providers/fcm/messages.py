"""Send a message to one device, and the errors."""

from typing import Final

from testkit.providers.api import Api
from testkit.providers.operations import Operation
from testkit.providers.schemas import OBJECT, TEXT, WHOLE, choice, record, rows

TEXTS: Final = {"type": "object", "additionalProperties": TEXT}
CONTENT: Final = record({"title? body? image?": TEXT}, closed=True)
ANDROID: Final = record(
    {
        "collapse_key?": TEXT,
        "priority?": choice("NORMAL", "HIGH"),
        # A duration: seconds with a unit.
        "ttl?": {**TEXT, "pattern": r"^\d+(\.\d{1,9})?s$"},
        "notification?": record({"tag?": TEXT}),
        "data?": TEXTS,
    },
    closed=True,
)
APNS: Final = record({"headers?": TEXTS, "payload?": OBJECT}, closed=True)
MESSAGE: Final = record(
    {"token": TEXT, "data?": TEXTS, "notification?": CONTENT, "android?": ANDROID, "apns?": APNS}, closed=True
)
SENT: Final = record({"name": {**TEXT, "pattern": "^projects/[^/]+/messages/[^/]+$"}})
STATUSES: Final = (
    *("INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "RESOURCE_EXHAUSTED"),
    *("INTERNAL", "UNAVAILABLE"),
)
CODES: Final = (
    *("UNSPECIFIED_ERROR", "INVALID_ARGUMENT", "UNREGISTERED", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED"),
    *("UNAVAILABLE", "INTERNAL", "THIRD_PARTY_AUTH_ERROR"),
)
DETAIL: Final = record(
    {
        "@type": {**TEXT, "pattern": "^type[.]googleapis[.]com/"},
        "errorCode?": choice(*CODES),
        "fieldViolations?": rows(record({"field description": TEXT})),
    }
)
FAULT: Final = record(
    {"error": record({"code": WHOLE, "message": TEXT, "status": choice(*STATUSES), "details?": rows(DETAIL)})}
)
API: Final = Api(
    "firebase.google.com/docs: reference/fcm/rest/v1/projects.messages, cloud-messaging/error-codes",
    (
        Operation(
            "POST", "/v1/projects/{project}/messages:send", {200: SENT}, body=record({"message": MESSAGE}, closed=True)
        ),
    ),
    FAULT,
)
# RFC 6749, section 5.
TOKEN: Final = record({"access_token token_type": TEXT, "expires_in": WHOLE})
TOKEN_FAULT: Final = record({"error error_description?": TEXT})
