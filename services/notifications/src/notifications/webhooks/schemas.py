"""Request models of webhook endpoints (contract section 9.5)."""

from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, field_validator, model_validator

from common.web.schemas import Instant, RequestBody
from contracts.webhook_types import EVENT_TYPES
from notifications.clients.outbound_addresses import ADDRESS_MAX
from notifications.webhooks.domain.webhooks import EndpointStatus

DESCRIPTION_MAX = 200

Url = Annotated[
    str,
    Field(
        min_length=1,
        max_length=ADDRESS_MAX,
        pattern=r"^[!-~]+$",
        description="An https address of a public host; port 443, or any from 1024",
    ),
]
EventTypes = Annotated[
    list[Annotated[str, Field(json_schema_extra={"enum": list(EVENT_TYPES)})]],
    Field(
        min_length=1,
        max_length=len(EVENT_TYPES),
        description="Published event types; a vendor's endpoint receives those of its own orders and payouts",
    ),
]
Description = Annotated[str, Field(max_length=DESCRIPTION_MAX)]


class CreateWebhookEndpointRequest(RequestBody):
    url: Url
    event_types: EventTypes
    description: Description = ""


class ChangeWebhookEndpointRequest(RequestBody):
    """An absent field keeps its value. A changed `url` needs AAL2."""

    url: Url | None = None
    event_types: EventTypes | None = None
    description: Description | None = None
    status: EndpointStatus | None = None

    @field_validator("url", "event_types", "description", "status", mode="before")
    @classmethod
    def reject_null(cls, value: object) -> object:
        if value is None:
            raise ValueError("must not be null")
        return value


class ReplayWebhooksRequest(RequestBody):
    """One event by its `webhook-id`, or all events since a time, at most 30 days ago."""

    event_id: UUID | None = None
    since: Instant | None = None

    @model_validator(mode="after")
    def check_choice(self) -> Self:
        if (self.event_id is None) == (self.since is None):
            raise ValueError("needs either eventId or since")
        return self
