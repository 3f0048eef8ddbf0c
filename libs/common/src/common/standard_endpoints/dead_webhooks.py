"""The models of dead-lettered webhooks, which the gateway shows as one list of two services (contract section 7.8)."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from msgspec import Meta

from common.standard_endpoints.dead_letter_trail import (
    History,
    PayloadFields,
    RequestedBy,
    Subject,
    WithheldFields,
)
from common.web.http import QueryText
from common.web.response_models import ResponseModel, Timestamp
from common.web.responses import OffsetMeta, Success

EVENT_ID_CHARACTERS_MAX = 401

WebhookOutcome = Literal["queued", "done", "ignored", "dead"]

DeadWebhookKey = Annotated[
    QueryText,
    Path(min_length=1, max_length=EVENT_ID_CHARACTERS_MAX, description="The id of the dead letter, or of its event."),
]
EventTypeFilter = Annotated[QueryText | None, Query(alias="eventType", max_length=200)]
EventIdFilter = Annotated[QueryText | None, Query(alias="eventId", max_length=EVENT_ID_CHARACTERS_MAX)]


class DeadLetterWebhook(ResponseModel):
    id: UUID
    service: Literal["payments", "notifications"]
    provider: Annotated[
        Literal["paystack", "flutterwave", "messaging_app"],
        Meta(description="The payment gateway, or the messaging app, that sent the webhook."),
    ]
    event_id: str
    event_type: str
    subject: Subject
    error: str
    attempts: int
    outcome: WebhookOutcome
    failed_at: Timestamp
    replayed_at: Timestamp | None
    closure_requested_by: RequestedBy
    closed_at: Timestamp | None
    closed_by: UUID | None
    close_reason: str | None


class DeadLetterWebhookDetails(DeadLetterWebhook):
    """A dead webhook with what staff need to resolve it."""

    closed_by_two: Annotated[bool, Meta(description="Whether the webhook concerns money, so that two people close it.")]
    payload: PayloadFields
    withheld: WithheldFields
    history: History


class DeadLetterWebhookMeta(OffsetMeta):
    """The gateway adds `unavailable` to the page of a service."""

    unavailable: Annotated[
        list[str], Meta(description="Services that did not respond; their rows are missing, also in `total`.")
    ]


class DeadLetterWebhookPage(ResponseModel):
    success: Success
    data: list[DeadLetterWebhook]
    meta: DeadLetterWebhookMeta


class ReplayedWebhook(ResponseModel):
    id: UUID
    event_id: str
    outcome: WebhookOutcome
    requeued: bool
