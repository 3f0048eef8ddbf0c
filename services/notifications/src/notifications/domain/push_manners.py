"""How long a push waits for a device that is away, and whether it may wake a sleeping one (RFC 8030, sections 5.2 and 5.3)."""

from dataclasses import dataclass
from typing import Final, Literal

DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class Manners:
    """`ttl_seconds`: after it nobody wants the message any more."""

    ttl_seconds: int
    urgency: Literal["normal", "high"]


_MANNERS: Final = {
    # Worth nothing after ten minutes, or wanted while two people stand face to face.
    "one_time_code": Manners(600, "high"),
    "delivery_pin": Manners(3_600, "high"),
    "vendor_dispatch_alert": Manners(DAY_SECONDS, "high"),
    "bank_details_changed": Manners(7 * DAY_SECONDS, "high"),
    "bank_details_quarantined": Manners(7 * DAY_SECONDS, "high"),
}
_USUAL: Final = Manners(DAY_SECONDS, "normal")


def manners_of(template: str) -> Manners:
    """The manners of a message."""
    return _MANNERS.get(template, _USUAL)
