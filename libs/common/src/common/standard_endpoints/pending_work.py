"""Work that waits for the caller: a service's part of `GET /api/work` (contract section 13.6, decision 53).

A service declares its kinds, each a SELECT of waiting rows; the gateway merges the parts of all services.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller, ServiceItself
from common.auth.guards import permission
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, ok
from common.web.response_models import ResponseModel, Timestamp
from common.web.responses import Meta as ResponseMeta
from common.web.responses import Success
from contracts.work import WorkKindName

WORK_PATH: Final = "/api/work"
# No user processes more at once, and the cost of a request stays bounded.
COUNT_MAX: Final = 1_000
COUNTING: Final = ServiceItself("the caller may read the list, but not each table that decides on the step")

# Both values are named even if a kind does not use them, so that each has a type.
_COUNT: Final = """
SELECT {place} AS place, count(*) AS rows, min(since) AS oldest_at, min(due) AS respond_by
FROM (
    SELECT since, due FROM ({rows}) AS waiting WHERE $1::timestamptz IS NOT NULL AND ($2::uuid IS NULL OR true)
    ORDER BY since LIMIT {limit}
) AS counted
"""


@dataclass(frozen=True, slots=True)
class WorkKind:
    """A kind of work for callers who hold all `permissions`, and any of `one_of`.

    `rows` selects the time since when each row waits (`since`) and its deadline or null (`due`); $1 is the present
    time, $2 the caller's vendor. It runs under the caller's row policies, or without them (`past_policies`). `link` is
    the path of the list of exactly these rows; `{vendor_id}` in it is the caller's vendor.
    """

    kind: WorkKindName
    permissions: tuple[str, ...]
    link: str
    rows: str
    past_policies: bool = False
    one_of: tuple[str, ...] = ()

    def is_for(self, caller: Caller) -> bool:
        holds_one = not self.one_of or not caller.permissions.isdisjoint(self.one_of)
        return holds_one and caller.permissions.issuperset(self.permissions)


class WorkItem(ResponseModel):
    """Rows that wait for a step of the caller."""

    kind: WorkKindName
    count: Annotated[int, Meta(ge=1, le=COUNT_MAX, description=f"{COUNT_MAX} means: so many or more.")]
    oldest_at: Annotated[Timestamp, Meta(description="Since when the oldest of them waits.")]
    respond_by: Annotated[Timestamp | None, Meta(description="The earliest deadline among them; null without one.")]
    link: Annotated[str, Meta(description="The path and query of the list of exactly these rows.")]


class WorkMeta(ResponseMeta):
    unavailable: Annotated[
        list[str], Meta(description="Services that did not respond; their part of the work is missing.")
    ]


class WorkList(ResponseModel):
    success: Success
    data: list[WorkItem]
    meta: WorkMeta


def pending_work_endpoints(kinds: Sequence[WorkKind], database: Database, clock: Clock) -> Endpoints:
    """Return the endpoint of this service's part. Other services' work is not in it."""
    endpoint = Endpoints("work")

    @endpoint("GET", WORK_PATH, id="work.list", returns=WorkList, allow=permission("work:read"), merged=True)
    async def list_work(request: Request, caller: CurrentCaller) -> Response:
        """Return the work that waits for the caller, by kind. Rows that the caller prepared and cannot approve are not
        counted.
        """
        items = await count_work(database, kinds, caller, clock.now())
        return ok(request, items, meta=WorkMeta, unavailable=[])

    return endpoint


async def count_work(database: Database, kinds: Sequence[WorkKind], caller: Caller, now: datetime) -> list[WorkItem]:
    """Return the non-empty kinds that the caller has the permissions for."""
    held = [kind for kind in kinds if kind.is_for(caller)]
    found = [
        *await _count(database, [kind for kind in held if not kind.past_policies], caller, caller, now),
        *await _count(database, [kind for kind in held if kind.past_policies], COUNTING, caller, now),
    ]
    return sorted(found, key=lambda item: item.kind)


async def _count(
    database: Database, kinds: Sequence[WorkKind], acting_as: Caller | ServiceItself, caller: Caller, now: datetime
) -> list[WorkItem]:
    if not kinds:
        return []
    parts = [_COUNT.format(place=place, rows=kind.rows, limit=COUNT_MAX) for place, kind in enumerate(kinds)]
    async with database.unit_of_work(acting_as=acting_as) as uow:
        rows = await uow.fetch(" UNION ALL ".join(parts), now, caller.vendor_id)
    return [
        WorkItem.from_row(
            row,
            kind=kinds[row["place"]].kind,
            count=row["rows"],
            link=kinds[row["place"]].link.format(vendor_id=caller.vendor_id),
        )
        for row in rows
        if row["rows"]
    ]
