"""Takedowns of products (contract section 11.11)."""

from typing import Annotated

from pydantic import Field

from common.web.schemas import RequestBody
from orders.schemas.orders import Reason


class DelistProductRequest(RequestBody):
    reason: Annotated[Reason, Field(description="Shown to the vendor.")]


class RestoreProductRequest(RequestBody):
    reason: Annotated[Reason, Field(description="Why buyers may see the product again. Shown to the vendor.")]
