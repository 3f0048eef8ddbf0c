"""Channels of each template and the effect of user preferences (contract section 12).

A message uses every configured channel of its template that reaches the user and that the user has not switched off.

The messaging app is opt-in: providers forbid unsolicited messages there.

`domain/channels.py` lists the channels of each template. A message uses each of them that is configured, reaches the
user and is not switched off; the feed has one entry. By default `push`, `sms` and `email` are on. `messaging` is off,
because unsolicited messages are forbidden there. `optionalMail: false` stops mails about the progress of an order or
ticket (`_UNSUBSCRIBABLE`), not receipts, refunds, payouts and account mails. PINs, codes and security notices by mail
ignore preferences and quiet hours. Other messages wait until the quiet hours end (`due_at`). deliver-notification
names its channel: if the user explicitly switched it off, the response is 200 with `failed`, and the log has the
reason. `locale` is stored; all texts are English.

- **Push** has one delivery for each device; its recipient is the device id, never the token. A browser's push is
  encrypted (RFC 8291) and signed (RFC 8292). `Topic` and FCM's collapse key are the notification id, so a repetition
  replaces a waiting message. An unregistered device (404 or 410 of a browser; `UNREGISTERED` or an invalid token of
  an app) is deleted without an alert, for no other error. A token that another user registers changes its owner. An
  endpoint needs https, a public name and the default port. Before each call its name is resolved once, every address
  must be public, and the checked address is used; redirects are not followed.
- **A PIN by push** is readable by the browser alone. FCM can read its messages, so a PIN is sent as data for the app,
  never as a system notification, and only after SMS and the messaging app.
- **The messaging app** receives the name of an approved template and its parameters, in the order of
  `domain/approved_templates.py` (`-` for a missing one). The delivery id is sent as `biz_opaque_callback_data`.
- **An error of the messaging app** has a class by its code (`domain/messaging_errors.py`, decision 42), in responses
  and in statuses. A fault of our account pauses the channel for all processes (`provider_pauses`) with one alert: a
  PIN or code uses its next channel at once, other messages wait for at most 24 hours, one is sent every 15 minutes,
  and its status ends the pause; so does `campusctl messaging resume`. A rate limit is retried. A free text outside
  the 24 hours becomes the approved template. A recipient who cannot be reached raises no alert.
- **SMS** has two companies. The second is used when the first is paused or accepted no message
  (`domain/sms_responses.py`). Where the first may have accepted it (a timeout, a server error), only a PIN or code is
  sent by the second: a duplicate is better than none.
- **Mail** reuses at most four connections for each process. Mails about an order or ticket carry `List-Unsubscribe`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, get_args

from contracts.channels import Channel
from notifications.deliveries.domain.deliveries import CLAIM_LIFETIME, RedeliveryPolicy
from notifications.deliveries.domain.quiet_hours import TIMEZONE_DEFAULT, QuietHours
from notifications.deliveries.domain.templates import CATALOG

CHANNELS: Final[tuple[Channel, ...]] = get_args(Channel)
_MAIL_AND_PUSH: Final[tuple[Channel, ...]] = ("email", "push")
_AND_MESSAGING: Final[tuple[Channel, ...]] = ("email", "push", "messaging")

CHANNELS_BY_TEMPLATE: Final[Mapping[str, tuple[Channel, ...]]] = {
    "order_confirmation": _AND_MESSAGING,
    "vendor_dispatch_alert": _AND_MESSAGING,
    "order_to_pack": _MAIL_AND_PUSH,
    "return_request_update": _AND_MESSAGING,
    "order_line_cancelled": _MAIL_AND_PUSH,
    "order_dispatched": _MAIL_AND_PUSH,
    "order_arrived": _MAIL_AND_PUSH,
    "order_delivered": _MAIL_AND_PUSH,
    "return_requested": _MAIL_AND_PUSH,
    "order_cancelled": _MAIL_AND_PUSH,
    "order_expired": _MAIL_AND_PUSH,
    "order_closed_under_review": _MAIL_AND_PUSH,
    "payment_under_review": _MAIL_AND_PUSH,
    "payment_too_low": _MAIL_AND_PUSH,
    "charge_quarantined": ("email",),
    "payment_failed": _MAIL_AND_PUSH,
    "order_completed": _MAIL_AND_PUSH,
    "order_refunded": _MAIL_AND_PUSH,
    "refund_in_balance": _MAIL_AND_PUSH,
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
    "withdrawal_requested": _MAIL_AND_PUSH,
    "withdrawal_paid": _MAIL_AND_PUSH,
    "withdrawal_returned": _MAIL_AND_PUSH,
    "bank_details_changed": _MAIL_AND_PUSH,
    "bank_details_quarantined": _MAIL_AND_PUSH,
    "vendor_application_decided": _MAIL_AND_PUSH,
    "vendor_suspended": _MAIL_AND_PUSH,
    "vendor_reinstated": _MAIL_AND_PUSH,
    "product_delisted": _MAIL_AND_PUSH,
    "product_relisted": _MAIL_AND_PUSH,
    "delivery_pin_ready": _MAIL_AND_PUSH,
    "ticket_reply": _MAIL_AND_PUSH,
    # One for each parcel of a hub.
    "parcel_coming": ("push",),
    # A mail for each of them would be advertising.
    "back_in_stock": ("push",),
    "price_drop": ("push",),
    "new_message": ("push",),
    "credentials_changed": _MAIL_AND_PUSH,
    "api_key_expiring": _MAIL_AND_PUSH,
    "shop_invitation": _MAIL_AND_PUSH,
    "erasure_refused": _MAIL_AND_PUSH,
    "account_erased": ("email",),
    "already_registered": ("email",),
}
# A delivery PIN uses the first channel that reaches the buyer, and the next one without a delivery receipt.
PIN_CHANNELS: Final[tuple[Channel, ...]] = ("sms", "messaging", "push")
# Security notices, and notices of fraud to finance, ignore opt-outs and quiet hours.
_MANDATORY: Final = frozenset(
    {("bank_details_changed", "email"), ("bank_details_quarantined", "email"), ("credentials_changed", "email")}
    | {("already_registered", "email"), ("charge_quarantined", "email"), ("withdrawal_requested", "email")}
)
# Optional mails, with a link to switch them off (RFC 8058): updates of an order or ticket that the app shows as well.
# Codes, security notices, receipts, and everything about money or an account have none.
_UNSUBSCRIBABLE: Final = frozenset(
    {
        "order_dispatched",
        "order_arrived",
        "order_delivered",
        "order_cancelled",
        "order_expired",
        "vendor_dispatch_alert",
        "order_to_pack",
    }
    | {"return_requested", "return_request_update", "ticket_reply"}
)
# Defaults without stored preferences: every channel except the messaging app.
_DEFAULTS: Final[Mapping[str, bool]] = {"push": True, "messaging": False, "sms": True, "email": True}

# Lifetimes of one-time codes (contract section 10). A PIN is valid until it is used or replaced.
_CODE_LIFETIMES: Final[Mapping[object, timedelta]] = {"password_reset": timedelta(minutes=30)}
_CODE_LIFETIME: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences of a user. `channels` holds the explicitly set ones. `optional_mail` is about unsubscribable
    mails.
    """

    channels: Mapping[str, bool] = field(default_factory=dict)
    quiet: QuietHours | None = None
    timezone: str = TIMEZONE_DEFAULT
    locale: str = "en"
    revision: int = 0
    optional_mail: bool = True

    def allows(self, channel: str) -> bool:
        """Return whether ordinary messages may use the channel."""
        return self.channels.get(channel, _DEFAULTS[channel])

    def permits(self, template: str, channel: str) -> bool:
        """Return whether a message of this template may use the channel unasked."""
        return is_mandatory(template, channel) or (self.allows(channel) and not self._unsubscribed(template, channel))

    def opted_out(self, template: str, channel: str) -> bool:
        """Return whether the user explicitly switched messages of this template off on the channel."""
        is_off = self.channels.get(channel) is False or self._unsubscribed(template, channel)
        return is_off and not is_mandatory(template, channel)

    def _unsubscribed(self, template: str, channel: str) -> bool:
        return channel == "email" and not self.optional_mail and is_unsubscribable(template)

    def quiet_hours_for(self, template: str, channel: str) -> QuietHours | None:
        """Return the quiet hours that delay the message; None for a mandatory one."""
        return None if is_mandatory(template, channel) else self.quiet


