"""Agents of a hub, for the admin of its campus."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.responses.hub_agents import HubAgent

_AGENTS: Final = """
SELECT profile.id AS user_id, profile.full_name, profile.email, held.granted_by AS appointed_by,
    held.granted_at AS since
FROM role_grants AS held JOIN profiles AS profile ON profile.id = held.user_id
WHERE held.role = 'hub_agent' AND held.hub_id = $1 AND ($2::uuid IS NULL OR held.user_id = $2)
    AND profile.erased_at IS NULL
ORDER BY held.granted_at, profile.id
"""


async def list_agents_of_hub(uow: UnitOfWork, hub_id: UUID, user_id: UUID | None = None) -> list[HubAgent]:
    """Return the agents of a hub, longest first; with `user_id` this one."""
    return [HubAgent.from_row(row) for row in await uow.fetch(_AGENTS, hub_id, user_id)]
