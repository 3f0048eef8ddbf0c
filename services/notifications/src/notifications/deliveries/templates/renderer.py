"""Rendering of message templates. The texts are in this folder, one set of blocks for each message."""

from collections.abc import Mapping, Sequence
from typing import Final

import jinja2
from markupsafe import Markup

from notifications.deliveries.domain.approved_templates import APPROVED_TEMPLATES, NOT_GIVEN, PARAMETER_MAX
from notifications.deliveries.domain.deliveries import Message
from notifications.deliveries.domain.feed import FeedEntry
from notifications.deliveries.domain.linked_pages import linked_page
from notifications.deliveries.domain.sms_segments import truncate_to_segments
from notifications.deliveries.domain.templates import CATALOG, NUMBERS

# The salutation. A message to a bare address, such as a one-time code, has no name.
RECIPIENT_NAME: Final = "recipientName"
# Shop names of this length keep the longest text message in one segment.
SHORT_MAX: Final = 30
# Control and bidirectional characters, which could alter the display of surrounding text.
_CONTROL_CHARACTERS: Final = (range(9), range(0x0E, 0x1C), range(0x7F, 0x85), range(0x86, 0xA0))
_BIDI_CONTROLS: Final = (range(0x061C, 0x061D), range(0x200E, 0x2010), range(0x202A, 0x202F), range(0x2066, 0x206A))
_INVISIBLE: Final = dict.fromkeys(sign for signs in (*_CONTROL_CHARACTERS, *_BIDI_CONTROLS) for sign in signs)
# The number of an order, payout or ticket in a mail: it is not broken at its hyphen.
_ON_ONE_LINE: Final = Markup('<strong style="white-space:nowrap">{}</strong>')
# The title of a push with the text of the SMS.
PUSH_TITLE: Final = "Campus Marketplace"


class MessageRenderer:
    """The templates of the package, compiled once.

    A missing optional parameter is None, which its template handles. Any other missing name is an error.
    """

    def __init__(self, storefront_url: str = "", console_url: str = "") -> None:
        """Links lead to these origins; mails have no link to a site whose origin is empty."""
        self._origins = {"storefront": storefront_url.rstrip("/"), "console": console_url.rstrip("/")}
        loader = jinja2.PackageLoader("notifications.deliveries", "templates")
        # The package is immutable, so files are not checked for changes.
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
            environment.filters["sign_in_change"] = sign_in_change
        self._html.filters["number"] = _ON_ONE_LINE.format

    def message(self, channel: str, template: str, values: Mapping[str, object]) -> Message:
        """Render the message of a channel: subject and two bodies for mail, a title for push, parameters for the
        messaging app."""
        if channel == "email":
            return self._mail(template, values)
        if channel == "push":
            return self._push(template, values)
        if channel == "messaging":
            names = APPROVED_TEMPLATES[template].parameters
            return Message(text="", parameters=tuple(_approved_parameter(template, name, values) for name in names))
        return Message(text=truncate_to_segments(self._sms(template, values)))

    def _mail(self, template: str, values: Mapping[str, object]) -> Message:
        """Render a mail: the number for people and the link to the page stand in both of its bodies."""
        page, shown = linked_page(template, values), _all_of(template, values)
        origin = self._origins[page.site] if page else ""
        link = {"url": f"{origin}{page.path}", "text": page.text} if page and origin else None
        number = next((shown[name] for name in sorted(NUMBERS) if shown.get(name)), None)
        html = self._html.get_template(f"{template}.html").render(shown, number=number, link=link)
        text, subject = self._blocks(template, values, "text", "subject")
        return Message(
            text=f"{text}\n{link['text']}: {link['url']}\n" if link else text,
            subject=_joined(subject),
            html=html,
        )

    def _push(self, template: str, values: Mapping[str, object]) -> Message:
        """Render the feed's text; a message with a secret uses the text of its SMS."""
        if CATALOG[template].sensitive:
            return Message(text=self._sms(template, values), subject=PUSH_TITLE)
        shown = self.feed_entry(template, values)
        return Message(text=shown.body, subject=shown.title)

    def feed_entry(self, template: str, values: Mapping[str, object]) -> FeedEntry:
        """Render title and body for the app."""
        title, body = self._blocks(template, values, "feed_title", "feed_body")
        return FeedEntry(_joined(title), _joined(body))

    def _blocks(self, template: str, values: Mapping[str, object], *names: str) -> Sequence[str]:
        found = self._plain.get_template(f"{template}.txt")
        context = found.new_context(_all_of(template, values))
        return ["".join(found.blocks[name](context)).strip() + "\n" for name in names]

    def _sms(self, template: str, values: Mapping[str, object]) -> str:
        [text] = self._blocks(template, values, "sms")
        return _joined(text)


def _joined(text: str) -> str:
    """Return one line: values must not start a new header or message."""
    return " ".join(text.split())


def _approved_parameter(template: str, name: str, values: Mapping[str, object]) -> str:
    """Return a value of an approved template: one line, never empty."""
    value, kind = _one_line(values.get(name)), CATALOG[template].parameters.get(name)
    if value is None:
        return NOT_GIVEN
    if kind == "kobo" and isinstance(value, int):
        return naira_text(value)
    return str(value)[:PARAMETER_MAX] or NOT_GIVEN


def _all_of(template: str, values: Mapping[str, object]) -> dict[str, object]:
    return {**dict.fromkeys(CATALOG[template].parameters), **{name: _one_line(values[name]) for name in values}}


def _one_line(value: object) -> object:
    """Join lines and remove invisible characters, so that user input cannot imitate our text."""
    if isinstance(value, str):
        return " ".join(value.translate(_INVISIBLE).split())
    if isinstance(value, list):
        return [{name: _one_line(part) for name, part in line.items()} for line in value]
    return value


def naira_text(amount_minor: int) -> str:
    """Format kobo as `₦1,234.50`."""
    whole, kobo = divmod(amount_minor, 100)
    return f"₦{whole:,}.{kobo:02d}"


def plain_naira_text(amount_minor: int) -> str:
    """Format kobo for a text message: a ₦ would more than halve the length of its segments."""
    return naira_text(amount_minor).replace("₦", "NGN ")


def short(name: str) -> str:
    """Truncate a name for a text message."""
    return name if len(name) <= SHORT_MAX else f"{name[: SHORT_MAX - 3].rstrip()}..."


_SIGN_IN_CHANGES: Final[Mapping[str | None, str]] = {
    "password_changed": "the password was changed",
    "password_reset": "the password was reset",
    "factor_added": "a second factor was added",
    "factor_removed": "a second factor was removed",
    "factor_reset_prepared": "our staff received a report that you lost your second factors, and will remove them in a "
    "day. If you have them, sign in with one now, and write to support",
    "factors_reset": "our staff removed all second factors and ended all sessions",
    "recovery_codes_renewed": "new recovery codes were made",
    "recovery_code_used": "a recovery code was used",
    "phone_changed": "the phone number was changed",
    "api_key_created": "an API key was created",
    "api_key_revoked": "an API key was revoked",
}


def sign_in_change(change: str | None) -> str:
    """Describe the changed part of a user's sign-in."""
    return _SIGN_IN_CHANGES.get(change, "a way to sign in was changed")
