"""The staff as lists and screens name them: who did what, and who may decide."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from console.api import ApiProblem, Json
from console.formats import FORMER, spoken
from console.lists import Column, Filter, ListView
from console.messages import detail_words
from console.visit import Visit

STAFF_READERS: Final = ("staff:read",)


async def staff_names(visit: Visit) -> dict[str, str]:
    """Return the names of all staff by id."""
    return {one["id"]: one["fullName"] or one["email"] async for one in visit.api.every_row("/api/staff")}


_USER_FIELDS: Final = frozenset({"userId", "preparedBy", "decidedBy", "actorId"})


def with_names(view: ListView, names: Mapping[str, str]) -> ListView:
    """Return the list with names instead of the ids of people."""

    def named(column: Column) -> Column:
        field = column.value
        if not isinstance(field, str) or field not in _USER_FIELDS:
            return column
        return replace(column, value=lambda row: names.get(row[field], row[field] and FORMER))

    return replace(view, columns=tuple(named(column) for column in view.columns))


def may_decide(visit: Visit, permission: str, decision: Json, *concerned: str) -> bool:
    """Neither who prepared a decision nor whom it concerns decides it."""
    involved = (decision["preparedBy"], *concerned)
    return visit.may(permission) and decision["status"] == "prepared" and visit.user.id not in involved


async def member(visit: Visit, user_id: str | None) -> Json | None:
    """Return the person of an id; None when erased, unknown or outside what the reader may see."""
    if user_id is None or not visit.may(*STAFF_READERS):
        return None
    try:
        found: Json = await visit.api.get(f"/api/staff/{user_id}")
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        return None
    return found


ACTIONS = ListView(
    "/api/staff-acts",
    columns=(
        Column("At", "createdAt", "time"),
        Column("Act", lambda one: f"{spoken(one['act'])} ({spoken(one['subjectKind'])})"),
        Column("By", "actorId", link="/staff/{actorId}"),
        Column("Detail", lambda one: detail_words(one["detail"])),
    ),
    filters=(
        Filter("act", "Act"),
        Filter("actorId", "Person", kind="hidden"),
        Filter("subjectId", "Subject", kind="hidden"),
    ),
    empty="Staff have changed nothing yet.",
)
