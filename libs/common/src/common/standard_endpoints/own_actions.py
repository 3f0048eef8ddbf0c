"""The caller's own actions in a service: its part of `GET /api/staff-acts/current` (contract section 13.8)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import ServiceItself
from common.auth.guards import permission
from common.database.unit_of_work import Database
from common.standard_endpoints.dead_letter_trail import ServiceName
from common.standard_endpoints.pending_work import WorkMeta
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, ok
from common.web.response_models import JsonObject, ResponseModel, Timestamp
from common.web.responses import Success
from common.web.schemas import QueryInstant
from contracts.work import OWN_ACTIONS_MAX, OwnActionSubject

OWN_ACTIONS_PATH: Final = "/api/staff-acts/current"
READING: Final = ServiceItself("no caller may read these tables; the caller's id is the statement's own condition")

_DEAD_LETTERS: Final = """
SELECT 'dead_letter_closed', 'dead_letter', dead_letter_id,
    jsonb_build_object('eventType', event_type, 'reason', reason), closed_at
FROM dead_letter_closures WHERE closed_by = $1
UNION ALL
SELECT 'dead_letter_' || action, 'dead_letter', dead_letter_id,
    jsonb_strip_nulls(jsonb_build_object('eventType', event_type, 'reason', reason)), acted_at
FROM dead_letter_actions WHERE acted_by = $1
"""
_NEWEST: Final = f"""
SELECT act, subject_kind, subject_id, detail, created_at FROM ({{rows}} UNION ALL {_DEAD_LETTERS}) AS own
WHERE ($2::timestamptz IS NULL OR created_at < $2) AND ($3::uuid IS NULL OR subject_id = $3)
ORDER BY created_at DESC, act, subject_id LIMIT {OWN_ACTIONS_MAX}
"""


class OwnAction(ResponseModel):
    service: ServiceName
    act: Annotated[str, Meta(description="A past participle, such as `resolution_approved`.")]
    subject_kind: Annotated[OwnActionSubject, Meta(description="What `subjectId` names, such as `order`.")]
    subject_id: str
    detail: JsonObject
    created_at: Timestamp


class OwnActionList(ResponseModel):
    success: Success
    data: list[OwnAction]
    meta: WorkMeta


def own_action_endpoints(service: str, rows: str, database: Database) -> Endpoints:
    """Return the endpoint of this service's part. `rows` selects act, subject_kind, subject_id, detail and created_at
    of the actor $1; the edge merges the parts of all services.
    """
    endpoint = Endpoints("staff")

    @endpoint(
        "GET",
        OWN_ACTIONS_PATH,
        id="staff.listOwnActions",
        returns=OwnActionList,
        allow=permission("work:read"),
        merged=True,
    )
    async def list_own_actions(
        request: Request,
        caller: CurrentCaller,
        before: Annotated[QueryInstant | None, Query(description="Only actions before this.")] = None,
        subject_id: Annotated[
            UUID | None, Query(alias="subjectId", description="Only actions on the subject with this id.")
        ] = None,
    ) -> Response:
        """Return the newest 100 actions of the caller in all services: decisions, grants, suspensions, dispatches,
        releases.
        """
        async with database.unit_of_work(acting_as=READING) as uow:
            found = await uow.fetch(_NEWEST.format(rows=rows), caller.id, before, subject_id)
        actions = [OwnAction.from_row(row, service=service, subject_id=str(row["subject_id"])) for row in found]
        return ok(request, actions, meta=WorkMeta, unavailable=[])

    return endpoint
