"""The dead letters of a service for staff on call: `/api/dead-letters/<service>` (contract section 7)."""

from typing import Annotated, Final, Literal, cast
from uuid import UUID

from fastapi import Depends, Query
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import permission
from common.database.unit_of_work import Database
from common.messaging.bus import Bus
from common.messaging.dead_letters import Closure
from common.messaging.dead_letters import close_dead_letter as close
from common.messaging.dead_letters import replay_dead_letter as replay
from common.standard_endpoints.pending_work import WorkKind
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import RequestBody

_PAGE: Final = """
SELECT id, d.event_type, error, attempts, failed_at, replayed_at, d.closed_at, c.closed_by, c.reason AS close_reason
FROM dead_letters AS d LEFT JOIN dead_letter_closures AS c ON c.dead_letter_id = d.id
{where} {order_by} LIMIT $1 OFFSET $2
"""
_COUNT: Final = "SELECT count(*) FROM dead_letters {where}"
_AWAITING_REPLAY: Final = "WHERE resolved_at IS NULL"

ServiceName = Literal["identity", "orders", "payments", "payouts", "notifications"]


class DeadLetter(ResponseModel):
    """A message that failed its last retry."""

    id: UUID
    service: ServiceName
    event_type: str
    error: str
    attempts: int
    failed_at: Timestamp
    replayed_at: Timestamp | None
    closed_at: Timestamp | None
    closed_by: UUID | None
    close_reason: str | None


class DeadLetterReplay(ResponseModel):
    id: UUID
    service: ServiceName
    status: Literal["queued"]


class CloseDeadLetterRequest(RequestBody):
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class ClosedDeadLetter(ResponseModel):
    id: UUID
    service: ServiceName
    closed_at: Timestamp
    closed_by: UUID
    close_reason: str


def dead_letter_endpoints(service: str, database: Database, bus: Bus) -> Endpoints:
    """Endpoints to list, replay and close dead letters. Bodies are never returned: they may hold confidential data."""
    endpoint = Endpoints("operations")

    @endpoint(
        "GET",
        f"/api/dead-letters/{service}",
        id=f"deadLetters.list{service.capitalize()}",
        returns=list[DeadLetter],
        allow=permission("dead_letters:read"),
    )
    async def list_dead_letters(
        request: Request,
        page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
        awaiting: Annotated[
            Literal["replay"] | None, Query(description="Only those that were neither replayed nor closed.")
        ] = None,
    ) -> Response:
        """Return the dead letters of this service, by the time of their failure."""
        where = "" if awaiting is None else _AWAITING_REPLAY
        statement = _PAGE.format(where=where, order_by=page.order_by("failed_at", "id"))
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            total = await uow.fetch_value(_COUNT.format(where=where))
            rows = await uow.fetch(statement, page.limit, page.offset)
        dead_letters = [DeadLetter.from_row(row, service=service) for row in rows]
        return respond_offset_page(request, page, (dead_letters, total))

    @endpoint(
        "POST",
        f"/api/dead-letters/{service}/{{letter_id}}/replay",
        id=f"deadLetters.replay{service.capitalize()}",
        returns=DeadLetterReplay,
        allow=permission("webhooks:replay", step_up=True),
    )
    async def replay_dead_letter(request: Request, letter_id: UUID) -> Response:
        """Enqueues the message again as a first attempt. The inbox ignores effects that it already had."""
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await replay(uow, bus, letter_id)
        return ok(request, DeadLetterReplay(id=letter_id, service=cast("ServiceName", service), status="queued"))

    @endpoint(
        "POST",
        f"/api/dead-letters/{service}/{{letter_id}}/close",
        id=f"deadLetters.close{service.capitalize()}",
        returns=ClosedDeadLetter,
        allow=permission("webhooks:replay", step_up=True),
    )
    async def close_dead_letter(
        request: Request, caller: CurrentCaller, letter_id: UUID, body: CloseDeadLetterRequest
    ) -> Response:
        """Close the dead letter without a replay, with a reason: its effect is not needed, or can never succeed."""
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            closure = await close(uow, letter_id, caller.id, body.reason)
        return respond_closed(request, service, letter_id, closure)

    return endpoint


def respond_closed(request: Request, service: str, dead_letter_id: UUID, closure: Closure) -> Response:
    """Return the response to a closed dead letter."""
    closed = ClosedDeadLetter.from_record(closure, id=dead_letter_id, service=service, close_reason=closure.reason)
    return ok(request, closed)


def dead_letter_work(service: str) -> WorkKind:
    """Return the dead letters that were neither replayed nor closed."""
    return WorkKind(
        "dead_letters",
        ("dead_letters:read", "webhooks:replay"),
        f"/api/dead-letters/{service}?awaiting=replay",
        f"SELECT failed_at AS since, NULL::timestamptz AS due FROM dead_letters {_AWAITING_REPLAY}",
        past_policies=True,
    )
