"""Grants of roles that need a second admin, and the audit trail of staff."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.pages.campus.names import campus_names
from console.pages.platform.directory import ACTIONS, STAFF_READERS, may_decide, member, staff_names, with_names
from console.parts import command
from console.roles import role_words
from console.visit import Visit

SCREENS = Screens()

OPEN: Final = ("proposed", "prepared")
GRANTS = ListView(
    "/api/staff-grants",
    columns=(
        Column("Role", lambda one: role_words(one["role"]), link="/staff-grants/{id}"),
        Column("For", "userId", link="/staff/{userId}"),
        Column("Status", "status", "badge"),
        Column("Proposed by", "proposedBy"),
        Column("Prepared by", "preparedBy", link="/staff/{preparedBy}"),
        Column("Prepared", "preparedAt", "time"),
        Column("Expires", lambda one: one["expiresAt"] if one["status"] in OPEN else None, "left"),
        Column("Decided by", "decidedBy", link="/staff/{decidedBy}"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
    ),
    empty="No grant needed a second person yet. Roles that move money, and platform admin, need one.",
)


@SCREENS.page("/staff-grants", title="Grants of roles", any_of=STAFF_READERS, menu="Grants of roles")
async def grants_page(visit: Visit) -> Response:
    return await show_list(visit, with_names(GRANTS, await staff_names(visit)))


@SCREENS.page("/staff-grants/{id:uuid}", title="Grant of a role", any_of=STAFF_READERS)
async def grant_page(visit: Visit) -> Response:
    """Who gets what from whom. The approval names the content that is shown, by its hash."""
    grant: Json = await visit.api.get(f"/api/staff-grants/{visit['id']}")
    grantee, maker, decider = await asyncio.gather(
        member(visit, grant["userId"]), member(visit, grant["preparedBy"]), member(visit, grant["decidedBy"])
    )
    return visit.render(
        "platform/grant.html",
        title=f"Grant: {role_words(grant['role'])}",
        grant=grant,
        grantee=grantee,
        maker=maker,
        decider=decider,
        campuses=await campus_names(visit) if grant["campusId"] else {},
        may_decide=may_decide(visit, "staff:manage", grant, grant["userId"]),
        may_prepare=grant["status"] == "proposed" and visit.may("staff:manage") and visit.user.id != grant["userId"],
    )


@SCREENS.action("/staff-grants/{id:uuid}/prepare", any_of=("staff:manage",), page=grant_page)
async def prepare_grant(visit: Visit) -> Response:
    grant: Json = await visit.api.get(f"/api/staff-grants/{visit['id']}")
    await visit.api.post(f"/api/staff/{grant['userId']}/grant", {"role": grant["role"]})
    return visit.go(f"/staff-grants/{visit['id']}", "The grant is prepared. A second platform admin approves it.")


@SCREENS.action("/staff-grants/{id:uuid}/approve", any_of=("staff:manage",), page=grant_page)
async def approve_grant(visit: Visit) -> Response:
    return await command(
        visit, {"hash": visit.form["hash"]}, "The role is granted. It holds from the person's next sign-in on."
    )


@SCREENS.action("/staff-grants/{id:uuid}/reject", any_of=("staff:manage",), page=grant_page)
async def reject_grant(visit: Visit) -> Response:
    return await command(visit, None, "The grant is rejected.")


@SCREENS.page("/staff-acts", title="Audit trail of staff", any_of=STAFF_READERS, menu="Audit trail of staff")
async def actions_page(visit: Visit) -> Response:
    return await show_list(visit, with_names(ACTIONS, await staff_names(visit)))
