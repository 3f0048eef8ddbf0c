"""Who works here: the first admins, roles given by two people, suspensions."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from contracts.permissions import STAFF_ROLES
from operations.campusctl.approving import Hash, approve_decision
from operations.campusctl.registering import Key, Limit, Operator, Page, Yes, command
from operations.campusctl.showing import Answer

Role = StrEnum("Role", {role: role for role in sorted(STAFF_ROLES)})  # type: ignore[misc]
Person = Annotated[UUID, typer.Argument(help="The person's id.")]
_COLUMNS = ("id", "email", "fullName", "roles", "hasSecondFactor", "suspended")
_GRANT_COLUMNS = ("id", "userId", "role", "status", "preparedBy", "preparedAt", "expiresAt")
_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Staff, their roles and suspensions.", no_args_is_help=True)
    command(group, "bootstrap", "campusctl staff bootstrap second.admin@campus.example")(bootstrap)
    command(group, "list", "campusctl staff list --role finance_maker", "campusctl staff list --suspended")(list_staff)
    command(group, "grants", "campusctl staff grants --status prepared")(list_grants)
    command(group, "grant", f"campusctl staff grant {_ID} support_agent")(grant)
    command(group, "revoke", f"campusctl staff revoke {_ID} support_agent --yes")(revoke)
    command(group, "suspend", f"campusctl staff suspend {_ID} --reason 'Lost the laptop'")(suspend)
    command(group, "reinstate", f"campusctl staff reinstate {_ID}")(reinstate)
    command(group, "approve", f"campusctl staff approve {_ID}")(approve)
    command(group, "reject", f"campusctl staff reject {_ID}")(reject)
    app.add_typer(group, name="staff")


def bootstrap(operator: Operator, email: str, yes: Yes = False) -> Answer:
    """Make somebody who has an account a platform_admin, from the machine itself (STATE_DIR).

    For the second admin, whom nobody else could approve.
    """
    operator.own.secrets()
    operator.confirm(f"Make {email} a platform_admin?", yes=yes)
    return Answer({"email": email, "said": operator.own.must("identity", "grant-admin", email)})


def list_staff(
    operator: Operator,
    role: Role | None = None,
    suspended: Annotated[bool | None, typer.Option("--suspended/--active")] = None,
    page: Page = 1,
    limit: Limit = 20,
) -> Answer:
    """List staff with their roles."""
    narrowed = {"role": role and role.value, "suspended": None if suspended is None else str(suspended).lower()}
    found = operator.api.get("/api/staff", page=page, limit=limit, **narrowed)
    return Answer(found.data, _COLUMNS, found.meta)


def list_grants(operator: Operator, status: str | None = None, page: Page = 1, limit: Limit = 20) -> Answer:
    """List roles that wait for a second person, or were decided."""
    found = operator.api.get("/api/staff-grants", status=status, page=page, limit=limit)
    return Answer(found.data, _GRANT_COLUMNS, found.meta)


def grant(
    operator: Operator,
    person: Person,
    role: Role,
    campus: Annotated[UUID | None, typer.Option(help="For a campus_admin.")] = None,
    hub: Annotated[UUID | None, typer.Option(help="For a hub_agent.")] = None,
    key: Key = None,
) -> Answer:
    """Give somebody a role; the graver ones wait for a second person."""
    body = {"role": role.value, "campusId": campus and str(campus), "hubId": hub and str(hub)}
    return Answer(operator.api.act(f"/api/staff/{person}/grant", body, key).data)


def revoke(operator: Operator, person: Person, role: Role, yes: Yes = False, key: Key = None) -> Answer:
    """Take a role back at once."""
    operator.confirm(f"Take the role {role.value} from {person}?", yes=yes)
    return Answer(operator.api.act(f"/api/staff/{person}/revoke", {"role": role.value}, key).data)


def suspend(operator: Operator, person: Person, reason: str | None = None, yes: Yes = False, key: Key = None) -> Answer:
    """Suspend a person: all sessions end, none begins."""
    operator.confirm(f"Suspend {person}?", yes=yes)
    return Answer(operator.api.act(f"/api/staff/{person}/suspend", {"reason": reason}, key).data)


def reinstate(operator: Operator, person: Person, reason: str | None = None, key: Key = None) -> Answer:
    """End a suspension."""
    return Answer(operator.api.act(f"/api/staff/{person}/reinstate", {"reason": reason}, key).data)


def approve(
    operator: Operator, grant_id: UUID, approved_hash: Hash = None, yes: Yes = False, key: Key = None
) -> Answer:
    """Approve a role that another person prepared."""

    def question(prepared: dict[str, Any]) -> str:
        return f"Give {prepared['userId']} the role {prepared['role']}?"

    path = f"/api/staff-grants/{grant_id}"
    return approve_decision(operator, path, question, approved_hash=approved_hash, yes=yes, key=key)


def reject(operator: Operator, grant_id: UUID, key: Key = None) -> Answer:
    """Reject a role that another person prepared."""
    return Answer(operator.api.act(f"/api/staff-grants/{grant_id}/reject", {}, key).data)
