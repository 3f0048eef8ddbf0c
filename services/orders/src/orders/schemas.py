"""Request bodies, and the shapes of the answers as OpenAPI shows them (contract sections 6 and 11)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from common.http import LIMIT_DEFAULT, LIMIT_MAX, QueryText
from common.money import AMOUNT_MINOR_MAX
from common.schemas import Kobo, RequestBody, ResponseShape

# One checkout is one delivery of one vendor; more lines than this are several.
CHECKOUT_LINES_MAX = 50
Price = Annotated[int, Field(ge=0, le=AMOUNT_MINOR_MAX)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class ProductQuery(BaseModel):
    """The query of the product list; other parameters are ignored (contract section 15)."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    q: Annotated[QueryText | None, Field(min_length=1, max_length=200)] = None
    vendor_id: UUID | None = None
    campus_id: UUID | None = None
    category: Annotated[QueryText | None, Field(min_length=1, max_length=60)] = None
    min_price_minor: Price | None = None
    max_price_minor: Price | None = None
    in_stock: bool | None = None
    sort: Literal["newest", "price_asc", "price_desc"] = "newest"
    limit: Annotated[int, Field(ge=1, le=LIMIT_MAX)] = LIMIT_DEFAULT
    cursor: Annotated[QueryText | None, Field(max_length=512)] = None

    @property
    def filters(self) -> dict[str, Any]:
        """What was asked for, by the public names."""
        return {alias: value for name, alias in _PRODUCT_FILTERS if (value := getattr(self, name)) is not None}


_PRODUCT_FILTERS: Final = tuple(
    (name, field.alias or name)
    for name, field in ProductQuery.model_fields.items()
    if name not in ("sort", "limit", "cursor")
)


class CheckoutLine(RequestBody):
    product_id: UUID
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]


class CheckoutRequest(RequestBody):
    items: Annotated[list[CheckoutLine], Field(min_length=1, max_length=CHECKOUT_LINES_MAX)]
    campus_id: UUID | None = None
    hub_id: UUID | None = None
    delivery_note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] | None = None
    expected_total_minor: Kobo | None = None


class CancelRequest(RequestBody):
    reason: Reason


class EmptyRequest(RequestBody):
    """`{}`: who asks says nothing more."""


class VerifyDeliveryRequest(RequestBody):
    pin: Annotated[str, StringConstraints(pattern=r"^[0-9]{4,8}$")]


class EnvelopeMeta(ResponseShape):
    timestamp: str
    version: str
    request_id: str


class PageMeta(EnvelopeMeta):
    next_cursor: Annotated[str | None, Field(alias="next_cursor")]
    has_more: Annotated[bool, Field(alias="has_more")]
    limit: int


class ProductShape(ResponseShape):
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
    revision: int
    created_at: str


class OrderItemShape(ResponseShape):
    id: UUID
    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int


class OrderShape(ResponseShape):
    id: UUID
    status: str
    total: float
    total_minor: int
    currency: str
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    hub_id: UUID | None
    items: list[OrderItemShape]
    subtotal_minor: int
    delivery_fee_minor: int
    commission_minor: Annotated[int | None, Field(description="For the vendor and for staff only.")] = None
    refunded_minor: int
    delivery_note: str | None
    payment_due_at: str
    delivered_at: str | None
    revision: int
    created_at: str
    updated_at: str


class DeliveryShape(ResponseShape):
    id: UUID
    status: str
    delivered_at: str


class DeliveryPinShape(ResponseShape):
    pin: str
    attempts_remaining: int


class ReissuedPinShape(DeliveryPinShape):
    reissues_remaining: int


class ProductAnswer(ResponseShape):
    success: bool
    data: ProductShape
    meta: EnvelopeMeta


class ProductPageAnswer(ResponseShape):
    success: bool
    data: list[ProductShape]
    meta: PageMeta


class OrderAnswer(ResponseShape):
    success: bool
    data: OrderShape
    meta: EnvelopeMeta


class OrderPageAnswer(ResponseShape):
    success: bool
    data: list[OrderShape]
    meta: PageMeta


class OrderItemsAnswer(ResponseShape):
    success: bool
    data: list[OrderItemShape]
    meta: EnvelopeMeta


class DeliveryAnswer(ResponseShape):
    success: bool
    data: DeliveryShape
    meta: EnvelopeMeta


class DeliveryPinAnswer(ResponseShape):
    success: bool
    data: DeliveryPinShape
    meta: EnvelopeMeta


class ReissuedPinAnswer(ResponseShape):
    success: bool
    data: ReissuedPinShape
    meta: EnvelopeMeta


_PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "title": "Problem",
    "description": "Problem details (RFC 7807).",
    "required": ["type", "title", "status", "detail", "instance", "code", "invalid_params", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string"},
        "invalid_params": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "reason"],
                "properties": {"name": {"type": "string"}, "reason": {"type": "string"}},
            },
        },
        "requestId": {"type": "string"},
        "correlationId": {"type": "string", "description": "With a status of 500 and above only."},
    },
}
_REFUSALS: Final[Mapping[int, str]] = {
    400: "Wrong delivery PIN; `attemptsRemaining` tells how many tries are left.",
    401: "No good token; a token that is sent must be good even where none is needed.",
    403: "The caller's role or part in the order does not permit this.",
    404: "There is no such resource, or the caller may not see it.",
    409: "The present state does not allow this.",
    422: "The request is not valid; `invalid_params` names what is not.",
    429: "Too many wrong tries: the delivery PIN is locked.",
}


def answers(model: type[BaseModel], *refusals: int, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """What an operation may answer: its success, the refusals of its own, 401 as everywhere, and what is nobody's fault."""
    shown: dict[int | str, dict[str, Any]] = {status: {"model": model}}
    shown |= {number: _problem(_REFUSALS[number]) for number in sorted({401, *refusals})}
    shown["default"] = _problem("The service failed, or is away for the moment.")
    return shown


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/problem+json": {"schema": _PROBLEM}}}
