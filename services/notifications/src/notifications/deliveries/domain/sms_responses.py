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
from typing import Final, TypeVar

import msgspec

from common.primitives.json_records import decode_record
from notifications.deliveries.domain.errors import (
    AccountFault,
    DeliveryError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    RecipientUnreachable,
)

Record = TypeVar("Record", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class SmsResponse:
    """A response: HTTP status, body and Retry-After in seconds. `number` is the recipient, which no reason may
    contain.
    """

    provider: str
    status: int
    content: bytes
    retry_after_seconds: int | None = None
    number: str = ""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def read(self, kind: type[Record]) -> Record:
        return decode_record(self.content, kind)

    def fault(self, kind: "_Fault", text: str, *, with_status: bool = True) -> DeliveryError:
        """Return the fault with a short reason on one line."""
        shown = _line(text.replace(self.number, "***") if self.number else text)[:_REASON_CHARACTERS_MAX]
        reason = f"{self.status} {shown}".strip() if with_status else shown
        if issubclass(kind, ProviderUnavailable):
            return kind(self.provider, reason, retry_after_seconds=self.retry_after_seconds)
        return kind(self.provider, reason)


class TermiiIssue(msgspec.Struct, frozen=True):
    issue: str = ""


class TermiiResponse(msgspec.Struct, frozen=True):
    message_id: int | str = ""
    message_id_str: int | str = ""
    message: str | list[TermiiIssue | str] = ""


class AfricasTalkingRecipient(msgspec.Struct, frozen=True, rename="camel"):
    status_code: int | str | None = None
    status: str = ""
    message_id: int | str = ""


class AfricasTalkingSummary(msgspec.Struct, frozen=True, rename="pascal"):
    message: str = ""
    recipients: list[AfricasTalkingRecipient] | AfricasTalkingRecipient = []


class AfricasTalkingResponse(msgspec.Struct, frozen=True):
    summary: AfricasTalkingSummary = msgspec.field(name="SMSMessageData", default=AfricasTalkingSummary())


class TwilioResponse(msgspec.Struct, frozen=True):
    """An accepted message has `error_code` and `error_message`, an error `code` and `message`."""

    sid: int | str = ""
    status: int | str = ""
    error_code: int | str | None = None
    error_message: str = ""
    code: int | str | None = None
    message: str = ""


_REASON_CHARACTERS_MAX: Final = 200
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
    payload = response.read(TermiiResponse)
    message_id = _id(payload.message_id) or _id(payload.message_id_str)
    if response.is_success and message_id:
        return message_id
    text = _termii_text(payload.message)
    lowered = text.lower()
    if any(words in lowered for words in _TERMII_ACCOUNT):
        raise response.fault(AccountFault, text)
    if any(words in lowered for words in _TERMII_RECIPIENT):
        raise response.fault(RecipientUnreachable, text)
    raise _by_status(response, text)


def read_africas_talking(response: SmsResponse) -> str:
    """Return Africa's Talking's message id. Raises a DeliveryError.

    The response succeeds even for a rejected number: each recipient has a status.
    """
    summary = response.read(AfricasTalkingResponse).summary
    given = summary.recipients
    recipient = next(iter(given), None) if isinstance(given, list) else given
    if recipient is None:
        raise _summary_fault(response, summary.message)
    code = _number(recipient.status_code)
    if code in _AFRICAS_TALKING_ACCEPTED:
        message_id = _id(recipient.message_id)
        if message_id and message_id != "None":
            return message_id
        raise ProviderTimeout(response.provider, "the response names no message")
    kind = ProviderTimeout if code is None else _AFRICAS_TALKING.get(code, ProviderRejected)
    raise response.fault(kind, recipient.status if code is None else f"{code} {recipient.status}", with_status=False)


def _summary_fault(response: SmsResponse, text: str) -> DeliveryError:
    lowered = _line(text).lower()
    if any(name in lowered for name in _AFRICAS_TALKING_ACCOUNT):
        return response.fault(AccountFault, text)
    if response.is_success and lowered.startswith("sent to 0/"):
        return response.fault(ProviderUnavailable, text)
    return _by_status(response, text)


def read_twilio(response: SmsResponse) -> str:
    """Return Twilio's message SID. Raises a DeliveryError."""
    payload = response.read(TwilioResponse)
    message_id = _id(payload.sid)
    if response.is_success and message_id and payload.status not in _TWILIO_FAILED:
        return message_id
    code = _number(payload.error_code if response.is_success else payload.code)
    text = payload.error_message if response.is_success else payload.message
    if code is not None:
        text = f"{code} {text}"
    if code is not None and (kind := _TWILIO.get(code)) is not None:
        raise response.fault(kind, text)
    if response.is_success and message_id:
        raise response.fault(ProviderRejected, text)
    raise _by_status(response, text)


def _by_status(response: SmsResponse, text: str) -> DeliveryError:
    """Classify a response without a known code or text by its HTTP status."""
    if response.status in (400, 413, 422):
        return response.fault(ProviderRejected, text)
    if response.status in (401, 402, 403, 404):
        return response.fault(AccountFault, text)
    # Another server error than 503, and a success without a message id, may hide an accepted message.
    is_unknown = response.is_success or response.status == 408 or (response.status >= 500 and response.status != 503)
    return response.fault(ProviderTimeout if is_unknown else ProviderUnavailable, text)


def _termii_text(given: str | list[TermiiIssue | str]) -> str:
    """Read Termii's message: a text, or a list of issues."""
    if isinstance(given, str):
        return _line(given)
    return "; ".join(filter(None, (_line(one.issue if isinstance(one, TermiiIssue) else one) for one in given[:5])))


def _line(text: str) -> str:
    """Return the text on one line."""
    return " ".join(text.replace("\x00", " ").split())


def _id(given: int | str) -> str:
    """Return a message id; empty for one that cannot be stored."""
    text = str(given)
    return text if len(text) <= 200 and "\x00" not in text else ""


def _number(given: int | str | None) -> int | None:
    """Read a code from an integer or its text."""
    text = str(given).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else None
