"""How values are shown: naira with kobo, Lagos time with the exact instant, states as badges."""

import re
from datetime import UTC, date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

LAGOS: Final = ZoneInfo("Africa/Lagos")
NOTHING: Final = "\N{EN DASH}"
"""An absent value."""
FORMER: Final = "former colleague"
"""Who did something and is no member of the staff any more."""
_NOTHING: Final = Markup("\N{EN DASH}")

_GOOD: Final = frozenset(
    [
        "paid",
        "delivered",
        "processed",
        "approved",
        "clean",
        "active",
        "refunded",
        "succeeded",
        "released",
        "read",
        "sent",
        "won",
        "closed",
        "posted",
        "settled",
        "success",
        "accepted",
        "enabled",
        "live",
    ]
)
_BAD: Final = frozenset(
    [
        "failed",
        "disputed",
        "broken",
        "expired",
        "cancelled",
        "rejected",
        "bounced",
        "lost",
        "suspended",
        "sold out",
        "sev-1",
        "dead",
        "open_dispute",
        "reversed",
        "revoked",
        "disabled",
    ]
)
_WAITING: Final = frozenset(
    [
        "low",
        "processing",
        "pending",
        "proposed",
        "prepared",
        "quarantined",
        "refund_pending",
        "queued",
        "open",
        "waiting",
        "submitted",
        "in_flight",
        "held",
        "sev-2",
        "opened",
        "expires soon",
    ]
)


def naira(minor: int | None) -> str:
    """Return an amount of kobo as ₦1,234.50."""
    if minor is None:
        return NOTHING
    sign = "-" if minor < 0 else ""
    whole, kobo = divmod(abs(minor), 100)
    return f"{sign}₦{whole:,}.{kobo:02d}"


_UNITS: Final = ((10**9, "B"), (10**6, "M"), (10**3, "K"))


