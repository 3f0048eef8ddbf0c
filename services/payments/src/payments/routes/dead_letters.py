"""Dead-lettered webhooks and their replay."""

from typing import Annotated, Literal

from fastapi import Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from common.web.http import CurrentCaller, QueryText, dependencies_of, guarded_router, ok, requires
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from payments.dependencies import Dependencies
from payments.queries.dead_webhooks import page_of_dead_webhooks
from payments.schemas.webhooks import DeadLetterWebhook, ReplayedWebhook
from payments.use_cases.webhooks.replay_webhook import replay_webhook

Outcome = Literal["queued", "done", "ignored", "dead"]

EventKey = Annotated[str, Path(min_length=1, max_length=401, description="The id of the dead letter, or of its event.")]

router = guarded_router(tags=["dead letters"])


@router.get(
    "/api/dead-letter-webhooks",
    operation_id="deadLetterWebhooks.list",
    responses={200: {"model": list[DeadLetterWebhook]}},
)
@requires("dead_letters:read")
async def list_dead_letter_webhooks(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    event_type: Annotated[QueryText | None, Query(alias="eventType", max_length=200)] = None,
    outcome: Outcome | None = None,
    event_id: Annotated[QueryText | None, Query(alias="eventId", max_length=401)] = None,
) -> Response:
    """Webhooks whose processing failed its last retry."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_dead_webhooks(uow, page, event_type, outcome, event_id)
    return respond_offset_page(request, page, found)


@router.post(
    "/api/dead-letter-webhooks/{dead_letter_id}/replay",
    operation_id="deadLetterWebhooks.replay",
    responses={200: {"model": ReplayedWebhook}},
)
@requires("webhooks:replay", step_up=True)
async def replay_dead_letter_webhook(request: Request, caller: CurrentCaller, dead_letter_id: EventKey) -> Response:
    """Processes the webhook again, by the id of the dead letter or of its event. It has its effect at most once."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        replayed = await replay_webhook(uow, dead_letter_id, dependencies.clock.now())
    replay_result = {
        "id": replayed.dead_letter_id,
        "eventId": replayed.webhook_id,
        "outcome": replayed.outcome,
        "requeued": replayed.requeued,
    }
    return ok(request, replay_result)
