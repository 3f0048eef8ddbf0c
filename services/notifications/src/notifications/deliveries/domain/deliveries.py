"""A delivery: one message of one notification to one recipient by one channel. Its row is its place in the queue.

The claim prevents sending twice. It is committed before the provider is called.

| State | Meaning |
|---|---|
| queued, with `due_at` | waits: it may be claimed from that time on |
| queued, with a claim | a worker sends it, or has died; `evaluate_claim` decides what the sweep does |
| any other | finished; a resend or a reported failure queues it again |
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid5

from common.primitives.json_records import Json
from contracts.channels import Channel
from notifications.deliveries.domain.devices import Device
from notifications.deliveries.domain.subjects import Subject, subject_of

# Provider timeout in seconds. Ten seconds cover a slow SMS provider and a greylisting mail server.
PROVIDER_SECONDS_MAX: Final = 10
# The provider timeout plus five seconds for the commit. An older claim belongs to a dead worker.
CLAIM_LIFETIME: Final = timedelta(seconds=PROVIDER_SECONDS_MAX + 5)
# The retry ladder makes six attempts. The rest allow for workers that died during the call.
ATTEMPTS_MAX: Final = 20

_NAMESPACE: Final = UUID("6b1f3c5e-0d2a-5f4e-9a57-3f1f0c9b7a10")
# Twice the length of the longest first names.
_NAME_CHARACTERS_MAX: Final = 40
_WITHIN_NAMES: Final = "'\N{RIGHT SINGLE QUOTATION MARK}-"


@dataclass(frozen=True, slots=True)
class EncryptedValue:
    """A secret and the context that its ciphertext is bound to. Only the sending decrypts it, in memory."""

    text: str
    context: str


@dataclass(frozen=True, slots=True)
class Contact:
    """The addresses of a user, projected from identity's events."""

    user_id: UUID
    email: str
    phone: str | None
    full_name: str | None
    phone_confirmed: bool = False

    @property
    def first_name(self) -> str:
        """The name in the salutation: the first word of the full name if it is a plain name, else "there".

        A sign-up may use another user's address. The salutation must not contain a link or a sentence then.
        """
        first, *_ = (self.full_name or "").split() or [""]
        name = first.rstrip(",.;")
        return name if _is_name(name) else "there"

    @property
    def is_erased(self) -> bool:
        """Return whether the user is erased. Erased users receive no notification."""
        return not self.email

    def address_on(self, channel: str) -> str | None:
        """Return the address for an address-based channel; None when the user has none."""
        return {"email": self.email or None, "sms": self.phone, "messaging": self.phone}.get(channel)

    @property
    def proven_phone(self) -> str | None:
        """The number if its owner has confirmed it: a PIN goes to no other (contract section 12.1)."""
        return self.phone if self.phone_confirmed else None


@dataclass(frozen=True, slots=True)
class NotificationRequest:
    """A requested message. `parameters` hold no secret; `encrypted` holds the secrets by name.

    `subject_id` is the id of the subject where no parameter names it (`subject_of`).
    """

    notification_id: UUID
    channel: str
    template: str
    parameters: Mapping[str, Json]
    user_id: UUID | None = None
    encrypted: Mapping[str, EncryptedValue] = field(default_factory=dict)
    subject_id: UUID | None = None

    @property
    def subject(self) -> Subject | None:
        return subject_of(self.template, self.parameters, self.user_id, self.subject_id)


def _is_name(word: str) -> bool:
    """Accept letters of any script with marks, apostrophes and hyphens. Reject addresses and invisible characters."""
    return 0 < len(word) <= _NAME_CHARACTERS_MAX and all(
        unicodedata.category(sign)[0] in "LM" or sign in _WITHIN_NAMES for sign in word
    )


def notification_id_of(template: str, *about: object) -> UUID:
    """Return a deterministic id, so that one fact published under two event ids creates one notification."""
    return uuid5(_NAMESPACE, ":".join([template, *(str(part) for part in about)]))


@dataclass(frozen=True, slots=True)
class InProgress:
    """A worker holds a live claim."""


@dataclass(frozen=True, slots=True)
class AttemptsExhausted:
    """The delivery reached ATTEMPTS_MAX: a message that ends its workers."""


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The message may have been sent and must not be sent twice."""


@dataclass(frozen=True, slots=True)
class Claimable:
    """The delivery may be claimed."""


Verdict = InProgress | AttemptsExhausted | OutcomeUnknown | Claimable


@dataclass(frozen=True, slots=True)
class RedeliveryPolicy:
    """The handling of a message whose worker died: the lifetime of its claim, and whether it is sent again."""

    claim_lifetime: timedelta
    may_redeliver: bool


def evaluate_claim(claimed_at: datetime | None, attempts: int, now: datetime, redelivery: RedeliveryPolicy) -> Verdict:
    """Return whether a queued delivery may be claimed for sending at `now`."""
    if claimed_at is not None:
        if now - claimed_at <= redelivery.claim_lifetime:
            return InProgress()
        if not redelivery.may_redeliver:
            return OutcomeUnknown()
    return AttemptsExhausted() if attempts >= ATTEMPTS_MAX else Claimable()


def pin_channel(contact: Contact) -> tuple[Channel, str]:
    """Return channel and template for a delivery PIN: SMS, or a mail without the PIN for a buyer without a proven
    number.
    """
    return ("sms", "delivery_pin") if contact.proven_phone else ("email", "delivery_pin_ready")


def masked(recipient: str) -> str:
    """Mask an address for staff: `c***@unilag.edu.ng`, `+234******0001`."""
    if "@" in recipient:
        name, _, domain = recipient.rpartition("@")
        return f"{name[:1]}***@{domain}"
    shown_from = max(len(recipient) - 4, 0)
    hidden = max(shown_from - 4, 0)
    return recipient[: shown_from - hidden] + "*" * hidden + recipient[shown_from:] if hidden else "***"


def redacted(secrets: Mapping[str, str], text: str) -> str:
    """Return a provider's text, at most 200 characters, without the secrets that it may repeat."""
    for secret in secrets.values():
        if secret:
            text = text.replace(secret, "***")
    return text[:200]


@dataclass(frozen=True, slots=True)
class Message:
    """The rendered texts, held in memory only: never logged, never stored.

    HTML is for mail. The subject is for mail and push. `parameters` fill the messaging app's approved template.
    """

    text: str
    subject: str = ""
    html: str = ""
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One message for a provider. `sensitive` means that it contains a secret. `unsubscribe_link` is for mail,
    `subject` for pushes, in its public form.
    """

    delivery_id: UUID
    notification_id: UUID
    template: str
    address: str
    message: Message
    sensitive: bool
    device: Device | None = None
    unsubscribe_link: str | None = None
    subject: Mapping[str, str] | None = None
