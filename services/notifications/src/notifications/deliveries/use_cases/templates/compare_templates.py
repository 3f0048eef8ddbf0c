"""Compare our approved templates with those of the messaging app."""

from collections.abc import Sequence
from typing import Protocol

from notifications.deliveries.domain.approved_templates import Registration
from notifications.deliveries.domain.registered_templates import RegisteredTemplate, TemplateState, compare_template


class TemplateList(Protocol):
    """The templates of a business account."""

    async def list_all(self) -> list[RegisteredTemplate]: ...


async def compare_templates(templates: TemplateList, registrations: Sequence[Registration]) -> list[TemplateState]:
    """Return the state of each registration payload. Changes nothing. Raises ProviderUnavailable and
    ProviderRejected.
    """
    registered = await templates.list_all()
    return [compare_template(one, registered) for one in registrations]
