"""Webhooks and dead webhooks."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from common.web.schemas import ResponseShape


class DeadLetterWebhook(ResponseShape):
    id: UUID
    service: Literal["payments"]
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
