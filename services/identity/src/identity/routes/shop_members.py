"""Members of a shop and invitations (decision 206)."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN, permission
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.schemas import EmptyRequest
from identity.dependencies import Dependencies
from identity.domain.shop_members import OWN
from identity.queries.shop_members import find_shop_invitation, list_shop_invitations, list_shop_members
from identity.responses.shop_members import ShopInvitation, ShopMember
from identity.routes.revocations import apply_revocation
from identity.routes.service_callers import DECIDING
from identity.schemas.shop_members import ChangeShopMemberRequest, InviteShopMemberRequest
from identity.use_cases.shop_members.accept_shop_invitation import accept_shop_invitation as accept
from identity.use_cases.shop_members.change_shop_member import change_shop_member as change
from identity.use_cases.shop_members.decline_shop_invitation import decline_shop_invitation as decline
from identity.use_cases.shop_members.invite_shop_member import invite_shop_member as invite
from identity.use_cases.shop_members.remove_shop_member import remove_shop_member as remove

endpoint = Endpoints("shop members")

MEMBERS: Final = "/api/shop-members"
INVITATIONS: Final = "/api/shop-invitations"


@endpoint("GET", MEMBERS, id="shopMembers.list", returns=list[ShopMember], allow=SIGNED_IN)
async def list_members(request: Request, caller: CurrentCaller) -> Response:
    """Return the members of the own shop, longest first, for its owner; a member sees the own membership."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await list_shop_members(uow))


@endpoint(
    "PATCH",
    f"{MEMBERS}/{{user_id}}",
    id="shopMembers.update",
    returns=list[ShopMember],
    allow=permission(OWN, step_up=True),
)
async def update_member(
    request: Request, caller: CurrentCaller, user_id: UUID, body: ChangeShopMemberRequest
) -> Response:
    """Change the role of a member. Their sessions end, and the next token has the new role. Returns all members."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    revoked = await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: change(uow, caller, user_id, body.role, now=now)
    )
    if revoked is not None:
        apply_revocation(dependencies, user_id, revoked.revocation, now)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await list_shop_members(uow))


@endpoint("DELETE", f"{MEMBERS}/{{user_id}}", id="shopMembers.remove", status=204, allow=SIGNED_IN)
async def remove_member(request: Request, caller: CurrentCaller, user_id: UUID) -> Response:
    """Remove a member as the owner, or leave with the own id. The member's sessions end at once."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    revoked = await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: remove(uow, caller, user_id, now=now)
    )
    apply_revocation(dependencies, user_id, revoked.revocation, now)
    return Response(status_code=204)


@endpoint("GET", INVITATIONS, id="shopInvitations.list", returns=list[ShopInvitation], allow=SIGNED_IN)
async def list_invitations(request: Request, caller: CurrentCaller) -> Response:
    """Return the invitations of the own shop and those to the own confirmed address, newest first."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await list_shop_invitations(uow))


@endpoint(
    "POST",
    INVITATIONS,
    id="shopInvitations.create",
    returns=ShopInvitation,
    status=201,
    allow=permission(OWN, step_up=True),
    quota=Quota.SENSITIVE,
)
async def create_invitation(request: Request, caller: CurrentCaller, body: InviteShopMemberRequest) -> Response:
    """Invite a person to the own shop for seven days. An account that has confirmed the address is notified; without
    one, the invitation waits until an account confirms it.
    """
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    invitation_id = await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: invite(uow, caller, body.email, body.role, now=now)
    )
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, or_not_found(await find_shop_invitation(uow, invitation_id)), status=201)


@endpoint(
    "POST",
    f"{INVITATIONS}/{{invitation_id}}/accept",
    id="shopInvitations.accept",
    returns=ShopMember,
    allow=SIGNED_IN,
)
async def accept_invitation(
    request: Request, caller: CurrentCaller, invitation_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Work for the shop, from the next token on. The account must have confirmed the invited address, own no shop, and
    work for no other one.
    """
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: accept(uow, caller, invitation_id, now=now)
    )
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        member = next(iter(await list_shop_members(uow)), None)
    return ok(request, or_not_found(member))


@endpoint(
    "DELETE",
    f"{INVITATIONS}/{{invitation_id}}",
    id="shopInvitations.remove",
    status=204,
    allow=SIGNED_IN,
)
async def remove_invitation(request: Request, caller: CurrentCaller, invitation_id: UUID) -> Response:
    """Decline an invitation as the invited person, or withdraw it as the owner."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: decline(uow, caller, invitation_id, now=now)
    )
    return Response(status_code=204)
