"""Release of escrow by staff."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import permission
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.idempotency import OptionalIdempotentCommand
from payments.dependencies import Dependencies
from payments.responses.escrow import EscrowRelease
from payments.schemas.escrow import ReleaseEscrowRequest
from payments.use_cases.escrow.release_by_staff import release_by_staff

endpoint = Endpoints("escrow")


@endpoint(
    "POST",
    "/api/orders/{order_id}/release",
    id="escrow.release",
    returns=EscrowRelease,
    allow=permission("escrow:release", step_up=True),
    quota=Quota.SENSITIVE,
)
async def release_escrow(
    request: Request,
    caller: CurrentCaller,
    command: OptionalIdempotentCommand,
    order_id: UUID,
    body: ReleaseEscrowRequest,
) -> Response:
    """Release a part of the order's escrow to the vendor, less commission.

    409 for more than is locked; 423 while the order is disputed.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        done = await release_by_staff(uow, order_id, body.amount_minor, caller, dependencies.clock.now(), command)
    return ok(request, EscrowRelease(released_minor=done.released_minor, remaining_locked_minor=done.locked_minor))
