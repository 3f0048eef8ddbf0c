"""Responses of the SMS companies, by what they mean for the message (decision 43).

| Outcome | Meaning | Effect |
|---|---|---|
| a message id | accepted | sent |
| `AccountFault` | key, account, balance, sender or route is rejected | the second company sends at once; one alert |
| `RecipientUnreachable` | do-not-disturb, opted out, or an invalid number | the delivery fails |
| `ProviderRejected` | the message is invalid | the delivery fails |
| `ProviderUnavailable` | not accepted: rate limit, overload, no route | the second company sends at once |
| `ProviderTimeout` | unknown: the company may have accepted the message | the second company sends only a PIN or code |

Any other shape of a response is unknown, too: a message that may have arrived is not sent by another company.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from notifications.deliveries.domain.errors import (
    AccountFault,
    DeliveryError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    RecipientUnreachable,
)


@dataclass(frozen=True, slots=True)
class SmsResponse:
    """A response: HTTP status, JSON object (empty for anything else) and Retry-After in seconds."""

    provider: str
    status: int
    payload: Mapping[str, Any]
    retry_after_seconds: int | None = None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


Reader = Callable[[SmsResponse], str]
_Fault = type[DeliveryError]

# Termii has no error codes, only texts. A complaint about the sender may name the number, so these come first.
_TERMII_ACCOUNT: Final = (
    *("sender", "balance", "insufficient", "api key", "apikey", "unauthorized", "not active", "inactive"),
    *("deactivated", "disabled", "not set up on this route", "contact administrator", "permission"),
)
_TERMII_RECIPIENT: Final = (
    *("dnd", "do not disturb", "do-not-disturb", "invalid phone", "invalid number", "invalid mobile"),
    *("phone number", "recipient", "blacklist"),
)

_AFRICAS_TALKING_ACCEPTED: Final = frozenset({100, 101, 102})
_AFRICAS_TALKING: Final[Mapping[int, _Fault]] = {
    401: AccountFault,
    402: AccountFault,
    403: RecipientUnreachable,
    404: RecipientUnreachable,
    405: AccountFault,
    406: RecipientUnreachable,
    407: ProviderUnavailable,
    409: RecipientUnreachable,
    500: ProviderTimeout,
    501: ProviderUnavailable,
    502: ProviderUnavailable,
}
# The summary names an account fault where no recipient is listed.
_AFRICAS_TALKING_ACCOUNT: Final = ("riskhold", "invalidsenderid", "insufficientbalance")

_TWILIO_FAILED: Final = frozenset({"failed", "undelivered", "canceled"})
_TWILIO: Final[Mapping[int, _Fault]] = {
    # Authentication, suspended or trial account, balance, unknown path.
    **dict.fromkeys((10001, 20001, 20003, 20005, 20006, 20008, 20404, 21608, 30002, 30010), AccountFault),
    # The sender: not ours, not able to send, not registered; the messaging service; the country is not enabled.
    **dict.fromkeys((21212, 21408, 21603, 21606, 21607, 21659, 21660, 21661), AccountFault),
    **dict.fromkeys((21701, 21702, 21703, 21705, 30032, 30034, 63038), AccountFault),
    # The number: invalid, opted out, not reachable, a landline, not on the network.
    **dict.fromkeys((21211, 21214, 21217, 21610, 21612, 21614, 21635), RecipientUnreachable),
    **dict.fromkeys((30003, 30004, 30005, 30006), RecipientUnreachable),
    # Rate limits and full queues.
    **dict.fromkeys((14107, 20429, 21611, 30001, 30022), ProviderUnavailable),
}


def read_termii(response: SmsResponse) -> str:
    """Return Termii's message id. Raises a DeliveryError."""
    payload = response.payload
    message_id = _id(payload.get("message_id")) or _id(payload.get("message_id_str"))
    if response.is_success and message_id:
        return message_id
    text = _termii_text(payload.get("message"))
    lowered = text.lower()
    if any(words in lowered for words in _TERMII_ACCOUNT):
        raise _fault(AccountFault, response, text)
    if any(words in lowered for words in _TERMII_RECIPIENT):
        raise _fault(RecipientUnreachable, response, text)
    raise _by_status(response, text)


