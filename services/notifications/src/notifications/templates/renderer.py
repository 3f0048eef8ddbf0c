"""From a template and its values to the words that go out. The texts stand beside this file, one of blocks for each message."""

from collections.abc import Mapping
from typing import Final

import jinja2

from notifications.domain.approved_templates import APPROVED, NOT_GIVEN, PARAMETER_MAX
from notifications.domain.deliveries import FeedLine, Message
from notifications.domain.templates import CATALOG
from notifications.domain.text_messages import cut_to_parts

# Every text starts with how the user is greeted; a message to a bare address (a one-time code) greets nobody by name.
GREETED: Final = "recipientName"
# Enough to know a shop by; the longest text message still fits into one part with it.
SHORT_MAX: Final = 30
# Signs that nobody sees: they command a terminal or an old telephone, or turn the order of what stands beside them.
_COMMANDS: Final = (range(9), range(0x0E, 0x1C), range(0x7F, 0x85), range(0x86, 0xA0))
_TURNS: Final = (range(0x061C, 0x061D), range(0x200E, 0x2010), range(0x202A, 0x202F), range(0x2066, 0x206A))
_UNSEEN: Final = dict.fromkeys(sign for signs in (*_COMMANDS, *_TURNS) for sign in signs)
# The title of a push whose words are the text message's.
PUSH_TITLE: Final = "Campus Marketplace"


class MessageRenderer:
    """The templates of the package, compiled once.

    A parameter that was not given is None, and its template has words for that; any other name is a fault, never an empty
    place in a mail.
    """

    def __init__(self) -> None:
        loader = jinja2.PackageLoader("notifications", "templates")
        # The package does not change under a running process: its files are not looked at again for each message.
        shared = {
            "loader": loader,
            "undefined": jinja2.StrictUndefined,
            "trim_blocks": True,
            "lstrip_blocks": True,
            "auto_reload": False,
        }
        self._plain = jinja2.Environment(autoescape=False, **shared)  # type: ignore[arg-type]  # noqa: S701 - text, not HTML
        self._html = jinja2.Environment(autoescape=True, **shared)  # type: ignore[arg-type]
        for environment in (self._plain, self._html):
            environment.filters["naira"] = naira_text
            environment.filters["plain_naira"] = plain_naira_text
            environment.filters["short"] = short
            environment.filters["order_number"] = order_number
            environment.filters["sign_in_change"] = sign_in_change

    def message(self, channel: str, template: str, values: Mapping[str, object]) -> Message:
        """The message for a channel: mail has a subject and two bodies, a push a title, the messaging app parameters."""
        if channel == "email":
            html = self._html.get_template(f"{template}.html").render(_all_of(template, values))
            return Message(
                text=self._block(template, "text", values), subject=self._line(template, "subject", values), html=html
            )
        if channel == "push":
            return self._push(template, values)
        if channel == "messaging":
            return Message(text="", parameters=tuple(_told(template, name, values) for name in APPROVED[template]))
        return Message(text=cut_to_parts(self._line(template, "sms", values)))

    def _push(self, template: str, values: Mapping[str, object]) -> Message:
        """What the app shows; a message with a secret says it, as its text message does."""
        if CATALOG[template].sensitive:
            return Message(text=self._line(template, "sms", values), subject=PUSH_TITLE)
        shown = self.feed_line(template, values)
        return Message(text=shown.body, subject=shown.title)

    def feed_line(self, template: str, values: Mapping[str, object]) -> FeedLine:
        """What the app shows."""
        return FeedLine(self._line(template, "feed_title", values), self._line(template, "feed_body", values))

    def _block(self, template: str, block: str, values: Mapping[str, object]) -> str:
        found = self._plain.get_template(f"{template}.txt")
        return "".join(found.blocks[block](found.new_context(_all_of(template, values)))).strip() + "\n"

    def _line(self, template: str, block: str, values: Mapping[str, object]) -> str:
        """One line: what a value brings along must not begin a new header or a new message."""
        return " ".join(self._block(template, block, values).split())


def _told(template: str, name: str, values: Mapping[str, object]) -> str:
    """A value as it stands in an approved text: one line, never empty."""
    value, kind = _one_line(values.get(name)), CATALOG[template].parameters.get(name)
    if value is None:
        return NOT_GIVEN
    if kind == "kobo" and isinstance(value, int):
        return naira_text(value)
    text = order_number(str(value)) if name in ("orderId", "payoutId", "ticketId") else str(value)
    return text[:PARAMETER_MAX] or NOT_GIVEN


def _all_of(template: str, values: Mapping[str, object]) -> dict[str, object]:
    return {**dict.fromkeys(CATALOG[template].parameters), **{name: _one_line(values[name]) for name in values}}


def _one_line(value: object) -> object:
    """What people wrote, in one line and in the order in which it is read: a shop's name must not look like words of ours."""
    if isinstance(value, str):
        return " ".join(value.translate(_UNSEEN).split())
    if isinstance(value, list):
        return [{name: _one_line(part) for name, part in line.items()} for line in value]
    return value


def naira_text(amount_minor: int) -> str:
    """Kobo as people read money: `₦1,234.50`."""
    whole, kobo = divmod(amount_minor, 100)
    return f"₦{whole:,}.{kobo:02d}"


def plain_naira_text(amount_minor: int) -> str:
    """The same for a text message: a ₦ would make each of its parts less than half as long."""
    return naira_text(amount_minor).replace("₦", "NGN ")


def short(name: str) -> str:
    """A name as a text message has room for it."""
    return name if len(name) <= SHORT_MAX else f"{name[: SHORT_MAX - 3].rstrip()}..."


_SIGN_IN_CHANGES: Final[Mapping[str | None, str]] = {
    "password_changed": "the password was changed",
    "password_reset": "the password was set anew",
    "factor_added": "a second factor was added",
    "factor_removed": "a second factor was removed",
    "recovery_codes_renewed": "new recovery codes were made",
    "recovery_code_used": "a recovery code was used",
    "phone_changed": "the phone number was changed",
}


def sign_in_change(change: str | None) -> str:
    """What of a person's sign-in is another, in words."""
    return _SIGN_IN_CHANGES.get(change, "what you sign in with was changed")


def order_number(identifier: str) -> str:
    """The end of an id, short enough to be said on the telephone."""
    return identifier.replace("-", "")[-8:].upper()
