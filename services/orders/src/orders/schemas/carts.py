"""The cart (contract section 11)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.web.schemas import RequestBody


class SetCartItemRequest(RequestBody):
    variant_id: Annotated[UUID | None, Field(description="Required for a product with variants.")] = None
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]
