"""Resets of lost second factors."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody


class PrepareFactorResetRequest(RequestBody):
    user_id: UUID
    reason: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=10, max_length=500),
        Field(description="How the user was identified, for the person who decides."),
    ]
