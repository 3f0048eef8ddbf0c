"""Response models of hub agents."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp


class HubAgent(ResponseModel):
    user_id: UUID
    full_name: str | None
    email: str
    appointed_by: Annotated[UUID | None, Meta(description="Null for the demo's own agents.")]
    since: Timestamp
