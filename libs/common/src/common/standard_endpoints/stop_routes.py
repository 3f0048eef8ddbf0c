"""The switch that stops an operation of a service: `/api/stops/<operation>` (contract section 13.9).

Staff on call stop checkout or dispatch for at most a day, with a reason and a sentence for everyone. The stop ends by
itself, or is lifted. Nothing that runs is interrupted.
"""

from datetime import datetime, timedelta
from typing import Annotated, Final, Literal
from uuid import UUID

from msgspec import Meta
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import permission
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from common.primitives.problems import Conflict, NotFound, ValidationFailed
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, ok
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import Instant, RequestBody

Operation = Literal["checkout", "dispatch"]

# Longer than an incident of one shift; a longer stop is decided again by the next one.
STOP_HOURS_MAX: Final = 24
# The history of one response.
_STOPS_MAX: Final = 50
IN_FORCE: Final = "lifted_at IS NULL AND expires_at > {now}"
"""The condition of a row of `operation_stops` that stops the operation; `now` is the parameter of the instant."""

_COLUMNS: Final = (
    "SELECT id, reason, message, stopped_by, stopped_at, expires_at, lifted_by, lifted_at, lift_reason FROM "
    "operation_stops"
)
_LIST: Final = f"{_COLUMNS} ORDER BY stopped_at DESC, id DESC LIMIT {_STOPS_MAX}"
_FIND: Final = f"{_COLUMNS} WHERE id = $1"
# Of two people who stop it at once, the second one is refused.
_ALONE: Final = "SELECT pg_advisory_xact_lock(hashtextextended('operation_stops', 0))"
_SAVE: Final = f"""
INSERT INTO operation_stops (id, reason, message, stopped_by, stopped_at, expires_at)
SELECT $1, $2, $3, $4, $5, $6
WHERE NOT EXISTS (SELECT FROM operation_stops WHERE {IN_FORCE.format(now="$5")})
"""
_LIFT: Final = f"""
UPDATE operation_stops SET lifted_by = $1, lifted_at = $2, lift_reason = $3 WHERE {IN_FORCE.format(now="$2")}
RETURNING id
"""


class Stopped(Conflict):
    detail = "The operation is stopped already. Lift the present stop first."


class NotStopped(Conflict):
    detail = "The operation is not stopped."


class OperationStop(ResponseModel):
    id: UUID
    reason: str
    message: Annotated[str, Meta(description="The sentence that everyone reads whom the stop concerns.")]
    stopped_by: Annotated[UUID, Meta(description="The member of staff who stopped the operation.")]
    stopped_at: Annotated[Timestamp, Meta(description="When the stop began.")]
    expires_at: Annotated[Timestamp, Meta(description="When the stop ends by itself.")]
    lifted_by: Annotated[UUID | None, Meta(description="The member of staff who ended it early.")]
    lifted_at: Annotated[Timestamp | None, Meta(description="When it was ended early.")]
    lift_reason: Annotated[str | None, Meta(description="Why it was ended early.")]


class OperationStops(ResponseModel):
    operation: Annotated[Operation, Meta(description="What is stopped.")]
    current: Annotated[OperationStop | None, Meta(description="The stop in force; null while the operation runs.")]
    earlier: Annotated[list[OperationStop], Meta(description="The newest stops that ended.")]


_Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class StopRequest(RequestBody):
    reason: _Sentence
    message: _Sentence
    expires_at: Instant


class LiftStopRequest(RequestBody):
    reason: _Sentence


def own_stops(operation: Operation) -> str:
    """Return the SELECT of a member of staff's own stops, for the list of own actions."""
    return f"""
SELECT '{operation}_stopped', 'operation_stop', id, '{{}}'::jsonb, stopped_at FROM operation_stops WHERE stopped_by = $1
UNION ALL
SELECT '{operation}_stop_lifted', 'operation_stop', id, '{{}}'::jsonb, lifted_at FROM operation_stops
WHERE lifted_by = $1
"""


def stop_endpoints(operation: Operation, database: Database, clock: Clock) -> Endpoints:
    """Return the endpoints of the switch of this operation."""
    endpoint, path, name = Endpoints("operations"), f"/api/stops/{operation}", operation.capitalize()

    @endpoint("GET", path, id=f"stops.get{name}", returns=OperationStops, allow=permission("staff_names:read"))
    async def get_stops(request: Request) -> Response:
        """Return the stop in force and the earlier ones, newest first."""
        now = clock.now()
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            rows = await uow.fetch(_LIST)
        current = [row for row in rows if row["lifted_at"] is None and row["expires_at"] > now]
        earlier = [OperationStop.from_row(row) for row in rows if row not in current]
        return ok(
            request,
            OperationStops(
                operation=operation,
                current=OperationStop.from_row(current[0]) if current else None,
                earlier=earlier,
            ),
        )

    @endpoint(
        "POST",
        path,
        id=f"stops.start{name}",
        returns=OperationStop,
        status=201,
        allow=permission("operations:stop", step_up=True),
    )
    async def start_stop(request: Request, caller: CurrentCaller, body: StopRequest) -> Response:
        """Stop the operation until `expiresAt`, at most 24 hours ahead. 409 while it is stopped."""
        now = clock.now()
        _check_expiry(body.expires_at, now)
        stop_id = new_id()
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await uow.execute(_ALONE)
            if await uow.execute(_SAVE, stop_id, body.reason, body.message, caller.id, now, body.expires_at) != 1:
                raise Stopped
            stop = await _find_stop(uow, stop_id)
        return ok(request, stop, status=201)

    @endpoint(
        "POST",
        f"{path}/lift",
        id=f"stops.lift{name}",
        returns=OperationStop,
        allow=permission("operations:stop", step_up=True),
    )
    async def lift_stop(request: Request, caller: CurrentCaller, body: LiftStopRequest) -> Response:
        """End the stop before its time. 409 while the operation is not stopped."""
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            lifted = await uow.fetch_row(_LIFT, caller.id, clock.now(), body.reason)
            if lifted is None:
                raise NotStopped
            stop = await _find_stop(uow, lifted["id"])
        return ok(request, stop)

    return endpoint


def _check_expiry(expires_at: datetime, now: datetime) -> None:
    if not now < expires_at <= now + timedelta(hours=STOP_HOURS_MAX):
        raise ValidationFailed.of("expiresAt", f"must be in the next {STOP_HOURS_MAX} hours")


async def _find_stop(uow: UnitOfWork, stop_id: UUID) -> OperationStop:
    row = await uow.fetch_row(_FIND, stop_id)
    if row is None:
        raise NotFound
    return OperationStop.from_row(row)
