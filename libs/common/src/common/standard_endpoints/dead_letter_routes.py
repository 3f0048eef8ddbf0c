"""The dead letters of a service for staff on call: `/api/dead-letters/<service>` (contract section 7)."""

from typing import Annotated, Final, Literal, cast
from uuid import UUID

from fastapi import Depends, Query
from msgspec import Meta
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import permission
from common.database.unit_of_work import Database
from common.messaging.bus import Bus
from common.messaging.dead_letters import close_dead_letter as close
from common.messaging.dead_letters import concerns_money
from common.messaging.dead_letters import replay_dead_letter as replay
from common.messaging.shown_payloads import show_message
from common.standard_endpoints.dead_letter_trail import (
    CLOSED_BY,
    SAME_EVENT_MAX,
    DeadLetterClosing,
    History,
    PayloadFields,
    RequestedBy,
    ServiceName,
    Subject,
    WithheldFields,
    history_of,
    respond_closure,
)
from common.standard_endpoints.pending_work import WorkKind
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, ok, or_not_found
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import RequestBody

_COLUMNS: Final = f"""
SELECT d.id, d.event_id, d.queue, d.event_type, d.body, d.error, d.attempts, d.failed_at, d.replayed_at, d.closed_at,
       {CLOSED_BY.format("c")}, c.reason AS close_reason, r.acted_by AS closure_requested_by
FROM dead_letters AS d LEFT JOIN dead_letter_closures AS c ON c.dead_letter_id = d.id
LEFT JOIN dead_letter_actions AS r ON r.dead_letter_id = d.id AND r.action = 'closure_requested'
"""
_PAGE: Final = f"{_COLUMNS} {{where}} {{order_by}} LIMIT $1 OFFSET $2"
_COUNT: Final = "SELECT count(*) FROM dead_letters {where}"
_FIND: Final = f"""
{_COLUMNS} WHERE d.id = $1 OR d.event_id = $1 ORDER BY (d.id = $1) DESC, d.failed_at DESC, d.id LIMIT 1
"""
_OF_EVENT: Final = f"""
SELECT id, failed_at, error, replayed_at FROM dead_letters
WHERE id = $1 OR (event_id = $2 AND queue = $3) ORDER BY failed_at DESC LIMIT {SAME_EVENT_MAX}
"""
_AWAITING_REPLAY: Final = "WHERE resolved_at IS NULL"


class DeadLetter(ResponseModel):
    """A message that failed its last retry."""

    id: UUID
    service: ServiceName
    event_id: UUID | None
    event_type: str
    subject: Subject
    error: str
    attempts: int
    failed_at: Timestamp
    replayed_at: Timestamp | None
    closure_requested_by: RequestedBy
    closed_at: Timestamp | None
    closed_by: UUID | None
    close_reason: str | None


class DeadLetterDetails(DeadLetter):
    """A message that failed its last retry, with what staff need to resolve it."""

    queue: Annotated[str, Meta(description="The queue of the service in which the message failed.")]
    closed_by_two: Annotated[bool, Meta(description="Whether the message concerns money, so that two people close it.")]
    payload: PayloadFields
    withheld: WithheldFields
    history: History


class DeadLetterReplay(ResponseModel):
    id: UUID
    service: ServiceName
    status: Literal["queued"]


class CloseDeadLetterRequest(RequestBody):
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


def dead_letter_endpoints(service: str, database: Database, bus: Bus) -> Endpoints:
    """Endpoints to list, show, replay and close dead letters. Of bodies only the fields without free text are shown."""
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
        dead_letters = [
            DeadLetter.from_row(row, service=service, subject=show_message(row["body"], row["event_type"]).subject)
            for row in rows
        ]
        return respond_offset_page(request, page, (dead_letters, total))

    @endpoint(
        "GET",
        f"/api/dead-letters/{service}/{{letter_id}}",
        id=f"deadLetters.get{service.capitalize()}",
        returns=DeadLetterDetails,
        allow=permission("dead_letters:read"),
    )
    async def get_dead_letter(request: Request, letter_id: UUID) -> Response:
        """Return a dead letter by its id, or the newest one of the event of this id, with its payload and history."""
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            row = or_not_found(await uow.fetch_row(_FIND, letter_id))
            history = await history_of(uow, await uow.fetch(_OF_EVENT, row["id"], row["event_id"], row["queue"]))
        shown = show_message(row["body"], row["event_type"])
        details = DeadLetterDetails.from_row(
            row,
            service=service,
            subject=shown.subject,
            closed_by_two=concerns_money(row["queue"]),
            payload=shown.values,
            withheld=shown.withheld,
            history=history,
        )
        return ok(request, details)

    @endpoint(
        "POST",
        f"/api/dead-letters/{service}/{{letter_id}}/replay",
        id=f"deadLetters.replay{service.capitalize()}",
        returns=DeadLetterReplay,
        allow=permission("webhooks:replay", step_up=True),
    )
    async def replay_dead_letter(request: Request, caller: CurrentCaller, letter_id: UUID) -> Response:
        """Enqueue the message again as a first attempt, by the id of the dead letter or of its event.

        The inbox ignores effects that it already had. The alert stays open until the message is processed.
        """
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            replayed_id = await replay(uow, bus, letter_id, caller.id)
        return ok(request, DeadLetterReplay(id=replayed_id, service=cast("ServiceName", service), status="queued"))

    @endpoint(
        "POST",
        f"/api/dead-letters/{service}/{{letter_id}}/close",
        id=f"deadLetters.close{service.capitalize()}",
        returns=DeadLetterClosing,
        allow=permission("webhooks:replay", step_up=True),
    )
    async def close_dead_letter(
        request: Request, caller: CurrentCaller, letter_id: UUID, body: CloseDeadLetterRequest
    ) -> Response:
        """Close the dead letter without a replay, with a reason: its effect is not needed, or can never succeed.

        Where money is concerned, the first call requests the closure, and that of another person closes it.
        """
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            closed_id, result = await close(uow, letter_id, caller.id, body.reason)
        return respond_closure(request, service, closed_id, result)

    return endpoint


def dead_letter_work(service: str) -> WorkKind:
    """Return the dead letters that were neither replayed nor closed."""
    return WorkKind(
        "dead_letters",
        ("dead_letters:read", "webhooks:replay"),
        f"/api/dead-letters/{service}?awaiting=replay",
        f"SELECT failed_at AS since, NULL::timestamptz AS due FROM dead_letters {_AWAITING_REPLAY}",
        past_policies=True,
    )
