"""Which message goes by which channels, and what a person's wishes change about it (contract section 12).

A message of ours goes by every channel of its line that has a provider, that reaches the person and that they did not switch
off. The messaging app is for those who asked for it: telephone numbers may not be written to there unasked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from notifications.domain.deliveries import CLAIM_LIFE, Channel, RedeliveryPolicy
from notifications.domain.quiet_hours import TIMEZONE_DEFAULT, QuietHours
from notifications.domain.templates import CATALOG

CHANNELS: Final[tuple[Channel, ...]] = ("push", "messaging", "sms", "email")
_MAIL_AND_PUSH: Final[tuple[Channel, ...]] = ("email", "push")
_AND_MESSAGING: Final[tuple[Channel, ...]] = ("email", "push", "messaging")

CHANNELS_BY_TEMPLATE: Final[Mapping[str, tuple[Channel, ...]]] = {
    "order_confirmation": _AND_MESSAGING,
    "vendor_dispatch_alert": _AND_MESSAGING,
    "return_request_update": _AND_MESSAGING,
    "order_dispatched": _MAIL_AND_PUSH,
    "order_delivered": _MAIL_AND_PUSH,
    "return_requested": _MAIL_AND_PUSH,
    "order_cancelled": _MAIL_AND_PUSH,
    "order_expired": _MAIL_AND_PUSH,
    "order_closed_under_review": _MAIL_AND_PUSH,
    "payment_under_review": _MAIL_AND_PUSH,
    "payment_failed": _MAIL_AND_PUSH,
    "order_completed": _MAIL_AND_PUSH,
    "order_refunded": _MAIL_AND_PUSH,
    "refund_on_its_way": _MAIL_AND_PUSH,
    "refund_settled": _MAIL_AND_PUSH,
    "refund_failed": _MAIL_AND_PUSH,
    "dispute_opened": _MAIL_AND_PUSH,
    "dispute_resolved": _MAIL_AND_PUSH,
    "chargeback_opened": _MAIL_AND_PUSH,
    "chargeback_decided": _MAIL_AND_PUSH,
    "payout_failed": _MAIL_AND_PUSH,
    "payout_reversed": _MAIL_AND_PUSH,
    "payout_processed": _MAIL_AND_PUSH,
    "payout_delayed": _MAIL_AND_PUSH,
    "bank_details_changed": _MAIL_AND_PUSH,
    "bank_details_quarantined": _MAIL_AND_PUSH,
    "vendor_application_decided": _MAIL_AND_PUSH,
    "vendor_suspended": _MAIL_AND_PUSH,
    "vendor_reinstated": _MAIL_AND_PUSH,
    "delivery_pin_ready": _MAIL_AND_PUSH,
    "ticket_reply": _MAIL_AND_PUSH,
    "credentials_changed": _MAIL_AND_PUSH,
    "erasure_refused": _MAIL_AND_PUSH,
    "account_erased": ("email",),
    "already_registered": ("email",),
}
# A delivery PIN goes by the first of these that reaches the buyer, and by the next when nobody says that it arrived.
PIN_CHANNELS: Final[tuple[Channel, ...]] = ("sms", "messaging", "push")
# What a thief would switch off, or hope that it waits until morning.
_ALWAYS: Final = frozenset(
    {("bank_details_changed", "email"), ("bank_details_quarantined", "email"), ("credentials_changed", "email")}
    | {("already_registered", "email")}
)
# Without a word of the person, everything but the messaging app is on.
_UNASKED: Final[Mapping[str, bool]] = {"push": True, "messaging": False, "sms": True, "email": True}

# A one-time code is worth nothing afterwards (contract section 10); a PIN lives until it is used or replaced.
_CODE_LIVES: Final[Mapping[object, timedelta]] = {"password_reset": timedelta(minutes=30)}
_CODE_LIFE: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a person said. `said` holds the channels they spoke of."""

    said: Mapping[str, bool] = field(default_factory=dict)
    quiet: QuietHours | None = None
    timezone: str = TIMEZONE_DEFAULT
    locale: str = "en"
    revision: int = 0

    def wants(self, channel: str) -> bool:
        """Whether a message of ours goes by the channel."""
        return self.said.get(channel, _UNASKED[channel])

    def refuses(self, channel: str) -> bool:
        """Whether the person switched the channel off, in so many words."""
        return self.said.get(channel) is False

    def quiet_for(self, template: str, channel: str) -> QuietHours | None:
        """The quiet hours that the message must wait for."""
        return None if goes_always(template, channel) else self.quiet


def goes_always(template: str, channel: str) -> bool:
    """Whether nobody's wish stops or delays the message: PINs and codes, and news of the bank account by mail."""
    return CATALOG[template].sensitive or (template, channel) in _ALWAYS


# The messaging app tells of a message that it took within seconds, with our id of it; the minutes are for our own queue, should
# it be long after a death. Who waits that long knows.
_STATUS_WAIT: Final = timedelta(minutes=3)
# Nothing is lost by waiting where nothing will be sent: a worker whose database was away may yet record what it did.
_RECORD_WAIT: Final = timedelta(minutes=2)


def redelivery_policy(template: str, channel: str, *, reports_statuses: bool) -> RedeliveryPolicy:
    """What becomes of a message that may have gone out when its worker died (docs/decisions/0026).

    What goes always is sent again: better twice than never. A push is sent again: it replaces itself on the device. The messaging
    app's are sent again when no status spoke of them, where statuses are heard (`hears_statuses`). No company of text messages
    and no mail server knows a message by our id: what they may have is not sent again.
    """
    if goes_always(template, channel) or channel == "push":
        return RedeliveryPolicy(CLAIM_LIFE, goes_again=True)
    if channel == "messaging" and reports_statuses:
        return RedeliveryPolicy(_STATUS_WAIT, goes_again=True)
    return RedeliveryPolicy(_RECORD_WAIT, goes_again=False)


def life_of_secret(template: str, purpose: object) -> timedelta | None:
    """How long after its writing the secret of a message opens something; None when no clock ends it."""
    return _CODE_LIVES.get(purpose, _CODE_LIFE) if template in ("one_time_code", "confirm_email") else None
