"""Staff: roles, suspensions, pending grants and the audit trail (contract sections 5 and 10)."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, QueryText, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval, EmptyRequest
from identity.dependencies import Dependencies
from identity.domain.addresses import normal_email
from identity.domain.staff import Appointment, GrantStatus
from identity.queries.staff import (
    find_grant_response,
    find_granted,
    find_member,
    page_of_grants,
    page_of_staff,
    page_of_staff_actions,
    page_of_staff_names,
)
from identity.responses.staff import StaffAction, StaffGrant, StaffMember, StaffName
from identity.routes.revocations import apply_revocation
from identity.routes.service_callers import DECIDING, NAMING
from identity.schemas.staff import GrantRoleRequest, RevokeRoleRequest, StaffRole, SuspendUserRequest
from identity.use_cases.staff.approve_staff_grant import approve_staff_grant as approve
from identity.use_cases.staff.grant_role import grant_role as grant
from identity.use_cases.staff.reinstate_user import reinstate_user as reinstate
from identity.use_cases.staff.reject_staff_grant import reject_staff_grant as reject
from identity.use_cases.staff.revoke_role import revoke_role as revoke
from identity.use_cases.staff.suspend_user import suspend_user as suspend

endpoint = Endpoints("staff")
Page = Annotated[OffsetPage, Depends(offset_page("created_at"))]
# One page of a list names at most two users in each of its rows.
NAMES_MAX = 100
UserIdFilter = Annotated[UUID | None, Query(alias="userId")]


@endpoint("GET", "/api/staff", id="staff.list", returns=list[StaffMember], allow=permission("staff:read"))
async def list_staff(
    request: Request,
    caller: CurrentCaller,
    page: Page,
    role: StaffRole | None = None,
    campus_id: Annotated[UUID | None, Query(alias="campusId")] = None,
    suspended: bool | None = None,
    email: Annotated[
        QueryText | None, Query(max_length=320, description="The user of exactly this address, also without a role.")
    ] = None,
) -> Response:
    """List users with a staff role."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_staff(uow, role, campus_id, suspended, normal_email(email) if email else None, page=page)
    return respond_offset_page(request, page, found)


@endpoint("GET", "/api/staff/{user_id}", id="staff.get", returns=StaffMember, allow=permission("staff:read"))
async def get_staff_member(request: Request, caller: CurrentCaller, user_id: UUID) -> Response:
    """Return one user with their roles."""
    return await _respond_member(request, caller, user_id)


@endpoint(
    "POST",
    "/api/staff/{user_id}/grant",
    id="staff.grantRole",
    returns=StaffGrant,
    responses={201: {"model": StaffGrant}},
    allow=permission("staff:manage", step_up=True),
)
async def grant_role(request: Request, caller: CurrentCaller, user_id: UUID, body: GrantRoleRequest) -> Response:
    """Return 200 when the user holds the role now, 201 when the grant waits for a second platform_admin."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    requested = Appointment(body.role, body.campus_id, body.hub_id)

    grant_id = await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: grant(uow, caller, user_id, requested, now=now)
    )
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if grant_id is None:
            return ok(request, await find_granted(uow, user_id, body.role))
        return ok(request, await find_grant_response(uow, grant_id, now=now), status=201)


@endpoint(
    "POST",
    "/api/staff/{user_id}/revoke",
    id="staff.revokeRole",
    returns=StaffMember,
    allow=permission("staff:manage", step_up=True),
)
async def revoke_role(request: Request, caller: CurrentCaller, user_id: UUID, body: RevokeRoleRequest) -> Response:
    """Revoke a role of a user and end their sessions."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()

    revoked = await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: revoke(uow, caller, user_id, body.role, now=now)
    )
    if revoked is not None:
        apply_revocation(dependencies, user_id, revoked.revocation, now)
    return await _respond_member(request, caller, user_id)


