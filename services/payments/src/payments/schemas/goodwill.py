"""Goodwill refunds."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import PositiveKobo, RequestBody


class PrepareGoodwillRequest(RequestBody):
    order_id: UUID
    amount_minor: Annotated[PositiveKobo, Field(description="Kobo that the buyer's balance receives.")]
    reason: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=10, max_length=500),
        Field(description="What went wrong, for the person who decides."),
    ]
