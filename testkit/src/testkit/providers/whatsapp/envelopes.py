"""Parts that several areas of the Cloud API have in common.

Page: developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
"""

from typing import Final

from testkit.providers.schemas import DIGITS, FLAG, TEXT, WHOLE, Schema, choice, record

PRODUCT: Final = choice("whatsapp")
MESSAGE_ID: Final[Schema] = {"type": "string", "pattern": r"^wamid\."}
# The id of a user for one business or one group of businesses, with the country of the number.
USER_ID: Final[Schema] = {"type": "string", "pattern": r"^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$"}
WA_ID: Final = DIGITS
EPOCH_SECONDS: Final = DIGITS
# The error of a response. `error_data` is absent from errors of the graph itself, such as those of templates.
FAULT: Final = record(
    {
        "error": record(
            {
                "message type error_user_title? error_user_msg? fbtrace_id": TEXT,
                "code error_subcode?": WHOLE,
                "is_transient?": FLAG,
                "error_data?": record({"messaging_product": PRODUCT, "details": TEXT}),
            }
        )
    }
)
# The error of a status, of a message, and of an account.
REPORTED_ERROR: Final = record({"code": WHOLE, "title message? href?": TEXT, "error_data?": record({"details": TEXT})})
