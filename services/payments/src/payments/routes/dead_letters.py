"""Webhooks that the retry ladder could not bring through."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.http import CurrentCaller, OffsetPage, QueryText, dependencies_of, guarded_router, offset_page, ok, requires
from payments.dependencies import Dependencies
from payments.queries.dead_webhooks import page_of_dead_webhooks
from payments.routes.listing import listed
from payments.schemas.answers import answers
from payments.schemas.webhooks import DeadWebhook, Replayed
from payments.use_cases.replay_webhook import replay_webhook

Outcome = Literal["queued", "done", "ignored", "dead"]

router = guarded_router(tags=["dead letters"])


@router.get("/api/dead-letter-webhooks", responses=answers(200, list[DeadWebhook]))
@requires("dead_letters:read")
async def list_dead_webhooks(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    event_type: Annotated[QueryText | None, Query(alias="eventType", max_length=200)] = None,
    outcome: Outcome | None = None,
    event_id: Annotated[QueryText | None, Query(alias="eventId", max_length=401)] = None,
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_dead_webhooks(uow, page, event_type, outcome, event_id)
    return listed(request, page, found)


@router.post("/api/dead-letter-webhooks/{letter_id}/replay", responses=answers(200, Replayed))
@requires("webhooks:replay", step_up=True)
async def replay(request: Request, caller: CurrentCaller, letter_id: UUID) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        replayed = await replay_webhook(uow, letter_id, dependencies.clock.now())
    answer = {
        "id": letter_id,
        "eventId": replayed.webhook_id,
        "outcome": replayed.outcome,
        "requeued": replayed.requeued,
    }
    return ok(request, answer)
