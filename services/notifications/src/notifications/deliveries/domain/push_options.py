"""Time to live and urgency of a push (RFC 8030, sections 5.2 and 5.3)."""

from dataclasses import dataclass
from typing import Final, Literal

DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class PushOptions:
    """`ttl_seconds` bounds how long the push service stores the message for an offline device."""

    ttl_seconds: int
    urgency: Literal["normal", "high"]


_PUSH_OPTIONS: Final = {
    # Codes expire after ten minutes; a PIN is needed at the handover.
    "one_time_code": PushOptions(600, "high"),
    "delivery_pin": PushOptions(3_600, "high"),
    "vendor_dispatch_alert": PushOptions(DAY_SECONDS, "high"),
    "order_to_pack": PushOptions(DAY_SECONDS, "high"),
    "bank_details_changed": PushOptions(7 * DAY_SECONDS, "high"),
    "withdrawal_requested": PushOptions(7 * DAY_SECONDS, "high"),
    "bank_details_quarantined": PushOptions(7 * DAY_SECONDS, "high"),
}
_USUAL: Final = PushOptions(DAY_SECONDS, "normal")


def push_options(template: str) -> PushOptions:
    """Return time to live and urgency of a template."""
    return _PUSH_OPTIONS.get(template, _USUAL)
