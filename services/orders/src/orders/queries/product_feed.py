"""All listed products, for programs that keep a copy of the catalog (contract section 11)."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from common.database.unit_of_work import Database
from orders.queries.product_views import PRODUCT_COLUMNS, image_urls
from orders.responses.products import FeedProduct

# Memory holds one page, whatever the catalog's size.
_PAGE_ROWS: Final = 500
# The whole rows: a product, a vendor's name or a suspension changes it. Rows are read once, and nothing is sorted.
_TAG: Final = """
SELECT format('%s-%s', count(*), to_hex(coalesce(bit_xor(hashtextextended(product::text, 0)), 0))) AS tag
FROM listed_products AS product
"""
_PAGE: Final = f"""
SELECT {PRODUCT_COLUMNS} FROM listed_products WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT {_PAGE_ROWS}
"""

_encode_lines: Final = msgspec.json.Encoder().encode_lines


async def tag_of_products(database: Database) -> str:
    """Return a text that changes with any listed product."""
    [row] = await database.fetch_public(_TAG)
    return str(row["tag"])


async def lines_of_products(database: Database, media_url: str) -> AsyncIterator[bytes]:
    """Yield the products as JSON Lines, sorted by id, a page at a time.

    Each page is of its own moment: a product that changes meanwhile is sent as it was or as it is.
    """
    last_id = None
    while rows := await database.fetch_public(_PAGE, last_id):
        yield _encode_lines([FeedProduct.from_row(row, images=image_urls(row["images"], media_url)) for row in rows])
        last_id = rows[-1]["id"]