@endpoint(
    "POST",
    "/api/staff/{user_id}/suspend",
    id="staff.suspendUser",
    returns=StaffMember,
    allow=permission("staff:manage", step_up=True),
)
async def suspend_user(
    request: Request, caller: CurrentCaller, user_id: UUID, body: SuspendUserRequest | None = None
) -> Response:
    """Suspend a user and end their sessions."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()

    reason = body.reason if body else None
    revoked = await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: suspend(uow, caller, user_id, reason, now=now)
    )
    if revoked is not None:
        apply_revocation(dependencies, user_id, revoked.revocation, now)
    return await _respond_member(request, caller, user_id)


@endpoint(
    "POST",
    "/api/staff/{user_id}/reinstate",
    id="staff.reinstateUser",
    returns=StaffMember,
    allow=permission("staff:manage", step_up=True),
)
async def reinstate_user(
    request: Request, caller: CurrentCaller, user_id: UUID, body: SuspendUserRequest | None = None
) -> Response:
    """End the suspension of a user."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()

    reason = body.reason if body else None
    await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: reinstate(uow, caller, user_id, reason, now=now)
    )
    return await _respond_member(request, caller, user_id)


@endpoint("GET", "/api/staff-grants", id="staffGrants.list", returns=list[StaffGrant], allow=permission("staff:read"))
async def list_staff_grants(
    request: Request,
    caller: CurrentCaller,
    page: Page,
    status: GrantStatus | None = None,
    user_id: UserIdFilter = None,
    awaiting: Annotated[
        Literal["approval", "preparation"] | None,
        Query(description="Only prepared ones that the caller may approve, or proposed ones that they may prepare."),
    ] = None,
) -> Response:
    """List the grants that needed a second platform_admin."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_grants(uow, status, user_id, awaiting=awaiting, now=now, page=page)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET", "/api/staff-grants/{grant_id}", id="staffGrants.get", returns=StaffGrant, allow=permission("staff:read")
)
async def get_staff_grant(request: Request, caller: CurrentCaller, grant_id: UUID) -> Response:
    """Return one grant of a role."""
    return await _respond_grant(request, caller, grant_id)


@endpoint(
    "POST",
    "/api/staff-grants/{grant_id}/approve",
    id="staffGrants.approve",
    returns=StaffGrant,
    allow=permission("staff:manage", step_up=True),
)
async def approve_staff_grant(
    request: Request, caller: CurrentCaller, grant_id: UUID, body: DecisionApproval
) -> Response:
    """Grant the role from the user's next token on. The maker of the grant cannot approve it."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()

    await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: approve(uow, caller, grant_id, body.hash, now=now)
    )
    return await _respond_grant(request, caller, grant_id)


@endpoint(
    "POST",
    "/api/staff-grants/{grant_id}/reject",
    id="staffGrants.reject",
    returns=StaffGrant,
    allow=permission("staff:manage", step_up=True),
)
async def reject_staff_grant(
    request: Request, caller: CurrentCaller, grant_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Reject the grant or the proposal; the user's roles stay as they are."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()

    await dependencies.database.transact(acting_as=DECIDING, work=lambda uow: reject(uow, caller, grant_id, now=now))
    return await _respond_grant(request, caller, grant_id)


@endpoint("GET", "/api/staff-acts", id="staff.listActions", returns=list[StaffAction], allow=permission("staff:read"))
async def list_staff_actions(
    request: Request,
    caller: CurrentCaller,
    page: Page,
    actor_id: Annotated[UUID | None, Query(alias="actorId")] = None,
    subject_id: Annotated[UUID | None, Query(alias="subjectId")] = None,
    act: Annotated[QueryText | None, Query(max_length=60)] = None,
) -> Response:
    """List the actions of staff, newest first. The trail is append-only."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_staff_actions(uow, actor_id, subject_id, act, page=page)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET", "/api/staff-names", id="staff.listNames", returns=list[StaffName], allow=permission("staff_names:read")
)
async def list_staff_names(
    request: Request,
    page: Annotated[OffsetPage, Depends(offset_page("name"))],
    ids: Annotated[
        list[UUID] | None, Query(alias="id", max_length=NAMES_MAX, description="Repeated: the members with these ids.")
    ] = None,
    role: Annotated[StaffRole | None, Query(description="Members who hold this role and are not suspended.")] = None,
) -> Response:
    """List the names of staff for their colleagues: who prepared a decision, to whom a ticket can be assigned."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=NAMING) as uow:
        found = await page_of_staff_names(uow, ids, role, page=page)
    return respond_offset_page(request, page, found)


async def _respond_member(request: Request, caller: Caller, user_id: UUID) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await find_member(uow, user_id))


async def _respond_grant(request: Request, caller: Caller, grant_id: UUID) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await find_grant_response(uow, grant_id, now=dependencies.clock.now()))
