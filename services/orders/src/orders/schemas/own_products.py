"""A merchant's own products (contract section 11)."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import A_NAME, RequestBody
from orders.domain.products import (
    CATEGORY_CHARACTERS_MAX,
    DESCRIPTION_CHARACTERS_MAX,
    NAME_CHARACTERS_MAX,
    PRICE_MINOR_MAX,
    STOCK_MAX,
    Condition,
)
from orders.domain.variants import (
    OPTION_CHARACTERS_MAX,
    OPTION_VALUES_MAX,
    OPTIONS_MAX,
    SKU_CHARACTERS_MAX,
    VARIANTS_MAX,
)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=NAME_CHARACTERS_MAX), A_NAME]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=DESCRIPTION_CHARACTERS_MAX)]
Category = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=CATEGORY_CHARACTERS_MAX)]
PriceMinor = Annotated[int, Field(strict=True, ge=1, le=PRICE_MINOR_MAX)]
Stock = Annotated[int, Field(strict=True, ge=0, le=STOCK_MAX)]
Revision = Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)]
Status = Literal["published", "draft"]
# A name of an option, or one of its values.
OptionText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=OPTION_CHARACTERS_MAX), A_NAME
]
Sku = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=SKU_CHARACTERS_MAX), A_NAME]


class OptionBody(RequestBody):
    name: OptionText
    values: Annotated[list[OptionText], Field(min_length=1, max_length=OPTION_VALUES_MAX)]


class VariantBody(RequestBody):
    """A variant; one that stays carries its id."""

    id: UUID | None = None
    sku: Sku | None = None
    values: Annotated[dict[OptionText, OptionText], Field(description="One value for each option.")]
    price_minor: PriceMinor
    stock: Stock
    image_id: Annotated[UUID | None, Field(description="An image of the product.")] = None
    active: bool = True


Options = Annotated[list[OptionBody], Field(max_length=OPTIONS_MAX)]
Variants = Annotated[list[VariantBody], Field(max_length=VARIANTS_MAX)]


class ProductFields(RequestBody):
    name: Name
    description: Text
    category: Category
    status: Status = "published"
    condition: Condition = "new"


class CreateProductRequest(ProductFields):
    """A product has a price and a stock, or options and variants that have them."""

    price_minor: PriceMinor | None = None
    stock: Stock | None = None
    options: Options = Field(default_factory=list)
    variants: Variants = Field(default_factory=list)


class ReplaceProductRequest(ProductFields):
    """All fields of a product; images and variants have endpoints of their own."""

    price_minor: PriceMinor
    stock: Stock
    revision: Revision | None = None


class UpdateProductRequest(RequestBody):
    """The fields to change. `{stock, revision}` sets a counted inventory."""

    # The factories make the fields optional without a default in OpenAPI; absent fields are never read.
    name: Name = Field(default_factory=str)
    description: Text = Field(default_factory=str)
    category: Category = Field(default_factory=str)
    price_minor: PriceMinor = Field(default_factory=int)
    stock: Stock = Field(default_factory=int)
    status: Status = Field(default_factory=lambda: "published")
    condition: Condition = Field(default_factory=lambda: "new")
    revision: Revision | None = None


class ReplaceVariantsRequest(RequestBody):
    """All options and variants of a product; both empty for a product without."""

    options: Options
    variants: Variants
    revision: Revision | None = None
