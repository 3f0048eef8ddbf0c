"""The public catalog (contract section 11)."""

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from common.primitives.money import AMOUNT_MINOR_MAX
from common.web.http import LIMIT_DEFAULT, LIMIT_MAX, QueryText
from common.web.schemas import IN_DIGITS
from orders.domain.products import Condition, normalize_category

Price = Annotated[int, Field(ge=0, le=AMOUNT_MINOR_MAX), IN_DIGITS]


class ProductQuery(BaseModel):
    """The query of the product list."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    q: Annotated[QueryText | None, Field(min_length=1, max_length=200)] = None
    vendor_id: UUID | None = None
    campus_id: UUID | None = None
    category: Annotated[QueryText | None, Field(min_length=1, max_length=60)] = None
    min_price_minor: Price | None = None
    max_price_minor: Price | None = None
    in_stock: bool | None = None
    condition: Condition | None = None
    sort: Literal["newest", "created_at", "price_asc", "price_desc", "relevance"] = "newest"
    limit: Annotated[int, Field(ge=1, le=LIMIT_MAX), IN_DIGITS] = LIMIT_DEFAULT
    cursor: Annotated[QueryText | None, Field(max_length=512)] = None

    @property
    def filters(self) -> dict[str, str | int | bool | UUID]:
        """The given filters by their public names."""
        return {alias: value for name, alias in _PRODUCT_FILTERS if (value := getattr(self, name)) is not None}

    @field_validator("category")
    @classmethod
    def normalize(cls, text: str | None) -> str | None:
        """Products store the canonical name of their category."""
        return text if text is None else normalize_category(text)


_PRODUCT_FILTERS: Final = tuple(
    (name, field.alias or name)
    for name, field in ProductQuery.model_fields.items()
    if name not in ("sort", "limit", "cursor")
)
