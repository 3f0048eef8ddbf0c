"""Webhooks and dead webhooks."""

from uuid import UUID

from common.web.schemas import ResponseShape


class DeadWebhook(ResponseShape):
    id: UUID
    service: str
    event_id: str
    event_type: str
    error: str
    attempts: int
    outcome: str
    failed_at: str
    replayed_at: str | None


class Replayed(ResponseShape):
    id: UUID
    event_id: str
    outcome: str
    requeued: bool


class WebhookReceived(ResponseShape):
    received: bool
