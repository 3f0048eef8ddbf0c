"""Dead-lettered webhooks, their replay and their closure."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import permission
from common.standard_endpoints.dead_letter_routes import ClosedDeadLetter, CloseDeadLetterRequest, respond_closed
from common.standard_endpoints.dead_webhooks import (
    DeadLetterWebhookMeta,
    DeadLetterWebhookPage,
    DeadWebhookKey,
    EventIdFilter,
    EventTypeFilter,
    ReplayedWebhook,
    WebhookOutcome,
)
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from payments.dependencies import Dependencies
from payments.queries.dead_webhooks import page_of_dead_webhooks
from payments.use_cases.webhooks.close_dead_webhook import close_dead_webhook
from payments.use_cases.webhooks.replay_webhook import replay_webhook

endpoint = Endpoints("dead letters")


@endpoint(
    "GET",
    "/api/dead-letter-webhooks",
    id="deadLetterWebhooks.list",
    returns=DeadLetterWebhookPage,
    allow=permission("dead_letters:read"),
    merged=True,
)
async def list_dead_letter_webhooks(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    event_type: EventTypeFilter = None,
    outcome: WebhookOutcome | None = None,
    event_id: EventIdFilter = None,
) -> Response:
    """Webhooks of the payment gateways and of the messaging app whose processing failed its last retry.

    `meta.unavailable` names a service whose webhooks are missing.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_dead_webhooks(uow, page, event_type, outcome, event_id)
    return respond_offset_page(request, page, found, DeadLetterWebhookMeta, unavailable=[])


@endpoint(
    "POST",
    "/api/dead-letter-webhooks/{dead_letter_id}/replay",
    id="deadLetterWebhooks.replay",
    returns=ReplayedWebhook,
    allow=permission("webhooks:replay", step_up=True),
    merged=True,
)
async def replay_dead_letter_webhook(
    request: Request, caller: CurrentCaller, dead_letter_id: DeadWebhookKey
) -> Response:
    """Process the webhook again, by the id of the dead letter or of its event. It has its effect at most once."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        replayed = await replay_webhook(uow, dead_letter_id, dependencies.clock.now())
    result = ReplayedWebhook.from_record(replayed, id=replayed.dead_letter_id, event_id=replayed.webhook_id)
    return ok(request, result)


@endpoint(
    "POST",
    "/api/dead-letter-webhooks/{dead_letter_id}/close",
    id="deadLetterWebhooks.close",
    returns=ClosedDeadLetter,
    allow=permission("webhooks:replay", step_up=True),
    merged=True,
)
async def close_dead_letter_webhook(
    request: Request, caller: CurrentCaller, dead_letter_id: DeadWebhookKey, body: CloseDeadLetterRequest
) -> Response:
    """Close the webhook without a replay, with a reason, by the id of the dead letter or of its event."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        closed_id, closure = await close_dead_webhook(uow, dead_letter_id, caller.id, body.reason)
    return respond_closed(request, "payments", closed_id, closure)