def read_africas_talking(response: SmsResponse) -> str:
    """Return Africa's Talking's message id. Raises a DeliveryError.

    The response succeeds even for a rejected number: each recipient has a status.
    """
    summary = response.payload.get("SMSMessageData")
    given = summary.get("Recipients") if isinstance(summary, dict) else None
    recipient = given[0] if isinstance(given, list) and given else given
    if not isinstance(recipient, dict):
        return _read_summary(response, summary.get("Message") if isinstance(summary, dict) else None)
    code, text = _number(recipient.get("statusCode")), _text(recipient.get("status"))
    if code in _AFRICAS_TALKING_ACCEPTED:
        message_id = _id(recipient.get("messageId"))
        if message_id and message_id != "None":
            return message_id
        raise ProviderTimeout(response.provider, "the response names no message")
    reason = text if code is None else f"{code} {text}".strip()
    raise (ProviderTimeout if code is None else _AFRICAS_TALKING.get(code, ProviderRejected))(response.provider, reason)


def _read_summary(response: SmsResponse, message: Any) -> str:
    text = _text(message)
    lowered = text.lower()
    if any(name in lowered for name in _AFRICAS_TALKING_ACCOUNT):
        raise _fault(AccountFault, response, text)
    if response.is_success and lowered.startswith("sent to 0/"):
        raise _fault(ProviderUnavailable, response, text)
    raise _by_status(response, text)


def read_twilio(response: SmsResponse) -> str:
    """Return Twilio's message SID. Raises a DeliveryError."""
    payload = response.payload
    message_id = _id(payload.get("sid"))
    if response.is_success and message_id and payload.get("status") not in _TWILIO_FAILED:
        return message_id
    code = _number(payload.get("error_code" if response.is_success else "code"))
    text = _text(payload.get("error_message" if response.is_success else "message"))
    if code is not None:
        text = f"{code} {text}".strip()
    if code is not None and (kind := _TWILIO.get(code)) is not None:
        raise _fault(kind, response, text)
    if response.is_success and message_id:
        raise _fault(ProviderRejected, response, text)
    raise _by_status(response, text)


def _by_status(response: SmsResponse, text: str) -> DeliveryError:
    """Classify a response without a known code or text by its HTTP status."""
    if response.status in (400, 413, 422):
        return _fault(ProviderRejected, response, text)
    if response.status in (401, 402, 403, 404):
        return _fault(AccountFault, response, text)
    # Another server error than 503, and a success without a message id, may hide an accepted message.
    is_unknown = response.is_success or response.status == 408 or (response.status >= 500 and response.status != 503)
    return _fault(ProviderTimeout if is_unknown else ProviderUnavailable, response, text)


def _fault(kind: _Fault, response: SmsResponse, text: str) -> DeliveryError:
    reason = f"{response.status} {text}".strip()
    if issubclass(kind, ProviderUnavailable):
        return kind(response.provider, reason, retry_after_seconds=response.retry_after_seconds)
    return kind(response.provider, reason)


def _termii_text(given: Any) -> str:
    """Read Termii's message: a text, or a list of `{issue}`."""
    if isinstance(given, list):
        return "; ".join(filter(None, (_text(one.get("issue") if isinstance(one, dict) else one) for one in given[:5])))
    return _text(given)


def _text(given: Any) -> str:
    """Read a short text on one line; empty for anything else."""
    return " ".join(given.replace("\x00", " ").split())[:200] if isinstance(given, str) else ""


def _id(given: Any) -> str:
    """Read a message id from a text or a number; empty for anything else."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return given if isinstance(given, str) and 0 < len(given) <= 200 and "\x00" not in given else ""


def _number(given: Any) -> int | None:
    """Read a code from an integer or its text."""
    if isinstance(given, bool) or not isinstance(given, int | str):
        return None
    text = str(given).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else None
