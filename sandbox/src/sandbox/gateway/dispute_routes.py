"""The call about disputes."""

from starlette.requests import Request
from starlette.responses import Response

from sandbox.faults import respond_with_faults
from sandbox.gateway.disputes import find_dispute
from sandbox.gateway.events import dispute_event
from sandbox.gateway.fields import row_id
from sandbox.web import RefusedError, ok, refused
from sandbox.world import world_of


async def show_dispute(request: Request) -> Response:
    """A dispute as its webhooks carry it, in its present state."""
    world = world_of(request)
    number = row_id(request.path_params["id"])

    def work(_fault: object) -> Response:
        dispute = None if number is None else find_dispute(world.database, number)
        if dispute is None:
            raise RefusedError(404, "Dispute not found")
        return ok("Dispute retrieved", dispute_event("", dispute)["data"])

    return await respond_with_faults(request, world.faults, "verify_call", (request.path_params["id"],), work, refused)
