"""The cart (contract section 11)."""

from typing import Annotated

from pydantic import Field

from common.web.schemas import RequestBody


class SetCartItemRequest(RequestBody):
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]
