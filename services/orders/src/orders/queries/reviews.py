"""Reviews as everybody reads them, and as staff moderate them (contract section 11)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.cursors import CursorSigner
from orders.queries.pages import Page, Row

_COLUMNS: Final = "id, vendor_id, product_id, rating, text, created_at"
_OWN_COLUMNS: Final = f"{_COLUMNS}, order_id, buyer_id, hidden_at, hidden_because"
_REVIEW: Final = f"SELECT {_OWN_COLUMNS} FROM reviews WHERE id = $1"
_MEAN: Final = "round(rating_sum::numeric / nullif(rating_count, 0), 2)::float8 AS rating, rating_count"
_RATED_VENDOR: Final = f"SELECT {_MEAN} FROM vendors WHERE id = $1"
_RATED_PRODUCT: Final = f"SELECT {_MEAN} FROM products WHERE id = $1 AND removed_at IS NULL"
_BEYOND: Final = "(${}::timestamptz IS NULL OR (created_at, id) < (${}, ${}::uuid))"
_OF_VENDOR: Final = f"""
SELECT {_COLUMNS} FROM reviews
WHERE vendor_id = $1 AND product_id IS NULL AND hidden_at IS NULL AND {_BEYOND.format(3, 3, 4)}
ORDER BY created_at DESC, id DESC LIMIT $2
"""
_OF_PRODUCT: Final = f"""
SELECT {_COLUMNS} FROM reviews
WHERE product_id = $1 AND hidden_at IS NULL AND {_BEYOND.format(3, 3, 4)}
ORDER BY created_at DESC, id DESC LIMIT $2
"""
_FILTERS: Final[Mapping[str, str]] = {
    "vendorId": "vendor_id = ${}",
    "productId": "product_id = ${}",
    "hidden": "(hidden_at IS NOT NULL) = ${}",
}


async def rating_of(database: Database, *, vendor_id: UUID | None = None, product_id: UUID | None = None) -> Row | None:
    """Mean and number of the shown reviews; None when there is no such vendor, or no such product on the shelf."""
    statement, subject = (_RATED_VENDOR, vendor_id) if vendor_id is not None else (_RATED_PRODUCT, product_id)
    records = await database.fetch_public(statement, subject)
    return {"rating": records[0]["rating"], "ratingCount": records[0]["rating_count"]} if records else None


async def page_of_reviews(
    database: Database,
    signer: CursorSigner,
    caller: Caller,
    limit: int,
    cursor: str | None,
    *,
    vendor_id: UUID | None = None,
    product_id: UUID | None = None,
) -> Page:
    """One page of what is shown of a vendor, or of a product; newest first."""
    statement, subject = (_OF_VENDOR, vendor_id) if vendor_id is not None else (_OF_PRODUCT, product_id)
    scope = ["reviews", "vendor" if vendor_id is not None else "product", subject, caller.user_id]
    records = await database.fetch_public(statement, subject, limit + 1, *_position(signer, scope, cursor))
    return _page(records, signer, scope, limit, review_response)


async def page_of_moderated_reviews(
    uow: UnitOfWork, signer: CursorSigner, caller: Caller, filters: Mapping[str, Any], limit: int, cursor: str | None
) -> Page:
    """One page of all reviews, the hidden ones among them; newest first."""
    scope = ["reviews to moderate", *sorted(filters.items()), caller.id]
    values = [limit + 1, *_position(signer, scope, cursor)]
    clauses = [_BEYOND.format(2, 2, 3)]
    for name, value in filters.items():
        values.append(value)
        clauses.append(_FILTERS[name].format(len(values)))
    records = await uow.fetch(
        f"SELECT {_OWN_COLUMNS} FROM reviews WHERE {' AND '.join(clauses)} ORDER BY created_at DESC, id DESC LIMIT $1",
        *values,
    )
    return _page(records, signer, scope, limit, own_review_response)


async def find_review(uow: UnitOfWork, review_id: UUID) -> Row | None:
    """The review as its author and staff see it."""
    record = await uow.fetch_row(_REVIEW, review_id)
    return None if record is None else own_review_response(record)


def review_response(record: Any) -> Row:
    """The public shape: who wrote it stays between the buyer and staff."""
    return {
        "id": record["id"],
        "vendorId": record["vendor_id"],
        "productId": record["product_id"],
        "rating": record["rating"],
        "text": record["text"],
        "createdAt": iso(record["created_at"]),
    }


def own_review_response(record: Any) -> Row:
    return {
        **review_response(record),
        "orderId": record["order_id"],
        "buyerId": record["buyer_id"],
        "hiddenAt": iso_or_none(record["hidden_at"]),
        "hiddenBecause": record["hidden_because"],
    }


def _position(signer: CursorSigner, scope: list[Any], cursor: str | None) -> list[Any]:
    if cursor is None:
        return [None, None]
    mark, last_id = signer.open(scope, cursor)
    return [datetime.fromisoformat(mark), UUID(last_id)]


def _page(records: list[Any], signer: CursorSigner, scope: list[Any], limit: int, shown: Any) -> Page:
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        next_cursor = signer.sign(scope, [last["created_at"].isoformat(), str(last["id"])])
    return Page([shown(record) for record in records[:limit]], next_cursor, limit)
