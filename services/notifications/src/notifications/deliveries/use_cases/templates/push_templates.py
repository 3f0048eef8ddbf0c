"""Register our approved templates with the messaging app."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from notifications.deliveries.domain.approved_templates import Registration
from notifications.deliveries.domain.errors import ProviderRejected
from notifications.deliveries.domain.registered_templates import RegisteredTemplate, TemplateState
from notifications.deliveries.use_cases.templates.compare_templates import compare_templates


class TemplateRegistry(Protocol):
    """The templates of a business account."""

    async def list_all(self) -> list[RegisteredTemplate]: ...

    async def register(self, registration: Registration) -> None: ...

    async def replace(self, template_id: str, registration: Registration, *, with_category: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class PushedTemplate:
    """Outcome of a push for one template: `registered`, `replaced`, `unchanged` or `rejected` with the provider's
    error.
    """

    name: str
    action: str
    error: str = ""


async def push_templates(templates: TemplateRegistry, registrations: Sequence[Registration]) -> list[PushedTemplate]:
    """Register missing templates and replace those with another text; a repetition does nothing.

    A template that the provider rejects does not stop the others. Raises ProviderUnavailable.
    """
    states = await compare_templates(templates, registrations)
    return [await _push(templates, one, state) for one, state in zip(registrations, states, strict=True)]


async def _push(templates: TemplateRegistry, registration: Registration, state: TemplateState) -> PushedTemplate:
    try:
        if state.state == "missing":
            await templates.register(registration)
            return PushedTemplate(state.name, "registered")
        if state.state == "differs":
            await templates.replace(state.template_id, registration, with_category=state.status != "APPROVED")
            return PushedTemplate(state.name, "replaced")
    except ProviderRejected as error:
        return PushedTemplate(state.name, "rejected", error.reason)
    return PushedTemplate(state.name, "unchanged")
