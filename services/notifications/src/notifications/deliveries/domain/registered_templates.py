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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from notifications.deliveries.domain.approved_templates import Registration

State = Literal["approved", "pending", "rejected", "differs", "unavailable", "missing"]

_UNDER_REVIEW: Final = frozenset({"PENDING", "IN_APPEAL"})
_EDITABLE: Final = frozenset({"APPROVED", "REJECTED", "PAUSED"})
_NO_REASON: Final = frozenset({"", "NONE"})


class ReportedComponent(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""


class RejectionInfo(msgspec.Struct, frozen=True):
    reason: str = ""


class ReportedTemplate(msgspec.Struct, frozen=True):
    """A template as the provider lists it."""

    id: int | str = ""
    name: str = ""
    language: str = ""
    category: str = ""
    status: str = ""
    rejected_reason: str = ""
    rejection_info: RejectionInfo = RejectionInfo()
    components: list[ReportedComponent] = []


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
        """Return whether messages with our present text are accepted."""
        return self.state == "approved"


def read_registered(reported: ReportedTemplate) -> RegisteredTemplate | None:
    """Read an item of the provider's list; None without id, name or language."""
    if not (reported.id and reported.name and reported.language):
        return None
    return RegisteredTemplate(
        str(reported.id),
        reported.name,
        reported.language,
        reported.category.upper(),
        reported.status.upper(),
        _reason(reported),
        _body([(component.type, component.text) for component in reported.components]),
    )


def compare_template(registration: Registration, registered: Sequence[RegisteredTemplate]) -> TemplateState:
    """Return the state of one registration payload among the provider's templates."""
    name, language = registration["name"], registration["language"]
    found = next((one for one in registered if (one.name, one.language) == (name, language)), None)
    if found is None:
        return TemplateState(name, "missing")
    return TemplateState(
        name, _state(registration, found), found.status, found.category, found.reason, found.template_id
    )


def _state(registration: Registration, found: RegisteredTemplate) -> State:
    if found.status in _UNDER_REVIEW:
        return "pending"
    if found.status in _EDITABLE and not _is_same(registration, found):
        return "differs"
    return {"APPROVED": "approved", "REJECTED": "rejected"}.get(found.status, "unavailable")  # type: ignore[return-value]


def _is_same(registration: Registration, found: RegisteredTemplate) -> bool:
    """Compare templates. The provider may change a category to MARKETING, and writes the text of an authentication
    template itself.
    """
    if "AUTHENTICATION" in (registration["category"], found.category):
        return registration["category"] == found.category
    return _body([(one["type"], one.get("text", "")) for one in registration["components"]]) == found.body


def _body(components: Sequence[tuple[str, str]]) -> str:
    """Return the text of the body among types and texts of components."""
    return next((text for kind, text in components if kind.upper() == "BODY"), "")


def _reason(reported: ReportedTemplate) -> str:
    """Return the reviewer's reason: an enumeration, with a sentence where there is one."""
    word = "" if reported.rejected_reason.upper() in _NO_REASON else reported.rejected_reason
    return " ".join(filter(None, (word, reported.rejection_info.reason)))
