"""Response models of saved views."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp


class SavedView(ResponseModel):
    """A list of the console with its filters, under a name."""

    id: UUID
    path: Annotated[str, Meta(description="The path of the list in the console.", examples=["/payouts"])]
    name: Annotated[str, Meta(description="Unique for the person and the list.", examples=["Failed this week"])]
    query: Annotated[str, Meta(description="The query of the list's address.", examples=["status=failed"])]
    created_at: Timestamp
