"""Reissues of delivery PINs by staff."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody


class PreparePinReissueRequest(RequestBody):
    order_id: UUID
    reason: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=10, max_length=500),
        Field(description="How the buyer was identified, for the person who decides."),
    ]


class RejectPinReissueRequest(RequestBody):
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
