"""Webhooks and dead webhooks."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from common.web.schemas import ResponseShape
from payments.domain.gateways import GatewayName


class DeadLetterWebhook(ResponseShape):
    id: UUID
    service: Literal["payments"]
    provider: GatewayName = Field(description="The payment gateway that sent the webhook.")
    event_id: str
    event_type: str
    error: str
    attempts: int
    outcome: Literal["queued", "done", "ignored", "dead"]
    failed_at: datetime
    replayed_at: datetime | None


class ReplayedWebhook(ResponseShape):
    id: UUID
    event_id: str
    outcome: Literal["queued", "done", "ignored", "dead"]
    requeued: bool
