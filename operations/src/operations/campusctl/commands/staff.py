"""Staff: first administrators, roles and suspensions."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from contracts.permissions import STAFF_ROLES
from operations.campusctl.approving import Hash, approve_decision
from operations.campusctl.registering import Key, Limit, Operator, Page, Yes, command
from operations.campusctl.showing import Output

Role = StrEnum("Role", {role: role for role in sorted(STAFF_ROLES)})  # type: ignore[misc]
UserId = Annotated[UUID, typer.Argument(help="Id of the user.")]
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


def bootstrap(operator: Operator, email: str, yes: Yes = False) -> Output:
    """Make an existing user a platform_admin, on the system's machine (STATE_DIR).

    Use it for the second administrator: no checker exists yet to approve that grant.
    """
    operator.own.secrets()
    operator.confirm(f"Make {email} a platform_admin?", yes=yes)
    return Output({"email": email, "said": operator.own.must("identity", "grant-admin", email)})


def list_staff(
    operator: Operator,
    role: Role | None = None,
    suspended: Annotated[bool | None, typer.Option("--suspended/--active")] = None,
    page: Page = 1,
    limit: Limit = 20,
) -> Output:
    """List staff with their roles."""
    narrowed = {"role": role and role.value, "suspended": None if suspended is None else str(suspended).lower()}
    found = operator.api.get("/api/staff", page=page, limit=limit, **narrowed)
    return Output(found.data, _COLUMNS, found.meta)


def list_grants(operator: Operator, status: str | None = None, page: Page = 1, limit: Limit = 20) -> Output:
    """List role grants: prepared, approved or rejected."""
    found = operator.api.get("/api/staff-grants", status=status, page=page, limit=limit)
    return Output(found.data, _GRANT_COLUMNS, found.meta)


def grant(
    operator: Operator,
    user_id: UserId,
    role: Role,
    campus: Annotated[UUID | None, typer.Option(help="Campus of a campus_admin.")] = None,
    hub: Annotated[UUID | None, typer.Option(help="Hub of a hub_agent.")] = None,
    key: Key = None,
) -> Output:
    """Grant a role. Roles that move money, and platform_admin, wait for a checker."""
    body = {"role": role.value, "campusId": campus and str(campus), "hubId": hub and str(hub)}
    return Output(operator.api.act(f"/api/staff/{user_id}/grant", body, key).data)


def revoke(operator: Operator, user_id: UserId, role: Role, yes: Yes = False, key: Key = None) -> Output:
    """Revoke a role at once."""
    operator.confirm(f"Revoke the role {role.value} from {user_id}?", yes=yes)
    return Output(operator.api.act(f"/api/staff/{user_id}/revoke", {"role": role.value}, key).data)


def suspend(
    operator: Operator, user_id: UserId, reason: str | None = None, yes: Yes = False, key: Key = None
) -> Output:
    """Suspend a user: all sessions end, and no new one starts."""
    operator.confirm(f"Suspend {user_id}?", yes=yes)
    return Output(operator.api.act(f"/api/staff/{user_id}/suspend", {"reason": reason}, key).data)


def reinstate(operator: Operator, user_id: UserId, reason: str | None = None, key: Key = None) -> Output:
    """End a suspension."""
    return Output(operator.api.act(f"/api/staff/{user_id}/reinstate", {"reason": reason}, key).data)


def approve(
    operator: Operator, grant_id: UUID, approved_hash: Hash = None, yes: Yes = False, key: Key = None
) -> Output:
    """Approve a role grant that another administrator prepared."""

    def question(prepared: dict[str, Any]) -> str:
        return f"Give {prepared['userId']} the role {prepared['role']}?"

    path = f"/api/staff-grants/{grant_id}"
    return approve_decision(operator, path, question, approved_hash=approved_hash, yes=yes, key=key)


def reject(operator: Operator, grant_id: UUID, key: Key = None) -> Output:
    """Reject a role grant that another administrator prepared."""
    return Output(operator.api.act(f"/api/staff-grants/{grant_id}/reject", {}, key).data)
