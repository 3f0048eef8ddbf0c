"""The public catalog (contract section 11)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record
from msgspec import UNSET, UnsetType

from common.auth.caller import Caller
from common.database.unit_of_work import Database
from common.web.pages import CursorPage, CursorRequest, cursor_page
from orders.domain.products import search_words
from orders.queries.filters import Filters
from orders.queries.product_views import (
    PRODUCT_COLUMNS,
    current_absence,
    flash_sales_of,
    image_urls,
    product_variants,
    running_sale,
    variants_of,
    vendor_absence_of,
)
from orders.queries.search import (
    CORRECTED_WORDS_MAX,
    NEAR_WORDS,
    Corrections,
    Position,
    Sort,
    product_statement,
    search_terms,
)
from orders.responses.products import Category, Product, ProductVariant

PRODUCT_COLUMNS_LISTED: Final = f"""
    {PRODUCT_COLUMNS}, {flash_sales_of("listed_products")} AS flash_sales,
    {vendor_absence_of("listed_products")} AS vendor_absence
"""
_PRODUCT: Final = (
    f"SELECT {PRODUCT_COLUMNS_LISTED}, {variants_of('listed_products')} AS variants FROM listed_products WHERE id = $1"
)
_CATEGORIES: Final = """
SELECT category, count(*) AS products FROM listed_products GROUP BY category ORDER BY products DESC, category LIMIT 100
"""

_NEWEST: Final = Sort("created_at", descending=True)
SORTS: Final[Mapping[str, Sort]] = {
    "newest": _NEWEST,
    # The sort that every list accepts (contract section 1.5).
    "created_at": _NEWEST,
    "price_asc": Sort("price_minor", descending=False),
    "price_desc": Sort("price_minor", descending=True),
    # Without a search all products are equally relevant.
    "relevance": _NEWEST,
}


async def page_of_products(
    database: Database,
    requested: CursorRequest,
    caller: Caller,
    filters: Filters,
    sort_name: str,
    *,
    now: datetime,
    media_url: str = "",
) -> CursorPage[Product]:
    """One page of the listed products, in one round trip: the rows are public, so no caller is set in the database.

    A search without a result runs again with each unknown word replaced by its nearest known words. Its cursor contains
    these words.
    """
    sort = SORTS[sort_name]
    scope = ["products", sort_name, *filters.items(), caller.user_id]
    after: Position | None = None
    corrections: Corrections = []
    position = requested.open(scope)
    if position is not None:
        tier, mark, last_id, *corrections = position
        after = Position(tier, datetime.fromisoformat(mark) if sort.column == "created_at" else mark, UUID(last_id))
    words = search_words(str(filters.get("q", "")))
    records = await _fetch(database, filters, words, sort_name, requested.limit, after, corrections)
    if not records and words and position is None:
        corrections = await _corrections(database, words)
        if corrections:
            records = await _fetch(database, filters, words, sort_name, requested.limit, after, corrections)

    def position_of(record: Record) -> Sequence[object]:
        mark = record[sort.column]
        mark = mark.isoformat() if sort.column == "created_at" else mark
        return [record.get("tier", 1), mark, str(record["id"]), *corrections]

    return cursor_page(
        requested,
        scope,
        records,
        position_of=position_of,
        item_of=lambda record: product_of(record, media_url, now),
    )


async def find_product(database: Database, product_id: UUID, *, now: datetime, media_url: str = "") -> Product | None:
    """Return a listed product; None when it is absent, a draft, removed, or its vendor is suspended."""
    records = await database.fetch_public(_PRODUCT, product_id)
    if not records:
        return None
    return product_of(
        records[0], media_url, now, variants=product_variants(records[0]["variants"], records[0]["flash_sales"], now)
    )


async def list_categories(database: Database) -> list[Category]:
    """Return the hundred largest categories with the number of their listed products."""
    return [Category.from_row(record) for record in await database.fetch_public(_CATEGORIES)]


async def _fetch(
    database: Database,
    filters: Filters,
    words: list[str],
    sort_name: str,
    limit: int,
    after: Position | None,
    corrections: Corrections,
) -> list[Record]:
    names_only = None
    if "q" in filters:
        filters = {**filters, "q": search_terms(words, corrections)}
        names_only = search_terms(words, corrections, "A") if sort_name == "relevance" else None
    sort = SORTS[sort_name]
    statement, values = product_statement(PRODUCT_COLUMNS_LISTED, filters, sort, limit + 1, after, names_only)
    return await database.fetch_public(statement, *values)


async def _corrections(database: Database, words: list[str]) -> Corrections:
    """Known words near the unknown ones: `[position, word, ...]` for each of the first few."""
    near: dict[int, list[int | str]] = {}
    for record in await database.fetch_public(NEAR_WORDS, words):
        near.setdefault(record["position"], [record["position"]]).append(record["word"])
    return list(near.values())[:CORRECTED_WORDS_MAX]


def product_of(
    record: Record, media_url: str, now: datetime, *, variants: list[ProductVariant] | UnsetType = UNSET
) -> Product:
    return Product.from_row(
        record,
        flash_sale=running_sale(record["flash_sales"], now),
        vendor_away=current_absence(record["vendor_absence"], now),
        images=image_urls(record["images"], media_url),
        variants=variants,
        status=UNSET,
        updated_at=UNSET,
        hidden_because=UNSET,
    )
