"""Messages of the API in words for people."""

import re
from collections.abc import Mapping
from typing import Any, Final

from console.formats import lagos_text, naira, spoken
from console.roles import role_words

_KOBO: Final = re.compile(r"(?<![0-9.,])(-?[0-9]{1,3}(?:,[0-9]{3})+|-?[0-9]{1,17}) kobo\b")
_FIELD: Final = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]*)+\b")
_CODE: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_INSTANT: Final = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?Z")
_BOUND: Final = re.compile(r"(must be (?:at least|at most|more than|less than)) (-?[0-9]+)")
_SENTENCES: Final = (
    (r"Field required|(?:String|Data) should have at least 1 character", "is needed"),
    (r"String should have at least ([0-9]+) characters", r"needs at least \1 characters"),
    (r"String should have at most ([0-9]+) characters?", r"has more than \1 characters"),
    (r"[A-Z]\w+ should have at least 1 item.*", "choose at least one"),
    (r"[A-Z]\w+ should have at most ([0-9]+) items?.*", r"choose at most \1"),
    (r"Input should be greater than or equal to (\S+)", r"must be at least \1"),
    (r"Input should be less than or equal to (\S+)", r"must be at most \1"),
    (r"Input should be greater than (\S+)", r"must be more than \1"),
    (r"Input should be less than (\S+)", r"must be less than \1"),
    (r"Input should be a valid (?:integer|number|decimal).*", "must be a number"),
    (r"must be an ISO 8601 time .*", "must be a date such as 2026-01-31"),
    (r"Input should be a valid (?:date|time).*", "must be a date, with its time where one is needed"),
    (r"Input should be '.*", "must be one of the choices"),
    (r"value is not a valid email address.*", "must be a complete mail address"),
    (
        r"Input should be .*|(?i:.*(?:should|must) match (?:the )?pattern\b.*)|.*\^.*\$.*",
        "has another form than is needed",
    ),
)
"""What the API's checks of a field say, and the sentence that says what to do."""
_CHECKS: Final = tuple((re.compile(found), sentence) for found, sentence in _SENTENCES)


def field_words(name: str) -> str:
    """Return a field's name in words: `deliveries[0].hubId` as `hub`, `amountMinor` as `amount`."""
    last = re.sub(r"\[[0-9]+\]$", "", name).rpartition(".")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", last).replace("_", " ").replace("-", " ").lower().split()
    kept = [word for word in words if word not in ("minor", "id")] or words
    return " ".join(kept) or "form"


def detail_words(detail: Mapping[str, Any]) -> str:
    """Return the facts of an action in words: amounts in naira, without ids of machines."""
    shown = [
        f"{field_words(name)}: {naira(value) if name.endswith('Minor') else plain_message(str(value))}"
        for name, value in detail.items()
        if value is not None and not name.endswith("Id")
    ]
    return ", ".join(shown)


def plain_message(text: str | None) -> str:
    """Return a message of the API for people: naira for kobo, words for codes and names of fields, Lagos time for
    instants, a sentence for a check of a field.
    """
    message = _KOBO.sub(lambda found: naira(int(found[1].replace(",", ""))), text or "")
    message = _INSTANT.sub(lambda found: lagos_text(found[0]), message)
    for check, sentence in _CHECKS:
        if found := check.fullmatch(message):
            return found.expand(sentence)
    return _CODE.sub(lambda found: spoken(found[0]), _FIELD.sub(lambda found: field_words(found[0]), message))


def field_message(name: str, reason: str | None) -> str:
    """Return why the API refused a field, in words: the bound of an amount in naira."""
    message = plain_message(reason)
    bound = _BOUND.fullmatch(message) if name.endswith("Minor") else None
    return f"{bound[1]} {naira(int(bound[2]))}" if bound else message


FILTERS: Final[dict[str, Any]] = {
    "field_words": field_words,
    "plain_message": plain_message,
    "role_words": role_words,
}
