"""A delivery: one message of one notification to one recipient by one channel, and who may send it when.

The claim is what keeps a message from going out twice. It is written before the provider is called, and it is judged here.

| Found | Verdict |
|---|---|
| not queued any more | `Settled`: a repeated work item, nothing to do |
| queued, claimed a moment ago | `UnderWay`: another worker sends it, or died doing so; the sweep finds out |
| queued, claimed too long ago, and may go out twice | `Free`: the claimant died before it could record what it did; it is sent again |
| queued, claimed too long ago, and may not | `Doubtful`: it may have gone out, and nobody will ever say; it is not sent again |
| queued, not due yet | `Waiting`: quiet hours, or a provider that rests; the clock brings it back |
| queued, tried too often | `UsedUp`: a message that takes its workers down is given up |
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID, uuid5

from common.web.outbound_addresses import origin_of

Channel = Literal["push", "messaging", "sms", "email"]

# A provider that has not answered by then has not answered: ten seconds cover a slow SMS company and a greylisting mail server.
PROVIDER_SECONDS_MAX: Final = 10
# A call's ten seconds, and five for the commit of its record. After it a claim belongs to a dead worker.
CLAIM_LIFE: Final = timedelta(seconds=PROVIDER_SECONDS_MAX + 5)
# The ladder makes six; the rest are workers that died with the message in hand, and nobody dies of it more often by chance.
ATTEMPTS_MAX: Final = 20

_NAMESPACE: Final = UUID("6b1f3c5e-0d2a-5f4e-9a57-3f1f0c9b7a10")
# The longest first names have half of it.
_NAME_CHARACTERS_MAX: Final = 40
_WITHIN_NAMES: Final = "'\N{RIGHT SINGLE QUOTATION MARK}-"


@dataclass(frozen=True, slots=True)
class EncryptedValue:
    """A secret as it travelled: encrypted, and opened only in memory at the moment of sending."""

    text: str
    context: str


@dataclass(frozen=True, slots=True)
class Contact:
    """How a user is reached, as heard from identity."""

    user_id: UUID
    email: str
    phone: str | None
    full_name: str | None

    @property
    def first_name(self) -> str:
        """How a message greets the user: by the first word of their name when it is one. An account is opened with somebody
        else's address easily, and a greeting must not carry a link or a sentence there."""
        first, *_ = (self.full_name or "").split() or [""]
        name = first.rstrip(",.;")
        return name if _is_name(name) else "there"

    @property
    def is_erased(self) -> bool:
        """Whether the user is gone: nobody is told anything any more, and no news waits for them."""
        return not self.email

    def address_on(self, channel: str) -> str | None:
        """The address on a channel that goes to an address; None when the user has none."""
        return {"email": self.email or None, "sms": self.phone, "messaging": self.phone}.get(channel)


@dataclass(frozen=True, slots=True)
class NotificationRequest:
    """A message that somebody wants to be told. `parameters` hold no secret; `sealed` holds the secrets, by name."""

    notification_id: UUID
    channel: str
    template: str
    parameters: Mapping[str, object]
    user_id: UUID | None = None
    sealed: Mapping[str, EncryptedValue] = field(default_factory=dict)


def _is_name(word: str) -> bool:
    """Letters of any script with their marks, apostrophes and hyphens: neither an address nor a sign that nobody sees."""
    return 0 < len(word) <= _NAME_CHARACTERS_MAX and all(
        unicodedata.category(sign)[0] in "LM" or sign in _WITHIN_NAMES for sign in word
    )


def notification_id_of(template: str, *about: object) -> UUID:
    """The same id for the same news, so that an event that is said twice under two ids still tells once."""
    return uuid5(_NAMESPACE, ":".join([template, *(str(part) for part in about)]))


@dataclass(frozen=True, slots=True)
class Settled:
    """It was sent, or given up, before."""


@dataclass(frozen=True, slots=True)
class UnderWay:
    """Somebody holds a claim that is still alive."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """It is not due yet."""


@dataclass(frozen=True, slots=True)
class UsedUp:
    """It was begun too often."""


@dataclass(frozen=True, slots=True)
class Doubtful:
    """It may have gone out, and must not go out twice."""


@dataclass(frozen=True, slots=True)
class Free:
    """It may be claimed now."""


Verdict = Settled | UnderWay | Waiting | UsedUp | Doubtful | Free


@dataclass(frozen=True, slots=True)
class RedeliveryPolicy:
    """What becomes of a message whose worker died with it in hand: how long it is left alone, and whether it then goes out again."""

    life: timedelta
    goes_again: bool


def evaluate_claim(
    status: str,
    claimed_at: datetime | None,
    attempts: int,
    now: datetime,
    redelivery: RedeliveryPolicy,
    due_at: datetime | None = None,
) -> Verdict:
    """Whether a delivery may be claimed for sending at `now`."""
    if status != "queued":
        return Settled()
    if claimed_at is not None:
        if now - claimed_at <= redelivery.life:
            return UnderWay()
        if not redelivery.goes_again:
            return Doubtful()
    if due_at is not None and now < due_at:
        return Waiting()
    return UsedUp() if attempts >= ATTEMPTS_MAX else Free()


def pin_channel(contact: Contact) -> tuple[Channel, str]:
    """The way of a delivery PIN: by SMS; a buyer without a phone is told by mail where to read it, never the PIN itself."""
    return ("sms", "delivery_pin") if contact.phone else ("email", "delivery_pin_ready")


def masked(recipient: str) -> str:
    """An address that staff may see: `c***@unilag.edu.ng`, `+234******0001`."""
    if "@" in recipient:
        name, _, domain = recipient.rpartition("@")
        return f"{name[:1]}***@{domain}"
    shown_from = max(len(recipient) - 4, 0)
    hidden = max(shown_from - 4, 0)
    return recipient[: shown_from - hidden] + "*" * hidden + recipient[shown_from:] if hidden else "***"


def without(secrets: Mapping[str, str], text: str) -> str:
    """A provider's words with everything blanked that it may have repeated of the message."""
    for secret in secrets.values():
        if secret:
            text = text.replace(secret, "***")
    return text[:200]


@dataclass(frozen=True, slots=True)
class Message:
    """The words as they go out. HTML is for mail only, a subject for mail and push (its title), and `parameters` for the
    messaging app, whose own approved text they fill. Held in memory alone: never logged, never stored."""

    text: str
    subject: str = ""
    html: str = ""
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Device:
    """Where a push goes. `address` is a native token, or the endpoint of a browser's subscription with its two keys."""

    device_id: UUID
    kind: str
    address: str
    public_key: str | None = None
    auth_secret: str | None = None

    @property
    def origin(self) -> str:
        """The push service of a browser's subscription."""
        return origin_of(self.address)


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One message as a provider gets it. `sensitive` says that it holds a secret."""

    delivery_id: UUID
    notification_id: UUID
    template: str
    address: str
    message: Message
    sensitive: bool
    device: Device | None = None


@dataclass(frozen=True, slots=True)
class FeedLine:
    """What the app shows of a notification; it holds no secret."""

    title: str
    body: str
