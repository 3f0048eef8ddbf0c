"""The endpoints of dead-lettered webhooks, which payments and notifications serve for their own ones (contract section
7.8). The gateway merges the lists, and sends every other request to the service that has the webhook.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Protocol
from uuid import UUID

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import permission
from common.database.unit_of_work import Acting, Database, UnitOfWork
from common.messaging.dead_letters import Closure, ClosureRequest, WebhookReplay
from common.primitives.clock import Clock
from common.standard_endpoints.dead_letter_routes import CloseDeadLetterRequest
from common.standard_endpoints.dead_letter_trail import DeadLetterClosing, respond_closure
from common.standard_endpoints.dead_webhooks import (
    DeadLetterWebhook,
    DeadLetterWebhookDetails,
    DeadLetterWebhookMeta,
    DeadLetterWebhookPage,
    DeadWebhookKey,
    EventIdFilter,
    EventTypeFilter,
    ReplayedWebhook,
    WebhookOutcome,
)
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.pages import Found, OffsetPage, offset_page, respond_offset_page


class _Dependencies(Protocol):
    @property
    def database(self) -> Database: ...

    @property
    def clock(self) -> Clock: ...


@dataclass(frozen=True, slots=True)
class DeadWebhooks:
    """The queries and use cases of a service. `key` is the id of a dead letter, or of its event.

    `acting_as` returns whose row policies hold for a caller's request.
    """

    service: str
    acting_as: Callable[[Caller], Acting]
    page_of: Callable[[UnitOfWork, OffsetPage, str | None, str | None, str | None], Awaitable[Found[DeadLetterWebhook]]]
    find: Callable[[UnitOfWork, str], Awaitable[DeadLetterWebhookDetails | None]]
    replay: Callable[[UnitOfWork, str, UUID, datetime], Awaitable[WebhookReplay]]
    close: Callable[[UnitOfWork, str, UUID, str, datetime], Awaitable[tuple[UUID, Closure | ClosureRequest]]]


def dead_webhook_endpoints(dead_webhooks: DeadWebhooks, dependencies: type[_Dependencies]) -> Endpoints:
    """Return the endpoints to list, show, replay and close dead webhooks."""
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
        """List webhooks of the payment gateways and of the messaging app whose processing failed its last retry.

        `meta.unavailable` names a service whose webhooks are missing.
        """
        opened = dependencies_of(request, dependencies)
        async with opened.database.unit_of_work(acting_as=dead_webhooks.acting_as(caller)) as uow:
            found = await dead_webhooks.page_of(uow, page, event_type, outcome, event_id)
        return respond_offset_page(request, page, found, DeadLetterWebhookMeta, unavailable=[])

    @endpoint(
        "GET",
        "/api/dead-letter-webhooks/{dead_letter_id}",
        id="deadLetterWebhooks.get",
        returns=DeadLetterWebhookDetails,
        allow=permission("dead_letters:read"),
        merged=True,
    )
    async def get_dead_letter_webhook(
        request: Request, caller: CurrentCaller, dead_letter_id: DeadWebhookKey
    ) -> Response:
        """Return a dead webhook by its id, or the newest one of the event of this id, with its payload and history."""
        opened = dependencies_of(request, dependencies)
        async with opened.database.unit_of_work(acting_as=dead_webhooks.acting_as(caller)) as uow:
            return ok(request, or_not_found(await dead_webhooks.find(uow, dead_letter_id)))

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
        """Process the webhook again, by the id of the dead letter or of its event. It has its effect at most once.

        The alert stays open until the webhook is processed.
        """
        opened = dependencies_of(request, dependencies)
        async with opened.database.unit_of_work(acting_as=dead_webhooks.acting_as(caller)) as uow:
            replayed = await dead_webhooks.replay(uow, dead_letter_id, caller.id, opened.clock.now())
        return ok(request, ReplayedWebhook.from_record(replayed, id=replayed.dead_letter_id))

    @endpoint(
        "POST",
        "/api/dead-letter-webhooks/{dead_letter_id}/close",
        id="deadLetterWebhooks.close",
        returns=DeadLetterClosing,
        allow=permission("webhooks:replay", step_up=True),
        merged=True,
    )
    async def close_dead_letter_webhook(
        request: Request, caller: CurrentCaller, dead_letter_id: DeadWebhookKey, body: CloseDeadLetterRequest
    ) -> Response:
        """Close the webhook without a replay, with a reason, by the id of the dead letter or of its event.

        Where money is concerned, the first call requests the closure, and that of another person closes it.
        """
        opened = dependencies_of(request, dependencies)
        async with opened.database.unit_of_work(acting_as=dead_webhooks.acting_as(caller)) as uow:
            closed_id, result = await dead_webhooks.close(
                uow, dead_letter_id, caller.id, body.reason, opened.clock.now()
            )
        return respond_closure(request, dead_webhooks.service, closed_id, result)

    return endpoint
