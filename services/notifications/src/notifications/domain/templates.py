"""Every message that is told, as a table: by which channels, from which parameters, and which of them are secret.

The words themselves are in `templates/`; a message of this table and its words are checked against each other by a test.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from common.problems import InvalidParam, ValidationFailed

Kind = Literal["text", "kobo", "lines", "purpose"]

TEXT_MAX: Final = 500
LINES_MAX: Final = 100
# The sum of what a text of ten SMS parts can hold is far above these digits or letters.
SECRET_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class Template:
    """One message: `secrets` are sealed until the moment of sending; `in_feed` says whether the app shows it too."""

    channels: frozenset[str]
    parameters: Mapping[str, Kind]
    secrets: frozenset[str] = field(default_factory=frozenset)
    in_feed: bool = True

    @property
    def sensitive(self) -> bool:
        return bool(self.secrets)


_MAIL: Final = frozenset({"email"})

CATALOG: Final[Mapping[str, Template]] = {
    "order_confirmation": Template(
        _MAIL,
        {"orderId": "text", "businessName": "text", "totalMinor": "kobo", "deliveryFeeMinor": "kobo", "items": "lines"},
    ),
    "vendor_dispatch_alert": Template(_MAIL, {"orderId": "text", "businessName": "text", "items": "lines"}),
    "order_dispatched": Template(_MAIL, {"orderId": "text", "businessName": "text"}),
    "order_delivered": Template(_MAIL, {"orderId": "text", "businessName": "text"}),
    "delivery_pin": Template(frozenset({"sms"}), {"orderId": "text"}, secrets=frozenset({"pin"})),
    "delivery_pin_ready": Template(_MAIL, {"orderId": "text"}),
    "payout_processed": Template(_MAIL, {"payoutId": "text", "businessName": "text", "amountMinor": "kobo"}),
    "payout_delayed": Template(
        _MAIL, {"payoutId": "text", "businessName": "text", "amountMinor": "kobo", "cause": "text"}
    ),
    "bank_details_changed": Template(_MAIL, {"businessName": "text", "last4": "text"}),
    "one_time_code": Template(
        frozenset({"sms", "email"}), {"purpose": "purpose"}, secrets=frozenset({"code"}), in_feed=False
    ),
}


def template_of(name: str, channel: str) -> Template:
    """The message of that name; raises ValidationFailed when there is none, or none by this channel."""
    template = CATALOG.get(name)
    if template is None:
        raise ValidationFailed.of("template", f"must be one of: {', '.join(sorted(CATALOG))}")
    if channel not in template.channels:
        raise ValidationFailed.of("channel", f"{name} goes by: {', '.join(sorted(template.channels))}")
    return template


def check_parameters(template: Template, values: Mapping[str, object]) -> None:
    """Raises ValidationFailed with every parameter that is missing, unknown or of another kind."""
    secrets = dict.fromkeys(template.secrets, "secret")
    kinds: Mapping[str, str] = {**template.parameters, **secrets}
    faults = [
        InvalidParam(f"data.{name}", "is not a parameter of this template") for name in values if name not in kinds
    ]
    for name, kind in kinds.items():
        if name not in values:
            faults.append(InvalidParam(f"data.{name}", "is required by this template"))
        elif not _fits(kind, values[name]):
            faults.append(InvalidParam(f"data.{name}", _WANTED[kind]))
    if faults:
        named = ", ".join(fault.name for fault in faults)
        raise ValidationFailed(f"Not valid: {named}.", invalid_params=faults)


_WANTED: Final[Mapping[str, str]] = {
    "text": f"must be a text of 1 to {TEXT_MAX} characters",
    "kobo": "must be an integer in kobo, not below 0",
    "lines": "must be a list of {name, quantity, lineTotalMinor}",
    "purpose": "must be sign_in or password_reset",
    "secret": f"must be a text of 1 to {SECRET_MAX} characters",
}


def _fits(kind: str, value: object) -> bool:
    if kind == "kobo":
        return _is_count(value)
    if kind == "lines":
        return isinstance(value, list) and len(value) <= LINES_MAX and all(_is_line(line) for line in value)
    if kind == "purpose":
        return value in ("sign_in", "password_reset")
    longest = SECRET_MAX if kind == "secret" else TEXT_MAX
    return isinstance(value, str) and 0 < len(value) <= longest


def _is_line(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"name", "quantity", "lineTotalMinor"}
        and _fits("text", value["name"])
        and _is_count(value["quantity"])
        and _is_count(value["lineTotalMinor"])
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def names_to_seal(template: Template, *, sensitive: bool) -> frozenset[str]:
    """The parameters that are stored sealed: a message's own secrets; or, of one without, every text when its sender says so."""
    if template.sensitive or not sensitive:
        return template.secrets
    return frozenset(name for name, kind in template.parameters.items() if kind == "text")
