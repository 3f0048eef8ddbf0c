"""Agents of the hubs of a campus, appointed and dismissed by its admin (contract section 10.5)."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import permission
from common.primitives.problems import Forbidden
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from identity.dependencies import Dependencies
from identity.domain.addresses import normal_email
from identity.queries.campuses import get_hub
from identity.queries.hub_agents import list_agents_of_hub
from identity.responses.hub_agents import HubAgent
from identity.routes.revocations import apply_revocation
from identity.routes.service_callers import DECIDING, NAMING
from identity.schemas.hub_agents import AppointHubAgentRequest, DismissHubAgentRequest
from identity.use_cases.staff.appoint_hub_agent import appoint_hub_agent as appoint
from identity.use_cases.staff.dismiss_hub_agent import dismiss_hub_agent as dismiss

endpoint = Endpoints("hub agents")

AGENTS: Final = "/api/hubs/{hub_id}/agents"


@endpoint("GET", AGENTS, id="hubAgents.list", returns=list[HubAgent], allow=permission("hub_agents:manage"))
async def list_hub_agents(request: Request, caller: CurrentCaller, hub_id: UUID) -> Response:
    """Return the agents of a hub of the own campus, longest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        hub = (await get_hub(uow, hub_id)).response()
    if hub.campus_id != caller.campus_id:
        raise Forbidden
    async with dependencies.database.unit_of_work(acting_as=NAMING) as uow:
        return ok(request, await list_agents_of_hub(uow, hub_id))


@endpoint(
    "POST",
    AGENTS,
    id="hubAgents.appoint",
    returns=HubAgent,
    status=201,
    allow=permission("hub_agents:manage", step_up=True),
    quota=Quota.SENSITIVE,
)
async def appoint_hub_agent(
    request: Request, caller: CurrentCaller, hub_id: UUID, body: AppointHubAgentRequest
) -> Response:
    """Make the user of a confirmed mail address an agent of a hub of the own campus, from their next token on."""
    dependencies = dependencies_of(request, Dependencies)
    now, email = dependencies.clock.now(), normal_email(body.email)
    user_id = await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: appoint(uow, caller, hub_id, email, body.reason, now=now)
    )
    async with dependencies.database.unit_of_work(acting_as=NAMING) as uow:
        agent = next(iter(await list_agents_of_hub(uow, hub_id, user_id)), None)
    return ok(request, or_not_found(agent), status=201)


@endpoint(
    "POST",
    f"{AGENTS}/{{user_id}}/dismiss",
    id="hubAgents.dismiss",
    returns=list[HubAgent],
    allow=permission("hub_agents:manage", step_up=True),
)
async def dismiss_hub_agent(
    request: Request, caller: CurrentCaller, hub_id: UUID, user_id: UUID, body: DismissHubAgentRequest
) -> Response:
    """Revoke the role of an agent and end their sessions; return the agents who stay."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    revoked = await dependencies.database.transact(
        acting_as=DECIDING, work=lambda uow: dismiss(uow, caller, hub_id, user_id, body.reason, now=now)
    )
    apply_revocation(dependencies, user_id, revoked.revocation, now)
    async with dependencies.database.unit_of_work(acting_as=NAMING) as uow:
        return ok(request, await list_agents_of_hub(uow, hub_id))