def is_unsubscribable(template: str) -> bool:
    """Return whether a mail of this template is optional, and offers to switch optional mails off."""
    return template in _UNSUBSCRIBABLE


def is_mandatory(template: str, channel: str) -> bool:
    """Return whether preferences cannot stop or delay the message: PINs, codes and security notices."""
    return CATALOG[template].sensitive or (template, channel) in _MANDATORY


# The messaging app reports an accepted message within seconds, with our id. Minutes allow for a backlog after an
# outage.
_STATUS_WAIT: Final = timedelta(minutes=3)
# A worker that lost its database connection may still record its outcome.
_RECORD_WAIT: Final = timedelta(minutes=2)


def redelivery_policy(template: str, channel: str, *, reports_statuses: bool) -> RedeliveryPolicy:
    """Return the handling of a message whose worker died during the call (docs/decisions/0026).

    Mandatory messages and pushes are sent again; a push replaces itself on the device. The messaging app's messages are
    sent again without a status report, where status webhooks are configured (`reports_statuses`).

    SMS companies and mail servers offer no lookup by our id: their messages are not sent again.
    """
    if is_mandatory(template, channel) or channel == "push":
        return RedeliveryPolicy(CLAIM_LIFETIME, may_redeliver=True)
    if channel == "messaging" and reports_statuses:
        return RedeliveryPolicy(_STATUS_WAIT, may_redeliver=True)
    return RedeliveryPolicy(_RECORD_WAIT, may_redeliver=False)


def secret_lifetime(template: str, purpose: object) -> timedelta | None:
    """Return the validity of a message's secret after its creation; None without a time limit."""
    return _CODE_LIFETIMES.get(purpose, _CODE_LIFETIME) if template in ("one_time_code", "confirm_email") else None


def is_expired(template: str, purpose: object, age: timedelta) -> bool:
    """Return whether a message of this age holds a code that is no longer valid."""
    lifetime = secret_lifetime(template, purpose)
    return lifetime is not None and age >= lifetime
