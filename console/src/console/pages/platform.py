"""Screens of a platform admin: staff and roles, commissions, signing keys, quotas. Grave changes need a second admin."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Family
from console.formats import spoken
from console.lists import Column, Filter, ListView, choices, show_list
from console.pages.campus.names import campus_names, percent
from console.pages.campus.vendors import vendor_page
from console.parts import command
from console.visit import InvalidField, Visit

FAMILY = Family("Platform", order=60)

STAFF_READERS: Final = ("staff:read",)
ROLES: Final = (
    "hub_agent",
    "support_agent",
    "campus_admin",
    "finance_maker",
    "finance_checker",
    "ops_oncall",
    "auditor",
    "platform_admin",
)


# Staff

STAFF = ListView(
    "/api/staff",
    columns=(
        Column("Name", lambda one: one["fullName"] or one["email"], link="/staff/{id}"),
        Column("Mail address", "email"),
        Column("Roles", lambda one: ", ".join(spoken(appointment["role"]) for appointment in one["offices"])),
        Column("Second factor", lambda one: "yes" if one["hasSecondFactor"] else "missing"),
        Column("Status", lambda one: "suspended" if one["suspended"] else "active", "badge"),
        Column("Joined", "createdAt", "time"),
    ),
    filters=(
        Filter("email", "Exact mail address", kind="search"),
        Filter("role", "Role", choices(*ROLES)),
        Filter("suspended", "Suspended", (("true", "yes"), ("false", "no"))),
    ),
    empty="Nobody holds a staff role.",
)


async def staff_names(visit: Visit) -> dict[str, str]:
    """Return the names of all staff by id."""
    return {one["id"]: one["fullName"] or one["email"] async for one in visit.api.every_row("/api/staff")}


_USER_FIELDS: Final = frozenset({"userId", "preparedBy", "decidedBy", "actorId"})


def with_names(view: ListView, names: Mapping[str, str]) -> ListView:
    """Return the list with names instead of the ids of people; who left the staff keeps the first characters of the id."""

    def named(column: Column) -> Column:
        field = column.value
        if not isinstance(field, str) or field not in _USER_FIELDS:
            return column
        return replace(column, value=lambda row: names.get(row[field], row[field] and row[field][:8]))

    return replace(view, columns=tuple(named(column) for column in view.columns))


@FAMILY.page("/staff", title="Staff", any_of=STAFF_READERS, menu="Staff")
async def staff_page(visit: Visit) -> Response:
    return await show_list(visit, STAFF, "platform/staff.html")


@FAMILY.page("/staff/{id:uuid}", title="Staff member", any_of=STAFF_READERS)
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


@FAMILY.action("/staff/{id:uuid}/grant", any_of=("staff:manage",), page=member_page)
async def grant_role(visit: Visit) -> Response:
    role = visit.form["role"]
    body = visit.form.given("role")
    # The form offers both places; a role takes one of them or none.
    body |= visit.form.given("campusId") if role == "campus_admin" else {}
    body |= visit.form.given("hubId") if role == "hub_agent" else {}
    grant: Json = await visit.api.post(f"/api/staff/{visit['id']}/grant", body)
    if grant["status"] == "prepared":
        return visit.go(f"/staff-grants/{grant['id']}", "The grant is prepared. A second platform admin approves it.")
    return visit.go(f"/staff/{visit['id']}", f"The role {spoken(role)} is granted. It holds from the next sign-in on.")


@FAMILY.action("/staff/{id:uuid}/revoke", any_of=("staff:manage",), page=member_page)
async def revoke_role(visit: Visit) -> Response:
    return await command(
        visit, {"role": visit.form["role"]}, f"The role {spoken(visit.form['role'])} is revoked within 60 seconds."
    )


@FAMILY.action("/staff/{id:uuid}/suspend", any_of=("staff:manage",), page=member_page)
async def suspend_member(visit: Visit) -> Response:
    return await command(
        visit, visit.form.given("reason"), "The person is suspended. All their sessions end within 60 seconds."
    )


@FAMILY.action("/staff/{id:uuid}/reinstate", any_of=("staff:manage",), page=member_page)
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


# Grants that need a second admin

GRANTS = ListView(
    "/api/staff-grants",
    columns=(
        Column("Role", lambda one: spoken(one["role"]), link="/staff-grants/{id}"),
        Column("For", "userId", link="/staff/{userId}"),
        Column("Status", "status", "badge"),
        Column("Prepared by", "preparedBy", link="/staff/{preparedBy}"),
        Column("Prepared", "preparedAt", "time"),
        Column("Expires", lambda one: one["expiresAt"] if one["status"] == "prepared" else None, "left"),
        Column("Decided by", "decidedBy", link="/staff/{decidedBy}"),
    ),
    filters=(
        Filter("status", "Status", choices("prepared", "approved", "rejected", "expired")),
        Filter("awaiting", "Awaiting", choices("approval")),
    ),
    empty="No grant needed a second person yet. Roles that move money, and platform admin, need one.",
)


@FAMILY.page("/staff-grants", title="Grants of roles", any_of=STAFF_READERS, menu="Grants of roles")
async def grants_page(visit: Visit) -> Response:
    return await show_list(visit, with_names(GRANTS, await staff_names(visit)))


@FAMILY.page("/staff-grants/{id:uuid}", title="Grant of a role", any_of=STAFF_READERS)
async def grant_page(visit: Visit) -> Response:
    """Who gets what from whom. The approval names the content that is shown, by its hash."""
    grant: Json = await visit.api.get(f"/api/staff-grants/{visit['id']}")
    grantee, maker, decider = await asyncio.gather(
        _member(visit, grant["userId"]), _member(visit, grant["preparedBy"]), _member(visit, grant["decidedBy"])
    )
    return visit.render(
        "platform/grant.html",
        title=f"Grant: {spoken(grant['role'])}",
        grant=grant,
        grantee=grantee,
        maker=maker,
        decider=decider,
        campuses=await campus_names(visit) if grant["campusId"] else {},
        may_decide=_may_decide(visit, "staff:manage", grant, grant["userId"]),
    )


def _may_decide(visit: Visit, permission: str, decision: Json, *concerned: str) -> bool:
    """Neither who prepared a decision nor whom it concerns decides it."""
    involved = (decision["preparedBy"], *concerned)
    return visit.may(permission) and decision["status"] == "prepared" and visit.user.id not in involved


async def _member(visit: Visit, user_id: str | None) -> Json | None:
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


@FAMILY.action("/staff-grants/{id:uuid}/approve", any_of=("staff:manage",), page=grant_page)
async def approve_grant(visit: Visit) -> Response:
    return await command(
        visit, {"hash": visit.form["hash"]}, "The role is granted. It holds from the person's next sign-in on."
    )


@FAMILY.action("/staff-grants/{id:uuid}/reject", any_of=("staff:manage",), page=grant_page)
async def reject_grant(visit: Visit) -> Response:
    return await command(visit, None, "The grant is rejected.")


# What staff did


def _detail(name: str, value: Any) -> str:
    """Return a fact of the trail; an id by its first characters, as everywhere."""
    shown = value[:8] if isinstance(value, str) and name.endswith("Id") else "none" if value is None else value
    return f"{name}: {shown}"


ACTIONS = ListView(
    "/api/staff-acts",
    columns=(
        Column("At", "createdAt", "time"),
        Column("Act", lambda one: f"{spoken(one['act'])} ({spoken(one['subjectKind'])})"),
        Column("By", "actorId", link="/staff/{actorId}"),
        Column("Detail", lambda one: ", ".join(_detail(*pair) for pair in one["detail"].items())),
        Column("Subject", "subjectId", "id"),
    ),
    filters=(Filter("act", "Act"), Filter("actorId", "By (id)"), Filter("subjectId", "Subject (id)")),
    empty="Staff have changed nothing yet.",
)


@FAMILY.page("/staff-acts", title="Audit trail of staff", any_of=STAFF_READERS, menu="Audit trail of staff")
async def actions_page(visit: Visit) -> Response:
    return await show_list(visit, with_names(ACTIONS, await staff_names(visit)))


# Commissions

COMMISSION_READERS: Final = ("vendors:commission", "vendors:read")


def _from_to(change: Json) -> str:
    return f"{percent(change['beforeBasisPoints'])} → {percent(change['commissionBasisPoints'])}"


CHANGES = ListView(
    "/api/commission-changes",
    columns=(
        Column("Change", _from_to, link="/commission-changes/{id}"),
        Column("Vendor", "vendorId", "id", link="/vendors/{vendorId}"),
        Column("Status", "status", "badge"),
        Column("Prepared", "preparedAt", "time"),
        Column("Expires", lambda one: one["expiresAt"] if one["status"] == "prepared" else None, "left"),
        Column("Decided", "decidedAt", "time"),
    ),
    filters=(
        Filter("status", "Status", choices("prepared", "approved", "rejected", "expired")),
        Filter("awaiting", "Awaiting", choices("approval")),
    ),
    empty="No commission was changed. Open a vendor to prepare a change.",
)


@FAMILY.page("/commission-changes", title="Commission changes", any_of=COMMISSION_READERS, menu="Commission changes")
async def changes_page(visit: Visit) -> Response:
    return await show_list(visit, CHANGES)


@FAMILY.page("/commission-changes/{id:uuid}", title="Commission change", any_of=COMMISSION_READERS)
async def change_page(visit: Visit) -> Response:
    change: Json = await visit.api.get(f"/api/commission-changes/{visit['id']}")
    vendor, maker, decider = await asyncio.gather(
        visit.api.get(f"/api/vendors/{change['vendorId']}"),
        _member(visit, change["preparedBy"]),
        _member(visit, change["decidedBy"]),
    )
    return visit.render(
        "platform/change.html",
        title=f"Commission of {vendor['businessName']}",
        change=change,
        vendor=vendor,
        before=percent(change["beforeBasisPoints"]),
        after=percent(change["commissionBasisPoints"]),
        now=percent(vendor.get("commissionBasisPoints")),
        has_moved=vendor.get("commissionBasisPoints") != change["beforeBasisPoints"],
        maker=maker,
        decider=decider,
        may_decide=_may_decide(visit, "vendors:commission", change),
    )


@FAMILY.action("/vendors/{id:uuid}/commission", any_of=("vendors:commission",), page=vendor_page)
async def prepare_change(visit: Visit) -> Response:
    body = {"commissionBasisPoints": _basis_points(visit), "revision": visit.form.number("revision")}
    vendor: Json = await visit.api.patch(f"/api/vendors/{visit['id']}", body)
    change = vendor.get("commissionChange")
    if not change:
        return visit.go(f"/vendors/{visit['id']}", "The vendor has this commission already.")
    return visit.go(
        f"/commission-changes/{change['id']}", "The change is prepared. A second platform admin approves it."
    )


def _basis_points(visit: Visit) -> int | None:
    """Per cent with two digits are basis points as naira with two digits are kobo. Raises InvalidField."""
    try:
        return visit.form.minor("percent")
    except InvalidField as error:
        raise InvalidField("percent", "write per cent, such as 4.50") from error


@FAMILY.action("/commission-changes/{id:uuid}/approve", any_of=("vendors:commission",), page=change_page)
async def approve_change(visit: Visit) -> Response:
    return await command(visit, {"hash": visit.form["hash"]}, "The commission holds for new orders.")


@FAMILY.action("/commission-changes/{id:uuid}/reject", any_of=("vendors:commission",), page=change_page)
async def reject_change(visit: Visit) -> Response:
    return await command(visit, visit.form.given("reason"), "The change is rejected.")


# Keys and quotas

KEYS = ListView(
    "/api/signing-keys",
    columns=(
        Column("Key", "kid"),
        Column("Algorithm", "algorithm"),
        Column("Status", "status", "badge"),
        Column("Made", "createdAt", "time"),
        Column("Signs from", "signsFrom", "time"),
        Column("Age", "createdAt", "ago"),
        Column("Retired", "retiredAt", "time"),
        Column("Because", "retiredBecause"),
    ),
    empty="No key exists yet.",
)


@FAMILY.page("/signing-keys", title="Signing keys", any_of=("settings:manage", "audits:read"), menu="Signing keys")
async def keys_page(visit: Visit) -> Response:
    return await show_list(visit, KEYS, "platform/keys.html")


@FAMILY.page("/quotas", title="Quotas", any_of=("settings:manage",), menu="Quotas")
async def quotas_page(visit: Visit) -> Response:
    """Return the caller's own quota, from the headers of one call, and what each tier is for."""
    headers: Any = (await visit.api.document("/api/profiles/current", accept="application/json")).headers
    return visit.render(
        "platform/quotas.html",
        limit=headers.get("ratelimit-limit"),
        remaining=headers.get("ratelimit-remaining"),
        tiers=TIERS,
    )


TIERS: Final = (
    ("1", "RATE_TIER_1", "address", "browsing without a sign-in"),
    ("2", "RATE_TIER_2", "user", "buyers"),
    ("3", "RATE_TIER_3", "user", "vendors and staff"),
    ("4", "RATE_TIER_4", "user or address and account", "sign-in, codes, payments, bank details, payouts"),
    ("5", "RATE_TIER_5", "user", "the assistant"),
    ("images", "RATE_TIER_MEDIA", "address", "images of products"),
)
"""The tiers of the contract, section 4, and the settings that hold their quotas."""
