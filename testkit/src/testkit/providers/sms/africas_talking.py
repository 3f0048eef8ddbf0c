"""Africa's Talking: send a message, and the report of its delivery. Both are forms."""

from typing import Final

from testkit.providers.api import Api
from testkit.providers.operations import Operation
from testkit.providers.schemas import TEXT, choice, record, rows

SEND: Final = record({"username to message from? enqueue?": TEXT}, closed=True)
CODES: Final = (100, 101, 102, 401, 402, 403, 404, 405, 406, 407, 409, 500, 501, 502)
RECIPIENT: Final = record(
    {"statusCode": {"type": "integer", "enum": list(CODES)}, "number cost status messageId": TEXT}
)
SENT: Final = record({"SMSMessageData": record({"Message": TEXT, "Recipients": rows(RECIPIENT)})}, closed=True)
REPORT: Final = record(
    {
        "id phoneNumber networkCode failureReason? retryCount": TEXT,
        "status": choice(
            "Sent", "Submitted", "Buffered", "Rejected", "Success", "Failed", "AbsentSubscriber", "Expired"
        ),
    },
    closed=True,
)
API: Final = Api(
    "developers.africastalking.com: sms/sending/bulk, sms/notifications",
    # A do-not-disturb number has the status of its code (Nigeria).
    (Operation("POST", "/version1/messaging", {201: SENT, 409: SENT}, body=SEND),),
    TEXT,
)
