"""Reviews for all readers, for their authors and for moderators (contract section 11)."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import Database, UnitOfWork
from common.web.pages import CursorPage, CursorRequest, TimePosition
from orders.queries.filters import Filters
from orders.queries.pages import newest_page
from orders.responses.reviews import OwnReview, Review

# The author stays between the buyer and staff.
_COLUMNS: Final = """
    id, vendor_id, product_id, rating, text, created_at, reply_text AS reply__text, replied_at AS reply__created_at
"""
_OWN_COLUMNS: Final = f"""
    {_COLUMNS}, order_id, (SELECT number FROM orders WHERE orders.id = order_id) AS order_number, buyer_id, hidden_at,
    hidden_because
"""
_REVIEW: Final = f"SELECT {_OWN_COLUMNS} FROM reviews WHERE id = $1"
_PUBLIC_REVIEW: Final = f"SELECT {_COLUMNS} FROM reviews WHERE id = $1"
_MEAN: Final = "round(rating_sum::numeric / nullif(rating_count, 0), 2)::float8 AS rating, rating_count"
_RATED_VENDOR: Final = f"SELECT {_MEAN} FROM vendors WHERE id = $1"
_RATED_PRODUCT: Final = f"SELECT {_MEAN} FROM products WHERE id = $1 AND removed_at IS NULL AND hidden_at IS NULL"
_OF_VENDOR: Final = "vendor_id = {} AND product_id IS NULL AND hidden_at IS NULL"
_OF_PRODUCT: Final = "product_id = {} AND hidden_at IS NULL"
_FILTERS: Final[Mapping[str, str]] = {
    "vendorId": "vendor_id = {}",
    "productId": "product_id = {}",
    "hidden": "(hidden_at IS NOT NULL) = {}",
}


class Rating(NamedTuple):
    """The mean of the shown reviews, with two decimal places, and their number."""

    rating: float | None
    rating_count: int


async def find_rating(
    database: Database, *, vendor_id: UUID | None = None, product_id: UUID | None = None
) -> Rating | None:
    """Return the rating; None for an unknown vendor or a product that is not listed."""
    statement, subject = (_RATED_VENDOR, vendor_id) if vendor_id is not None else (_RATED_PRODUCT, product_id)
    records = await database.fetch_public(statement, subject)
    return Rating(*records[0]) if records else None


async def page_of_reviews(
    database: Database,
    requested: CursorRequest,
    caller: Caller,
    *,
    vendor_id: UUID | None = None,
    product_id: UUID | None = None,
) -> CursorPage[Review]:
    """One page of the shown reviews of a vendor or of a product, newest first."""
    kind, where, subject = (
        ("vendor", _OF_VENDOR, vendor_id) if vendor_id is not None else ("product", _OF_PRODUCT, product_id)
    )
    scope = ["reviews", kind, subject, caller.user_id]
    parameters = Parameters()
    conditions = [parameters.condition(where, subject), *_beyond(parameters, requested.time_position(scope))]
    records = await database.fetch_public(_newest(_COLUMNS, conditions, requested.limit), *parameters.values)
    return newest_page(records, requested, scope, Review.from_row)


async def page_of_moderated_reviews(
    uow: UnitOfWork, requested: CursorRequest, caller: Caller, filters: Filters
) -> CursorPage[OwnReview]:
    """One page of all reviews, hidden ones included, newest first."""
    scope = ["reviews to moderate", *sorted(filters.items()), caller.id]
    parameters = Parameters()
    conditions = parameters.conditions(_FILTERS, filters)
    conditions += _beyond(parameters, requested.time_position(scope))
    records = await uow.fetch(_newest(_OWN_COLUMNS, conditions, requested.limit), *parameters.values)
    return newest_page(records, requested, scope, OwnReview.from_row)


async def find_public_review(uow: UnitOfWork, review_id: UUID) -> Review | None:
    """Return the review as everyone sees it, without its author."""
    record = await uow.fetch_row(_PUBLIC_REVIEW, review_id)
    return None if record is None else Review.from_row(record)


async def find_review(uow: UnitOfWork, review_id: UUID) -> OwnReview | None:
    """Return the review as its author and staff see it."""
    record = await uow.fetch_row(_REVIEW, review_id)
    return None if record is None else OwnReview.from_row(record)


def _beyond(parameters: Parameters, position: TimePosition | None) -> list[str]:
    return [] if position is None else [parameters.condition("(created_at, id) < ({}, {})", *position)]


def _newest(columns: str, conditions: Sequence[str], limit: int) -> str:
    where = all_of(conditions)
    return f"SELECT {columns} FROM reviews WHERE {where} ORDER BY created_at DESC, id DESC LIMIT {limit + 1}"
