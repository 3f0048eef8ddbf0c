"""The personal data that a service stores of the caller: `/api/personal-records/<service>` (decision 25).

A service declares sections, each a SELECT of the caller's own rows; the list pages through all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller, ServiceItself
from common.auth.guards import SIGNED_IN
from common.database.unit_of_work import Database
from common.primitives.clock import iso
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller
from common.web.pages import RequestedPage, cursor_page, respond_page
from common.web.response_models import JsonObject, ResponseModel

READING: Final = ServiceItself("no caller may read these tables; the caller's id is the statement's own condition")

# Both ids are named even if a section does not use them, so that each has a type.
_PAGE: Final = """
SELECT * FROM ({rows}) AS own
WHERE $1::uuid IS NOT NULL AND ($2::uuid IS NULL OR true) AND ($3::text IS NULL OR place COLLATE "C" > $3)
ORDER BY place COLLATE "C" LIMIT $4
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A kind of record. `rows` selects those of the user $1 and their vendor $2, with a text `place` as unique order.

    It runs under the caller's row policies, or without them (`past_policies`) when no caller may read the table.
    """

    name: str
    rows: str
    past_policies: bool = False


class PersonalRecord(ResponseModel):
    """One stored row of a user; its fields depend on the section."""

    section: str
    record: JsonObject


def personal_record_endpoints(service: str, sections: Sequence[Section], database: Database) -> Endpoints:
    """Return the endpoint for the caller's own records. No endpoint returns those of another user."""
    endpoint = Endpoints("personal records")

    @endpoint(
        "GET",
        f"/api/personal-records/{service}",
        id=f"personalRecords.list{service.capitalize()}",
        returns=list[PersonalRecord],
        allow=SIGNED_IN,
    )
    async def list_personal_records(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
        """Return all data that this service stores of the caller, by section, without secrets and ids of others."""
        scope = ["personal-records", service, caller.id]
        first, place = requested.open(scope) or (0, None)
        found: list[tuple[int, str, JsonObject]] = []
        for number, section in enumerate(sections):
            if number >= first and len(found) <= requested.limit:
                after = place if number == first else None
                rows = await _read(database, section, caller, after, requested.limit + 1 - len(found))
                found += [(number, row.pop("place"), row) for row in rows]
        page = cursor_page(
            requested,
            scope,
            found,
            position_of=lambda record: record[:2],
            item_of=lambda record: PersonalRecord(section=sections[record[0]].name, record=_record(record[2])),
        )
        return respond_page(request, page)

    return endpoint


async def _read(
    database: Database, section: Section, caller: Caller, after: str | None, limit: int
) -> list[JsonObject]:
    acting = READING if section.past_policies else caller
    async with database.unit_of_work(acting_as=acting) as uow:
        rows = await uow.fetch(_PAGE.format(rows=section.rows), caller.id, caller.owned_vendor_id, after, limit)
    return [dict(row) for row in rows]


def _record(row: JsonObject) -> JsonObject:
    return {_camel(name): _shown(value) for name, value in row.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _shown(value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    return value.isoformat() if isinstance(value, date | time) else value
