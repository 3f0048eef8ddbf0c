"""Staff and their roles."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.choices import api_values, choices
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.pages.campus.names import campus_names
from console.pages.platform.directory import ACTIONS, STAFF_READERS, staff_names, with_names
from console.parts import command
from console.roles import role_words
from console.visit import Visit

SCREENS = Screens()


ROLES: Final = api_values("/api/staff", "role")


STAFF = ListView(
    "/api/staff",
    columns=(
        Column("Name", lambda one: one["fullName"] or one["email"], link="/staff/{id}"),
        Column("Mail address", "email"),
        Column("Roles", lambda one: ", ".join(role_words(appointment["role"]) for appointment in one["offices"])),
        Column("Second factor", lambda one: "yes" if one["hasSecondFactor"] else "missing"),
        Column("Status", lambda one: "suspended" if one["suspended"] else "active", "badge"),
        Column("Joined", "createdAt", "time"),
    ),
    filters=(
        Filter("email", "Exact mail address", kind="search"),
        Filter("role", "Role"),
        Filter("suspended", "Suspended", (("true", "yes"), ("false", "no"))),
    ),
    empty="Nobody holds a staff role.",
)


@SCREENS.page("/staff", title="Staff", any_of=STAFF_READERS, menu="Staff")
async def staff_page(visit: Visit) -> Response:
    return await show_list(visit, STAFF, "platform/staff.html")


@SCREENS.page("/staff/{id:uuid}", title="Staff member", any_of=STAFF_READERS)
async def member_page(visit: Visit) -> Response:
    """Roles with who may change them, pending grants, and the trail of what staff did to this person."""
    user_id = visit["id"]
    member, grants, actions, campuses, hubs, names = await asyncio.gather(
        visit.api.get(f"/api/staff/{user_id}"),
        visit.api.page("/api/staff-grants", userId=user_id, status="prepared"),
        visit.api.page("/api/staff-acts", subjectId=user_id, limit=20),
        campus_names(visit),
        _hubs(visit) if visit.may("staff:manage") else _nothing(),
        staff_names(visit),
    )
    hub_names = {hub["id"]: hub["name"] for hub in hubs}
    return visit.render(
        "platform/member.html",
        title=member["fullName"] or member["email"],
        member=member,
        grants=grants.items,
        actions=actions.items,
        action_columns=with_names(ACTIONS, names).columns[:4],
        campuses=campuses,
        hub_names=hub_names,
        hubs=[(hub["id"], f"{hub['name']}, {campuses.get(hub['campusId'], '')}") for hub in hubs],
        roles=choices(*(role for role in ROLES if role not in member["roles"])),
        is_self=member["id"] == visit.user.id,
    )


@SCREENS.action("/staff/{id:uuid}/grant", any_of=("staff:manage",), page=member_page)
async def grant_role(visit: Visit) -> Response:
    role = visit.form["role"]
    body = visit.form.given("role")
    # The form offers both places; a role takes one of them or none.
    body |= visit.form.given("campusId") if role == "campus_admin" else {}
    body |= visit.form.given("hubId") if role == "hub_agent" else {}
    grant: Json = await visit.api.post(f"/api/staff/{visit['id']}/grant", body)
    if grant["status"] == "prepared":
        return visit.go(f"/staff-grants/{grant['id']}", "The grant is prepared. A second platform admin approves it.")
    return visit.go(
        f"/staff/{visit['id']}", f"The role {role_words(role)} is granted. It holds from the next sign-in on."
    )


@SCREENS.action("/staff/{id:uuid}/revoke", any_of=("staff:manage",), page=member_page)
async def revoke_role(visit: Visit) -> Response:
    return await command(
        visit, {"role": visit.form["role"]}, f"The role {role_words(visit.form['role'])} is revoked within 60 seconds."
    )


@SCREENS.action("/staff/{id:uuid}/suspend", any_of=("staff:manage",), page=member_page)
async def suspend_member(visit: Visit) -> Response:
    return await command(
        visit, visit.form.given("reason"), "The person is suspended. All their sessions end within 60 seconds."
    )


@SCREENS.action("/staff/{id:uuid}/reinstate", any_of=("staff:manage",), page=member_page)
async def reinstate_member(visit: Visit) -> Response:
    return await command(visit, visit.form.given("reason"), "The person may sign in again.")


async def _hubs(visit: Visit) -> list[Json]:
    campuses = [campus async for campus in visit.api.every_row("/api/campuses")]
    pages = await asyncio.gather(
        *(visit.api.page(f"/api/campuses/{campus['id']}/hubs", limit=100) for campus in campuses)
    )
    return [hub for page in pages for hub in page.items if hub["active"]]


async def _nothing() -> list[Json]:
    return []
