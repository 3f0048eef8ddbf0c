"""Responses for packers, who read no amount of their shop (decision 206)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.packing_orders import PackingStatus


class ItemToPack(ResponseModel):
    id: UUID
    product_id: UUID
    variant_id: UUID | None
    name: Annotated[str, Meta(description="The product's name, with the values of its variant.")]
    quantity: int


class PackingOrder(ResponseModel):
    """An order as a packer of its shop reads it: everything that packing needs, and no amount."""

    id: UUID
    number: Annotated[str, Meta(description="The order's number for people.", examples=["CM-7K3M-9QZ2"])]
    status: PackingStatus
    buyer_name: Annotated[str | None, Meta(description="First name and initial; null for an erased buyer.")]
    hub_id: Annotated[UUID | None, Meta(description="Null for a delivery without a hub.")]
    hub_name: Annotated[str | None, Meta(description="Where the buyer collects it.")]
    delivery_note: Annotated[str | None, Meta(description="The buyer's note.")]
    items: Annotated[list[ItemToPack], Meta(description="Without the cancelled ones.")]
    created_at: Timestamp
    updated_at: Timestamp
    arrived_at: Annotated[Timestamp | None, Meta(description="When an agent of its hub received the parcel.")]
    delivered_at: Timestamp | None
    revision: int
