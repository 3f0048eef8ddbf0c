"""The banks that money is sent to."""

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import PUBLIC
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from payouts.dependencies import Dependencies
from payouts.queries.banks import list_banks as list_present_banks
from payouts.responses.banks import Bank

endpoint = Endpoints("bank details")


@endpoint("GET", "/api/banks", id="banks.list", returns=list[Bank], allow=PUBLIC, compressed=True)
async def list_banks(request: Request, caller: CurrentCaller) -> Response:
    """List the banks of the payment gateway by name, for a choice in place of a code."""
    dependencies = dependencies_of(request, Dependencies)
    reads = dependencies.database.reads_for(caller)
    return ok(request, await list_present_banks(reads, dependencies.gateway.name))
