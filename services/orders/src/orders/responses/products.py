"""Responses of the public catalog and of the products of a vendor."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.products import Condition

ProductStatus = Literal["published", "draft", "removed"]


class RunningFlashSale(ResponseModel):
    """The running flash sale of the product; `priceMinor` is the reduced price."""

    id: UUID
    price_minor: int
    quantity: int
    remaining: Annotated[int, Meta(description="The units that are left.")]
    per_buyer_limit: int
    variant_id: UUID | None
    starts_at: Timestamp
    ends_at: Timestamp


class VendorAbsence(ResponseModel):
    """The vendor takes no new orders before `until`."""

    until: Timestamp
    message: str | None


class ProductOption(ResponseModel):
    name: Annotated[str, Meta(description="What the buyer chooses.", examples=["Size"])]
    values: Annotated[list[str], Meta(examples=[["S", "M"]])]


class ProductVariant(ResponseModel):
    id: UUID
    sku: str | None
    values: Annotated[dict[str, str], Meta(description="One value for each option.", examples=[{"Size": "M"}])]
    price_minor: int
    stock: int
    image_id: Annotated[UUID | None, Meta(description="An image of the product.")]
    active: Annotated[bool, Meta(description="False for one that is no longer sold.")]
    flash_sale: RunningFlashSale | None


class FeedProduct(ResponseModel):
    """A product in the feed: everything public that no clock changes."""

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
    condition: Condition
    images: list[str]
    rating: float | None
    rating_count: int
    revision: int
    created_at: Timestamp
    options: Annotated[
        list[ProductOption],
        Meta(description="With options, `priceMinor` is the lowest of the active variants, and `stock` their sum."),
    ]


class Product(FeedProduct):
    flash_sale: RunningFlashSale | None = None
    vendor_away: Annotated[VendorAbsence | None, Meta(description="Null while the vendor takes orders.")] = None
    variants: Annotated[
        list[ProductVariant] | UnsetType | None, Meta(description="Only of a single product; lists leave them out.")
    ] = UNSET
    status: Annotated[ProductStatus | UnsetType | None, Meta(description="Only for the vendor of a draft.")] = UNSET
    updated_at: Annotated[Timestamp | UnsetType | None, Meta(description="Only for the vendor of a draft.")] = UNSET
    low_stock: Annotated[bool | UnsetType | None, Meta(description="Only for the vendor of a draft.")] = UNSET
    hidden_because: Annotated[
        str | UnsetType | None, Meta(description="Only for the vendor and for staff: why staff hid the product.")
    ] = UNSET


class OwnProduct(Product):
    status: ProductStatus
    updated_at: Timestamp
    low_stock: Annotated[bool, Meta(description="Whether at most 5 are left.")]
    hidden_because: Annotated[
        str | None, Meta(description="Why staff hid the product from buyers; null while they see it.")
    ]


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
