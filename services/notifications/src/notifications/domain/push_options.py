"""How long a push waits for a device that is away, and whether it may wake a sleeping one (RFC 8030, sections 5.2 and 5.3)."""

from dataclasses import dataclass
from typing import Final, Literal

DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class PushOptions:
    """`ttl_seconds`: after it nobody wants the message any more."""

    ttl_seconds: int
    urgency: Literal["normal", "high"]


_PUSH_OPTIONS: Final = {
    # Worth nothing after ten minutes, or wanted while two people stand face to face.
    "one_time_code": PushOptions(600, "high"),
    "delivery_pin": PushOptions(3_600, "high"),
    "vendor_dispatch_alert": PushOptions(DAY_SECONDS, "high"),
    "bank_details_changed": PushOptions(7 * DAY_SECONDS, "high"),
    "bank_details_quarantined": PushOptions(7 * DAY_SECONDS, "high"),
}
_USUAL: Final = PushOptions(DAY_SECONDS, "normal")


def push_options(template: str) -> PushOptions:
    """The manners of a message."""
    return _PUSH_OPTIONS.get(template, _USUAL)
