"""Record the result of an attempt."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.retry import jittered
from notifications.metrics import WEBHOOK_ATTEMPTS
from notifications.webhooks import store
from notifications.webhooks.domain.webhook_events import TEST_TYPE
from notifications.webhooks.domain.webhooks import (
    FAILING_MAX,
    ClaimedWebhook,
    Delivered,
    DeliveryStatus,
    GivenUp,
    RetryAfter,
    WebhookResponse,
    evaluate_attempt,
)
from notifications.webhooks.use_cases.disable_endpoint import disable_endpoint

_STATUSES: Final[Mapping[type, DeliveryStatus]] = {Delivered: "delivered", RetryAfter: "pending", GivenUp: "failed"}


async def record_attempt(uow: UnitOfWork, claimed: ClaimedWebhook, response: WebhookResponse, now: datetime) -> None:
    """End the delivery or set its next attempt; disable an endpoint that is gone or has failed for days.
    A test event has no effect on its endpoint.

    Without an effect when another worker claimed the delivery since.
    """
    is_test = claimed.event.type == TEST_TYPE
    verdict = evaluate_attempt(claimed.attempt, response, is_only=is_test)
    is_delivered, status, retry_at = isinstance(verdict, Delivered), _STATUSES[type(verdict)], None
    if isinstance(verdict, RetryAfter):
        retry_at = now + timedelta(seconds=jittered(verdict.seconds))
    if not await store.save_webhook_attempt(uow, claimed, response, status, retry_at=retry_at, now=now):
        return
    WEBHOOK_ATTEMPTS.labels("delivered" if is_delivered else "failed").inc()
    if is_delivered or is_test:
        return
    failing_since = await store.save_webhook_failure(uow, claimed.endpoint_id, now)
    if isinstance(verdict, GivenUp) and verdict.is_removed:
        await disable_endpoint(uow, claimed, "gone", now)
    elif failing_since is not None and now - failing_since >= FAILING_MAX:
        await disable_endpoint(uow, claimed, "failing", now)
