"""The members of a shop: invited, changed and removed by its owner; invitations answered by the invited person."""

from typing import Final

from starlette.responses import Response

from console.api import Json
from console.choices import user_choices
from console.families import Screens
from console.lists import Column, ListView, load_list, show_list
from console.visit import Visit

SCREENS = Screens()

OWNER: Final = ("shop_members:own",)
ROLES: Final = (("packer", "Packer"), ("manager", "Manager"))

MEMBERS = ListView(
    "/api/shop-members",
    columns=(
        Column("Name", lambda one: one["fullName"] or one["email"]),
        Column("Mail address", "email"),
        Column("Role", "role", "badge"),
        Column("Since", "joinedAt", "time"),
    ),
    empty="You work alone. Invite a packer or a manager by mail address.",
    is_paged=False,
)


@SCREENS.page("/shop-members", title="Members", any_of=OWNER, menu="Members")
async def members_page(visit: Visit) -> Response:
    if visit.query.get("format") == "csv":
        return await show_list(visit, MEMBERS)
    shown = await load_list(visit, MEMBERS)
    names = dict(user_choices(shown.rows.items))
    invitations: list[Json] = await visit.api.get("/api/shop-invitations")
    return visit.render(
        "vendor/members.html",
        shown=shown,
        members=[(one["userId"], f"{names[one['userId']]} ({one['role']})") for one in shown.rows.items],
        invitations=[one for one in invitations if not one["isForCaller"]],
        roles=ROLES,
    )


@SCREENS.action("/shop-members/invite", any_of=OWNER, page=members_page)
async def invite(visit: Visit) -> Response:
    body = {"email": visit.form["email"], "role": visit.form["role"]}
    invitation: Json = await visit.api.post("/api/shop-invitations", body)
    return visit.go("/shop-members", f"{invitation['email']} is invited for seven days.")


@SCREENS.action("/shop-members/withdraw", any_of=OWNER, page=members_page)
async def withdraw(visit: Visit) -> Response:
    await visit.api.delete(f"/api/shop-invitations/{visit.form['invitation']}")
    return visit.go("/shop-members", "The invitation is withdrawn.")


@SCREENS.action("/shop-members/change", any_of=OWNER, page=members_page)
async def change(visit: Visit) -> Response:
    await visit.api.patch(f"/api/shop-members/{visit.form['member']}", {"role": visit.form["role"]})
    return visit.go("/shop-members", "The role is changed. The member signs in again.")


@SCREENS.action("/shop-members/remove", any_of=OWNER, page=members_page)
async def remove(visit: Visit) -> Response:
    await visit.api.delete(f"/api/shop-members/{visit.form['member']}")
    return visit.go("/shop-members", "The member is removed and signed out.")


@SCREENS.page("/shop-invitations", title="Invitations")
async def invitations_page(visit: Visit) -> Response:
    """Return the invitations to the own confirmed address, and the own membership."""
    invitations: list[Json] = await visit.api.get("/api/shop-invitations")
    members: list[Json] = await visit.api.get("/api/shop-members")
    return visit.render(
        "vendor/invitations.html",
        invitations=[one for one in invitations if one["isForCaller"]],
        membership=next((one for one in members if one["userId"] == visit.user.id), None),
    )


@SCREENS.action("/shop-invitations/{id:uuid}/accept", page=invitations_page)
async def accept(visit: Visit) -> Response:
    """Accept, and end the session: the next sign-in has the role."""
    member: Json = await visit.api.post(f"/api/shop-invitations/{visit['id']}/accept")
    visit.session.end()
    return visit.go("/sign-in", f"You work for {member['businessName']} now. Sign in to start.")


@SCREENS.action("/shop-invitations/{id:uuid}/decline", page=invitations_page)
async def decline(visit: Visit) -> Response:
    await visit.api.delete(f"/api/shop-invitations/{visit['id']}")
    return visit.go("/shop-invitations", "The invitation is declined.")


@SCREENS.action("/shop-invitations/leave", page=invitations_page)
async def end_membership(visit: Visit) -> Response:
    await visit.api.delete(f"/api/shop-members/{visit.user.id}")
    visit.session.end()
    return visit.go("/sign-in", "You no longer work for the shop.")
