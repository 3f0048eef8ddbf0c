"""The endpoint of the Model Context Protocol."""

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import PUBLIC
from common.auth.tokens import bearer_token
from common.web.endpoint_table import KIB, Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of
from notifications.assistant.domain.conversations import Requester
from notifications.assistant.responses import ToolMessage
from notifications.assistant.schemas import ToolRequest
from notifications.dependencies import Dependencies

endpoint = Endpoints("assistant")


@endpoint(
    "POST",
    "/mcp",
    id="assistant.callTool",
    returns=ToolMessage,
    errors=(413, 422),
    responses={202: {"description": "Accepted: a notification of the client."}},
    allow=PUBLIC,
    for_clients=False,
    quota=Quota.ASSISTANT,
    idempotency=Idempotency.IGNORED,
    body_bytes_max=64 * KIB,
)
async def call_tool(request: Request, caller: CurrentCaller, body: ToolRequest) -> Response:
    """Answer a message of the Model Context Protocol (streamable HTTP): tools that read products, vendors, help and,
    with the token of a user, that user's orders.
    """
    token = bearer_token(request.headers.get("authorization"))
    requester = Requester(caller.id, caller.vendor_id, token) if caller.user_id and token else None
    return await dependencies_of(request, Dependencies).tool_server.respond(
        requester, request, body.model_dump_json(exclude_unset=True).encode()
    )
