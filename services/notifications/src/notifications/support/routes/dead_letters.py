"""Dead-lettered webhooks of the messaging app, their replay and their closure."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
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
from notifications.dependencies import Dependencies
from notifications.support.queries.dead_webhooks import page_of_dead_webhooks
from notifications.support.use_cases.messaging.close_dead_webhook import close_dead_webhook
from notifications.support.use_cases.messaging.replay_webhook import replay_webhook

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
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    event_type: EventTypeFilter = None,
    outcome: WebhookOutcome | None = None,
    event_id: EventIdFilter = None,
) -> Response:
    """Webhooks of the messaging app, or items of them, whose processing failed its last retry."""
    dependencies = dependencies_of(request, Dependencies)
    # As the service: no caller may read the messages of customers.
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
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
async def replay_dead_letter_webhook(request: Request, dead_letter_id: DeadWebhookKey) -> Response:
    """Process the item or the webhook again, by the id of the dead letter or of its event, with its effect at most
    once.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        replayed = await replay_webhook(uow, dead_letter_id, dependencies.clock.now())
    result = ReplayedWebhook.from_record(replayed, id=replayed.dead_letter_id, event_id=replayed.event_id)
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
    """Close the item or the webhook without a replay, with a reason, by the id of the dead letter or of its event."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        closed_id, closure = await close_dead_webhook(
            uow, dead_letter_id, caller.id, body.reason, dependencies.clock.now()
        )
    return respond_closed(request, "notifications", closed_id, closure)
