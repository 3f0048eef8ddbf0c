"""Staff: first administrators, roles and suspensions; and the commission of a vendor, by two administrators."""

from dataclasses import replace
from typing import Annotated, Any, Final
from uuid import UUID

import typer

from contracts.permissions import STAFF_ROLES
from operations.campusctl.api_commands import ID, Call, Commands, Own, Value, decision_commands, one_of, register_group
from operations.campusctl.registering import Operator, Yes
from operations.campusctl.showing import Output

_USER: Final = Value("user_id", UUID, "Id of the user.")
_ROLE: Final = one_of("role", *sorted(STAFF_ROLES))
_ROLE_ARGUMENT: Final = replace(_ROLE, is_argument=True)


def register(app: typer.Typer) -> None:
    register_group(app, "staff", "Staff, their roles and suspensions.", STAFF)
    register_group(app, "commissions", "Vendor commissions; two administrators decide on a change.", COMMISSIONS)


def bootstrap(operator: Operator, email: str, yes: Yes = False) -> Output:
    """Make an existing user a platform_admin, on the system's machine (STATE_DIR).

    Use it for the second administrator: no checker exists yet to approve that grant.
    """
    operator.own.secrets()
    operator.confirm(f"Make {email} a platform_admin?", yes=yes)
    return Output({"email": email, "said": operator.own.must("identity", "grant-admin", email)})


def prepare_commission(
    operator: Operator,
    vendor_id: UUID,
    basis_points: Annotated[
        int | None, typer.Option(min=0, max=10_000, help="New commission; omit to restore the platform's default.")
    ] = None,
) -> Output:
    """Prepare a commission change. It takes effect when another administrator approves it."""
    changed = operator.api.call("PATCH", f"/api/vendors/{vendor_id}", {"commissionBasisPoints": basis_points})
    return Output(changed.data.get("commissionChange") or changed.data)


def _grant(prepared: dict[str, Any]) -> str:
    return f"Give {prepared['userId']} the role {prepared['role']}?"


def _commission(change: dict[str, Any]) -> str:
    points = change["commissionBasisPoints"]
    of = "of the platform's default" if points is None else f"of {points} basis points"
    return f"Give vendor {change['vendorId']} the commission {of}?"


STAFF: Final[Commands] = {
    "bootstrap": Own(bootstrap, ("second.admin@campus.example",)),
    "list": Call(
        "GET /api/staff",
        "List staff with their roles.",
        (_ROLE, Value("suspended", bool, flags="--suspended/--active")),
        ("id", "email", "fullName", "roles", "hasSecondFactor", "suspended"),
        ("--role finance_maker", "--suspended"),
    ),
    "grants": Call(
        "GET /api/staff-grants",
        "List role grants: proposed by an identity provider, prepared, approved or rejected.",
        (Value("status"),),
        ("id", "userId", "role", "status", "preparedBy", "preparedAt", "expiresAt"),
        ("--status prepared",),
    ),
    "grant": Call(
        "POST /api/staff/{user_id}/grant",
        "Grant a role. Roles that move money, platform_admin and proposed roles wait for a checker.",
        (
            _USER,
            _ROLE_ARGUMENT,
            Value("campus", UUID, "Campus of a campus_admin.", sent_as="campusId"),
            Value("hub", UUID, "Hub of a hub_agent.", sent_as="hubId"),
        ),
        examples=(f"{ID} support_agent",),
    ),
    "revoke": Call(
        "POST /api/staff/{user_id}/revoke",
        "Revoke a role at once.",
        (_USER, _ROLE_ARGUMENT),
        examples=(f"{ID} support_agent --yes",),
        confirmation="Revoke the role {role} from {user_id}?",
    ),
    "suspend": Call(
        "POST /api/staff/{user_id}/suspend",
        "Suspend a user: all sessions end, and no new one starts.",
        (_USER, Value("reason")),
        examples=(f"{ID} --reason 'Lost the laptop'",),
        confirmation="Suspend {user_id}?",
    ),
    "reinstate": Call("POST /api/staff/{user_id}/reinstate", "End a suspension.", (_USER, Value("reason"))),
    **decision_commands(
        "/api/staff-grants/{grant_id}",
        _grant,
        "Approve a role grant that another administrator prepared.",
        "Reject a role grant that another administrator prepared.",
        reasons=(),
    ),
}
COMMISSIONS: Final[Commands] = {
    "list": Call(
        "GET /api/commission-changes",
        "List commission changes.",
        (
            Value("status"),
            Value("vendor", UUID, sent_as="vendorId"),
        ),
        ("id", "vendorId", "beforeBasisPoints", "commissionBasisPoints", "status", "preparedBy", "expiresAt"),
        ("--status prepared",),
    ),
    "prepare": Own(prepare_commission, (f"{ID} --basis-points 450",)),
    **decision_commands(
        "/api/commission-changes/{change_id}",
        _commission,
        "Approve a commission change that another administrator prepared.",
        "Reject a commission change that another administrator prepared.",
        example="Not agreed",
        reasons=(Value("reason"),),
    ),
}
