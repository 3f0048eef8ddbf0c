"""Comparison of our approved templates with those that the messaging app has registered.

| State | Meaning | `push` |
|---|---|---|
| `approved` | can be sent with our text | does nothing |
| `pending` | under review, or in appeal | does nothing; a template under review cannot be changed |
| `rejected` | the reviewer rejected our present text; the reason is shown | does nothing: the text must change |
| `differs` | registered with another text or category, and not under review | replaces it, which starts a review |
| `unavailable` | paused, disabled or being deleted by the provider | replaces a paused one with another text only |
| `missing` | not registered in this language | registers it |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

State = Literal["approved", "pending", "rejected", "differs", "unavailable", "missing"]

_UNDER_REVIEW: Final = frozenset({"PENDING", "IN_APPEAL"})
_EDITABLE: Final = frozenset({"APPROVED", "REJECTED", "PAUSED"})
_NO_REASON: Final = frozenset({"", "NONE"})


@dataclass(frozen=True, slots=True)
class RegisteredTemplate:
    """A template of the provider's list, with texts as reported."""

    template_id: str
    name: str
    language: str
    category: str
    status: str
    reason: str
    body: str


@dataclass(frozen=True, slots=True)
class TemplateState:
    """One of our templates and its state at the provider. `reason` is the provider's; empty without one."""

    name: str
    state: State
    status: str = ""
    category: str = ""
    reason: str = ""
    template_id: str = ""

    @property
    def is_approved(self) -> bool:
        """Whether messages with our present text are accepted."""
        return self.state == "approved"


def read_registered(given: object) -> RegisteredTemplate | None:
    """Read an item of the provider's list; None without id, name or language."""
    item = given if isinstance(given, dict) else {}
    template_id, name, language = (_text(item.get(field)) for field in ("id", "name", "language"))
    if not (template_id and name and language):
        return None
    return RegisteredTemplate(
        template_id,
        name,
        language,
        _text(item.get("category")).upper(),
        _text(item.get("status")).upper(),
        _reason(item),
        _body(item.get("components")),
    )


def compare_template(registration: Mapping[str, Any], registered: Sequence[RegisteredTemplate]) -> TemplateState:
    """Return the state of one registration payload among the provider's templates."""
    name, language = registration["name"], registration["language"]
    found = next((one for one in registered if (one.name, one.language) == (name, language)), None)
    if found is None:
        return TemplateState(name, "missing")
    return TemplateState(
        name, _state(registration, found), found.status, found.category, found.reason, found.template_id
    )


def _state(registration: Mapping[str, Any], found: RegisteredTemplate) -> State:
    if found.status in _UNDER_REVIEW:
        return "pending"
    if found.status in _EDITABLE and not _is_same(registration, found):
        return "differs"
    return {"APPROVED": "approved", "REJECTED": "rejected"}.get(found.status, "unavailable")  # type: ignore[return-value]


def _is_same(registration: Mapping[str, Any], found: RegisteredTemplate) -> bool:
    """Compare templates. The provider may change a category to MARKETING, and writes the text of an authentication
    template itself.
    """
    if "AUTHENTICATION" in (registration["category"], found.category):
        return bool(registration["category"] == found.category)
    return bool(_body(registration["components"]) == found.body)


def _body(components: object) -> str:
    listed = [one for one in components if isinstance(one, dict)] if isinstance(components, list) else []
    return next((_text(one.get("text")) for one in listed if _text(one.get("type")).upper() == "BODY"), "")


def _reason(item: Mapping[str, Any]) -> str:
    """Return the reviewer's reason: an enumeration, with a sentence where there is one."""
    info = item.get("rejection_info")
    sentence = _text(info.get("reason")) if isinstance(info, dict) else ""
    word = _text(item.get("rejected_reason"))
    return " ".join(part for part in ("" if word.upper() in _NO_REASON else word, sentence) if part)


def _text(value: object) -> str:
    """Ids are texts or numbers."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
