"""A merchant's own products (contract section 11)."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from common.web.schemas import A_NAME, RequestBody
from orders.domain.products import (
    CATEGORY_CHARACTERS_MAX,
    DESCRIPTION_CHARACTERS_MAX,
    NAME_CHARACTERS_MAX,
    PRICE_MINOR_MAX,
    STOCK_MAX,
)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=NAME_CHARACTERS_MAX), A_NAME]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=DESCRIPTION_CHARACTERS_MAX)]
Category = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=CATEGORY_CHARACTERS_MAX)]
PriceMinor = Annotated[int, Field(strict=True, ge=1, le=PRICE_MINOR_MAX)]
Stock = Annotated[int, Field(strict=True, ge=0, le=STOCK_MAX)]
Revision = Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)]
Status = Literal["published", "draft"]


class CreateProductRequest(RequestBody):
    name: Name
    description: Text
    category: Category
    price_minor: PriceMinor
    stock: Stock
    status: Status = "published"


class ReplaceProductRequest(CreateProductRequest):
    """All fields of a product; images have endpoints of their own."""

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
    revision: Revision | None = None
