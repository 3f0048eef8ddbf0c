"""The shelf, for everybody (contract section 11)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from common.caller import Caller
from common.cursors import CursorSigner
from common.database import Database
from orders.queries.pages import Page, Row

_PRODUCT_COLUMNS: Final = """
    id, vendor_id AS "vendorId", vendor_name AS "vendorName", campus_id AS "campusId", name, description, category,
    price_minor AS "priceMinor", currency, stock, stock > 0 AS "inStock", images,
    round(rating_sum::numeric / nullif(rating_count, 0), 2)::float8 AS rating, rating_count AS "ratingCount",
    revision, created_at AS "createdAt"
"""
_PRODUCT: Final = f"SELECT {_PRODUCT_COLUMNS} FROM products WHERE id = $1 AND removed_at IS NULL"


@dataclass(frozen=True, slots=True)
class Sort:
    """An order of the product list; `column` and `id` together say where a page ends."""

    column: str
    field: str
    descending: bool


SORTS: Final[Mapping[str, Sort]] = {
    "newest": Sort("created_at", "createdAt", descending=True),
    "price_asc": Sort("price_minor", "priceMinor", descending=False),
    "price_desc": Sort("price_minor", "priceMinor", descending=True),
}
# Each filter is a clause with one value; what is not asked for does not stand in the statement, so that each combination has the
# plan that fits it. asyncpg keeps them prepared.
_PRODUCT_FILTERS: Final[Mapping[str, str]] = {
    "q": "words @@ to_tsquery('english', {})",
    "vendorId": "vendor_id = {}",
    "campusId": "campus_id = {}",
    "category": "category = {}",
    "minPriceMinor": "price_minor >= {}",
    "maxPriceMinor": "price_minor <= {}",
    "inStock": "(stock > 0) = {}",
}
_WITHOUT_FRACTION: Final = len("2026-01-01T00:00:00Z")
# More words make a search narrower than any name, and dearer.
_SEARCH_WORDS_MAX: Final = 8


async def page_of_products(
    database: Database,
    signer: CursorSigner,
    caller: Caller,
    filters: Mapping[str, Any],
    sort_name: str,
    limit: int,
    cursor: str | None,
) -> Page:
    """One page of what is on the shelf, in one round trip: it is public, so nobody's settings are told to the database."""
    sort = SORTS[sort_name]
    scope = ["products", sort_name, *filters.items(), caller.user_id]
    clauses, values = ["removed_at IS NULL"], []
    for name, value in filters.items():
        values.append(_search_terms(value) if name == "q" else value)
        clauses.append(_PRODUCT_FILTERS[name].format(f"${len(values)}"))
    if cursor is not None:
        mark, last_id = signer.open(scope, cursor)
        values += [datetime.fromisoformat(mark) if sort.column == "created_at" else mark, UUID(last_id)]
        clauses.append(f"({sort.column}, id) {'<' if sort.descending else '>'} (${len(values) - 1}, ${len(values)})")
    direction = "DESC" if sort.descending else "ASC"
    statement = (
        f"SELECT {_PRODUCT_COLUMNS} FROM products WHERE {' AND '.join(clauses)} "
        f"ORDER BY {sort.column} {direction}, id {direction} LIMIT {limit + 1}"
    )
    records = await database.fetch_public(statement, *values)
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        mark = last[sort.field]
        next_cursor = signer.sign(scope, [mark.isoformat() if sort.column == "created_at" else mark, str(last["id"])])
    return Page([_product(record) for record in records[:limit]], next_cursor, limit)


async def find_product(database: Database, product_id: UUID) -> Row | None:
    """A product on the shelf."""
    records = await database.fetch_public(_PRODUCT, product_id)
    return _product(records[0]) if records else None


def _product(record: Any) -> Row:
    row = dict(record)
    row["createdAt"] = _iso(row["createdAt"])
    return row


def _iso(instant: datetime) -> str:
    """`iso` of an instant in UTC at a sixth of its cost: twenty of them were a tenth of the page."""
    text: str = msgspec.to_builtins(instant)
    return f"{text[:-1]}.000Z" if len(text) == _WITHOUT_FRACTION else f"{text[:23]}Z"


def _search_terms(text: str) -> str:
    """Every word, or the beginning of one, must occur: `jol rice` finds Jollof Rice. No word at all finds nothing."""
    words = re.findall(r"[^\W_]+", text.lower())[:_SEARCH_WORDS_MAX]
    return " & ".join(f"'{word}':*" for word in words)
