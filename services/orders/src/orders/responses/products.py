"""Responses of the public catalog and of the products of a vendor."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from common.web.response_models import ResponseModel, Timestamp

ProductStatus = Literal["published", "draft", "removed"]


class RunningFlashSale(ResponseModel):
    """The running flash sale of the product; `priceMinor` is the reduced price."""

    id: UUID
    price_minor: int
    quantity: int
    remaining: Annotated[int, Meta(description="The units that are left.")]
    per_buyer_limit: int
    starts_at: Timestamp
    ends_at: Timestamp


class Product(ResponseModel):
    id: UUID
    vendor_id: UUID
    vendor_name: str
    campus_id: UUID
    name: str
    description: str
    category: str
    price_minor: int
    currency: str
    stock: int
    in_stock: bool
    images: list[str]
    rating: float | None
    rating_count: int
    flash_sale: RunningFlashSale | None = None
    revision: int
    created_at: Timestamp
    status: Annotated[ProductStatus | UnsetType | None, Meta(description="Only for the vendor of a draft.")] = UNSET
    updated_at: Annotated[Timestamp | UnsetType | None, Meta(description="Only for the vendor of a draft.")] = UNSET


class OwnProduct(Product):
    status: ProductStatus
    updated_at: Timestamp


class ProductImage(ResponseModel):
    id: UUID
    url: str
    thumbnail_url: str
    product_id: UUID
    images: list[str]
    revision: int


class Category(ResponseModel):
    category: str
    products: int
