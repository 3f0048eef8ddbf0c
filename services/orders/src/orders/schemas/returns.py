"""Return requests (contract section 6)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.web.schemas import RequestBody
from orders.schemas.orders import CHECKOUT_LINES_MAX, Reason, RefundDestination


class ReturnLine(RequestBody):
    item_id: UUID
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]


class RequestReturnRequest(RequestBody):
    items: Annotated[list[ReturnLine], Field(min_length=1, max_length=CHECKOUT_LINES_MAX)]
    reason: Reason
    refund_to: RefundDestination = None


class DecideReturnRequest(RequestBody):
    reason: Reason | None = None
