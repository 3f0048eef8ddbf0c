"""Reviews of vendors and products (contract section 11.4)."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ReviewContent:
    """A buyer's review of an order's vendor or of one of its products. `rating` is 1 to 5."""

    order_id: UUID
    rating: int
    text: str
    vendor_id: UUID | None = None
    product_id: UUID | None = None