def naira_short(minor: int) -> str:
    """Return an amount of kobo as the axis of a chart writes it: ₦96.3M, ₦1.2K, ₦950."""
    sign, whole = "-" if minor < 0 else "", (abs(minor) + 50) // 100
    for size, unit in _UNITS:
        # What rounds up to 1,000K is 1M.
        if whole * 2000 >= size * 1999:
            tenths = (whole * 10 + size // 2) // size
            return f"{sign}₦{tenths // 10}{f'.{tenths % 10}' if tenths % 10 else ''}{unit}"
    return f"{sign}₦{whole}"


def naira_typed(minor: int | None) -> str:
    """Return an amount of kobo as a form field holds it: 1234.50."""
    return "" if minor is None else f"{minor // 100}.{minor % 100:02d}"


def instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def lagos_text(at: str, shown: str = "%-d %b %Y, %H:%M") -> str:
    """Return an instant of the API as Lagos time."""
    return datetime.fromisoformat(at).astimezone(LAGOS).strftime(shown)


_LINE_ENDS: Final = Markup(", <wbr>")
"""The one place where an instant breaks into lines: between its date and its time."""


def element(name: str, content: object, **attributes: str) -> Markup:
    """Return an HTML element; content and values are escaped. `Markup.format` took a third of a list's time."""
    # A keyword of Python ends with an underscore as a parameter, and a dash is one: `class_`, `data_copy`.
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>{escape(content)}</{name}>")  # noqa: S704 - every part is escaped here


def thumbnail(url: str | None) -> Markup:
    """Return the small form of a product's image, beside the product's name."""
    return Markup(f'<img class="thumbnail" src="{escape(url)}/thumbnail" alt="" loading="lazy">')  # noqa: S704


def lagos(text: str | None, shown: str = "%-d %b %Y, %H:%M") -> Markup:
    """Return an instant of the API as Lagos time; the exact instant is its title."""
    if not text:
        return _NOTHING
    parts = lagos_text(text, shown).split(", ")
    return element("time", _LINE_ENDS.join(parts), datetime=text, title=f"{text} (UTC)")


def lagos_seconds(text: str | None) -> Markup:
    """Return an instant as Lagos time with its second, for the sequence of events."""
    return lagos(text, "%-d %b %Y, %H:%M:%S")


def day(text: str | None) -> str:
    """Return a day of the API, `2026-12-01`, as Tuesday 1 December."""
    return NOTHING if text is None else f"{date.fromisoformat(text):%A %-d %B}"


def ago(text: str | None) -> Markup:
    """How long ago an instant was, or how long until it comes; the exact instant is its title."""
    at = instant(text)
    if at is None:
        return _NOTHING
    seconds = int((datetime.now(UTC) - at).total_seconds())
    length = duration(abs(seconds))
    words = f"{length} ago" if seconds >= 0 else f"in {length}"
    return element("time", words, datetime=text or "", title=f"{text} (UTC)")


def left(text: str | None) -> Markup:
    """Return the time until a deadline, as a badge: overdue, less than an hour, or more."""
    at = instant(text)
    if at is None:
        return _NOTHING
    seconds = int((at - datetime.now(UTC)).total_seconds())
    tone = "bad" if seconds < 0 else "waiting" if seconds < 3600 else "plain"
    words = f"overdue by {duration(-seconds)}" if seconds < 0 else f"{duration(seconds)} left"
    return element("time", words, class_=f"badge {tone}", datetime=text or "", title=f"{text} (UTC)")


def duration(seconds: int) -> str:
    """Return a length of time in its two largest units."""
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            rest = seconds % size
            smaller = {"d": (3_600, "h"), "h": (60, "min"), "min": (1, "s")}[name]
            more = rest // smaller[0]
            return f"{seconds // size} {name}" + (f" {more} {smaller[1]}" if more else "")
    return f"{seconds} s"


STATE_WORDS: Final = {
    # orders
    "processing": "unpaid",
    "expired": "not paid in time",
    "paid_escrow": "paid, not sent",
    "dispatched": "on its way",
    "refund_pending": "refund under way",
    # payouts and their transfers
    "processed": "paid",
    "planned": "to be sent",
    "reserved": "to be sent",
    "submitting": "being sent",
    "success": "arrived",
    "reversed": "came back",
    "blocked": "stopped by the bank",
    "abandoned": "given up by the bank",
    # refunds and decisions
    "submitted": "at the gateway",
    "settled": "paid back",
    "prepared": "waits for a second person",
    "quarantined": "in quarantine",
    "paid_out": "paid out",
}
"""The words of the API's states for people, one for each; any other state is an ordinary word."""


def state_words(word: str | None) -> str:
    """Return a state of the API in words for people."""
    return STATE_WORDS.get((word or "").lower()) or spoken(word)


def spoken(word: str | None) -> str:
    """Return a word of the API for people: `refund_pending` as `refund pending`."""
    return re.sub(r"\bpin\b", "PIN", (word or NOTHING).replace("_", " "))


class FinerState(str):
    """A state for people that says more than the API's word, which `api_word` has."""

    __slots__ = ("api_word",)

    api_word: str

    def __new__(cls, state: str, api_word: str) -> "FinerState":
        """Return the state."""
        made = super().__new__(cls, state)
        made.api_word = api_word
        return made


def badge(word: str | None) -> Markup:
    """Return a state as a badge; the API's word is its title. Its color repeats what the word says."""
    key = (word or "").lower()
    tone = "good" if key in _GOOD else "bad" if key in _BAD else "waiting" if key in _WAITING else "plain"
    shown, api_word = state_words(word), word.api_word if isinstance(word, FinerState) else word
    hover = {"title": api_word} if api_word and shown != api_word else {}
    return element("span", shown, class_=f"badge {tone}", **hover)


def short_id(text: str | None) -> Markup:
    """Return the last eight characters of an id; the whole is its title. Ids of one minute begin alike: they start with
    their time.
    """
    return element("code", text[-8:], title=text) if text else _NOTHING


_LAST_DIGITS: Final = re.compile("\N{HORIZONTAL ELLIPSIS}[0-9]{4}")
_ACCOUNT_END: Final = 5
_PUBLIC_NUMBER: Final = re.compile(r"[A-Z]{2}(?:-[0-9A-Z]{4}){2}")


_REFERENCE: Final = re.compile(r"\b(ch|po|re|wd)-[0-9a-f]{24}([0-9a-f]{8})\b")
"""Of a charge, transfer, refund or withdrawal at the gateway (contract section 8.4)."""
_NUMBER_OR_IDENTIFIER: Final = re.compile(
    r"\b(?P<number>[A-Z]{2}(?:-[0-9A-Z]{4}){2})\b|\b(?=[A-Za-z])(?=[\w./@:,-]*[_./-]\w)[\w./@:,-]{10,}"
)
_SEPARATORS: Final = re.compile(r"([_./@,-]+)(?=[^_./@,-])")
_LONG: Final = 10
"""A shorter word fits into every column."""


def text(value: object, *, is_linked: bool = False) -> str:
    """Return a value as text. A number for people, such as PO-T6N0-0JS8, and the end of an account stay on one line.
    A reference of a gateway is shown by its end, and an identifier of machines breaks at its separators alone.
    Inside of a link a reference is no button.
    """
    if isinstance(value, Markup):
        return value
    shown = str(value)
    if _PUBLIC_NUMBER.fullmatch(shown):
        return element("span", shown, class_="whole")
    bank, end = shown[:-_ACCOUNT_END], shown[-_ACCOUNT_END:]
    if _LAST_DIGITS.fullmatch(end):
        return element("span", escape(bank) + element("span", end, class_="whole"))
    return _with_identifiers(shown, is_linked) if len(shown) >= _LONG else shown


def _with_identifiers(shown: str, is_linked: bool) -> str:
    """Return a text, one element where it has numbers for people, references or identifiers."""
    done, place = Markup(), 0
    for found in _NUMBER_OR_IDENTIFIER.finditer(shown):
        done += escape(shown[place : found.start()])
        if found["number"]:
            done += element("span", found[0], class_="whole")
        elif one := _REFERENCE.search(found[0]):
            done += escape(found[0][: one.start()]) + reference(one[0], is_linked=is_linked)
            done += escape(found[0][one.end() :])
        else:
            done += identifier(found[0])
        place = found.end()
    return element("span", done + escape(shown[place:])) if place else shown


def identifier(name: str) -> Markup:
    """Return a name of machines, such as a setting or an address, which breaks at its separators alone."""
    pieces = _SEPARATORS.sub(lambda found: f"{found[1]}\0", name).split("\0")
    return element("span", Markup("<wbr>").join(pieces), class_="identifier")


def reference(text: str, *, is_linked: bool = False) -> Markup:
    """Return a long reference by its end, linked or as a button that copies the whole, which paper shows."""
    found = _REFERENCE.fullmatch(text)
    if found is None:
        return element("code", identifier(text))
    short = f"{found[1]}-\N{HORIZONTAL ELLIPSIS}{found[2]}"
    if is_linked:
        return element("code", short, title=text, class_="whole")
    button = element("button", short, type="button", class_="reference", data_copy=text, title=f"Copy {text}")
    return element("code", text, class_="on-paper") + button


def days_since(text: str | None) -> str:
    """Return how many whole days ago an instant was: today, 1 day, 12 days."""
    at = instant(text)
    if at is None:
        return NOTHING
    days = (datetime.now(UTC) - at).days
    return "today" if days < 1 else f"{days} day{'s' if days > 1 else ''}"


def lines(text: str | None) -> Markup:
    """Return a text of several lines."""
    return Markup("<br>").join(escape(line) for line in (text or "").splitlines())


FILTERS: Final[dict[str, Any]] = {
    "naira": naira,
    "naira_typed": naira_typed,
    "lagos": lagos,
    "lagos_seconds": lagos_seconds,
    "day": day,
    "ago": ago,
    "left": left,
    "spoken": spoken,
    "state_words": state_words,
    "days_since": days_since,
    "badge": badge,
    "short_id": short_id,
    "text": text,
    "identifier": identifier,
    "lines": lines,
}
