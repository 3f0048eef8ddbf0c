"""Errors of the messaging app, in responses and in statuses, by what they mean for the delivery (decision 42).

| Class | Meaning | Effect |
|---|---|---|
| `account` | our account is blocked (token, payment, policy) | the provider is paused with one alert |
| `throttled` | a rate limit or an overload | the message is sent again later |
| `recipient` | this user cannot receive the message here | the delivery fails; without a secret it raises no alert |
| `window` | a free text more than 24 hours after the customer's message | the approved template is sent instead |
| `message` | the message or its template is invalid | the delivery fails with an alert |

The code decides. The subcode refines code 100; the HTTP status decides where the code is unknown.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from notifications.deliveries.domain.masked_texts import mask_digits

# The provider's name in circuits, pauses, logs and alerts.
PROVIDER: Final = "messaging-app"
ErrorClass = Literal["account", "throttled", "recipient", "window", "message"]

_ACCOUNT: Final = frozenset(
    {0, 3, 10, 33, 190, 368, 130497, 131005, 131031, 131037, 131042, 131045, 133010, *range(200, 300)}
)
_THROTTLED: Final = frozenset(
    {1, 2, 4, 17, 80007, 80008, 130429, 131000, 131016, 131048, 131056, 131057, 131064, 133004, 133016, 135000}
)
_RECIPIENT: Final = frozenset({130472, 131021, 131026, 131049, 131050, 131062, 137000})
_WINDOW: Final = 131047
# The phone number id or the account id of the path: deleted, of another business, or not granted to the token.
_INVALID_PARAMETER: Final = 100
_OBJECT_UNKNOWN: Final = 33
# Statuses of an invalid request; every other one may pass.
_PERMANENT: Final = frozenset({400, 404, 413, 422})
_TEXT_MAX: Final = 160
# The app starts messages with the code: `(#131026) Message undeliverable`.
_CODE_PREFIX: Final = re.compile(r"^\(#[0-9]+\)\s*")


class ErrorData(msgspec.Struct, frozen=True):
    details: str = ""


class ReportedError(msgspec.Struct, frozen=True):
    """An error object as the app sends it: in a response, in a status, or about our account."""

    code: int | str | None = None
    error_subcode: int | str | None = None
    error_data: ErrorData | str = ""
    error_user_msg: str = ""
    message: str = ""
    title: str = ""
    is_transient: bool = False


@dataclass(frozen=True, slots=True)
class MessagingError:
    """An error object of the app. `text` is for log and delivery log: short, on one line, without runs of digits."""

    code: int | None = None
    subcode: int | None = None
    text: str = ""
    is_transient: bool = False

    @property
    def summary(self) -> str:
        """The code and the text."""
        return " ".join(part for part in ("" if self.code is None else str(self.code), self.text) if part)


def read_error(reported: ReportedError) -> MessagingError:
    """Read the most specific text, and numbers also from texts."""
    details = reported.error_data
    candidates = (
        details.details if isinstance(details, ErrorData) else details,
        reported.error_user_msg,
        reported.message,
        reported.title,
    )
    return MessagingError(
        _number(reported.code),
        _number(reported.error_subcode),
        _shown(next(filter(str.strip, candidates), "")),
        reported.is_transient,
    )


def classify_error(error: MessagingError, status: int | None = None) -> ErrorClass:
    """Return the class of an error. `status` is the HTTP status of a response, None for a reported delivery status."""
    if error.code == _INVALID_PARAMETER and error.subcode == _OBJECT_UNKNOWN:
        return "account"
    if error.code in _ACCOUNT:
        return "account"
    if error.code in _THROTTLED or error.is_transient:
        return "throttled"
    if error.code in _RECIPIENT:
        return "recipient"
    if error.code == _WINDOW:
        return "window"
    if status in (401, 403):
        return "account"
    return "message" if status is None or status in _PERMANENT else "throttled"


def _number(value: int | str | None) -> int | None:
    """Read a small number from an integer or its text."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= len("2388299") else None


def _shown(text: str) -> str:
    storable = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return mask_digits(" ".join(_CODE_PREFIX.sub("", storable).split())[:_TEXT_MAX])
