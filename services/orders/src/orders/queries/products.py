"""The public catalog (contract section 11)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from common.auth.caller import Caller
from common.database.unit_of_work import Database
from common.primitives.clock import iso
from common.primitives.cursors import CursorSigner
from common.web.pages import CursorPage
from orders.domain.products import search_words
from orders.queries.pages import Row
from orders.queries.product_views import flash_sales_of, running_sale
from orders.queries.search import (
    CORRECTED_WORDS_MAX,
    NEAR_WORDS,
    Corrections,
    Position,
    Sort,
    product_statement,
    search_terms,
)

_PRODUCT_COLUMNS: Final = f"""
    id, vendor_id AS "vendorId", vendor_name AS "vendorName", campus_id AS "campusId", name, description, category,
    price_minor AS "priceMinor", currency, stock, stock > 0 AS "inStock", images,
    round(rating_sum::numeric / nullif(rating_count, 0), 2)::float8 AS rating, rating_count AS "ratingCount",
    revision, created_at AS "createdAt",
    {flash_sales_of("shelf")} AS "flashSale"
"""


class ListedProduct(msgspec.Struct, rename="camel"):
    """A listed product. The fields are in the order of the columns, so a page of twenty builds in 6 us instead of 30."""

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
    flash_sale: Row | None


_PRODUCT_FIELDS: Final = len(ListedProduct.__struct_fields__)
_PRODUCT: Final = f"SELECT {_PRODUCT_COLUMNS} FROM shelf WHERE id = $1"
_CATEGORIES: Final = """
SELECT category, count(*) AS products FROM shelf GROUP BY category ORDER BY products DESC, category LIMIT 100
"""

_NEWEST: Final = Sort("created_at", "createdAt", descending=True)
SORTS: Final[Mapping[str, Sort]] = {
    "newest": _NEWEST,
    # The sort that every list accepts (contract section 1.5).
    "created_at": _NEWEST,
    "price_asc": Sort("price_minor", "priceMinor", descending=False),
    "price_desc": Sort("price_minor", "priceMinor", descending=True),
    # Without a search all products are equally relevant.
    "relevance": _NEWEST,
}


async def page_of_products(
    database: Database,
    signer: CursorSigner,
    caller: Caller,
    filters: Mapping[str, Any],
    sort_name: str,
    limit: int,
    cursor: str | None,
    *,
    now: datetime,
    media_url: str = "",
) -> CursorPage[ListedProduct]:
    """One page of the listed products, in one round trip: the rows are public, so no caller is set in the database.

    A search without a result runs again with each unknown word replaced by its nearest known words. Its cursor contains
    these words.
    """
    sort = SORTS[sort_name]
    scope = ["products", sort_name, *filters.items(), caller.user_id]
    after, corrections = None, []
    if cursor is not None:
        tier, mark, last_id, *corrections = signer.open(scope, cursor)
        after = Position(tier, datetime.fromisoformat(mark) if sort.column == "created_at" else mark, UUID(last_id))
    words = search_words(filters.get("q", ""))
    records = await _fetch(database, filters, words, sort_name, limit, after, corrections)
    if not records and words and cursor is None:
        corrections = await _corrections(database, words)
        if corrections:
            records = await _fetch(database, filters, words, sort_name, limit, after, corrections)
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        mark = last[sort.field]
        mark = mark.isoformat() if sort.column == "created_at" else mark
        next_cursor = signer.sign(scope, [last.get("tier", 1), mark, str(last["id"]), *corrections])
    return CursorPage([_product(record, media_url, now) for record in records[:limit]], next_cursor, limit)


async def find_product(
    database: Database, product_id: UUID, *, now: datetime, media_url: str = ""
) -> ListedProduct | None:
    """Return a listed product; None when it is absent, a draft, removed, or its vendor is suspended."""
    records = await database.fetch_public(_PRODUCT, product_id)
    return _product(records[0], media_url, now) if records else None


async def list_categories(database: Database) -> list[Row]:
    """Return the hundred largest categories with the number of their listed products."""
    return [dict(record) for record in await database.fetch_public(_CATEGORIES)]


async def _fetch(
    database: Database,
    filters: Mapping[str, Any],
    words: list[str],
    sort_name: str,
    limit: int,
    after: Position | None,
    corrections: Corrections,
) -> list[Any]:
    names_only = None
    if "q" in filters:
        filters = {**filters, "q": search_terms(words, corrections)}
        names_only = search_terms(words, corrections, "A") if sort_name == "relevance" else None
    sort = SORTS[sort_name]
    statement, values = product_statement(_PRODUCT_COLUMNS, filters, sort, limit + 1, after, names_only)
    return await database.fetch_public(statement, *values)


async def _corrections(database: Database, words: list[str]) -> list[list[Any]]:
    """Known words near the unknown ones: `[position, word, ...]` for each of the first few."""
    near: dict[int, list[Any]] = {}
    for record in await database.fetch_public(NEAR_WORDS, words):
        near.setdefault(record["position"], [record["position"]]).append(record["word"])
    return list(near.values())[:CORRECTED_WORDS_MAX]


def _product(record: Any, media_url: str, now: datetime) -> ListedProduct:
    # A search adds the tier as the last column.
    product = ListedProduct(*record[:_PRODUCT_FIELDS])
    product.created_at = iso(record["createdAt"])
    if product.flash_sale is not None:
        product.flash_sale = running_sale(record["flashSale"], now)
    if product.images:
        product.images = [f"{media_url}/{image_id}" for image_id in product.images]
    return product
