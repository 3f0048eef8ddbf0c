"""A purchase draft with the current offers of its items (contract section 6.7)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import Reads
from common.primitives.ids import parse_uuid
from orders.domain.purchase_drafts import OPEN_FOR, DraftItem, DraftLine, draft_status
from orders.domain.variants import named
from orders.queries.carts import CURRENT_OFFER
from orders.responses.purchase_drafts import PurchaseDraft, PurchaseDraftItem
from orders.store.purchase_drafts import lines_of

_DRAFT: Final = """
SELECT id, lines, purchase_id, created_at, created_at + $2::interval AS expires_at FROM purchase_drafts WHERE id = $1
"""
# $1 are the ids of products or of variants; a product that is not listed has no offer.
_OFFERS: Final = f"""
SELECT offer.id AS product_id, offer.variant_id, offer.vendor_id, offer.vendor_name, offer.name, offer.option_values,
    offer.unit_price_minor, coalesce(offer.available, 0) AS available, offer.has_variants,
    coalesce(vendor.absent_until > $2, false) AS is_vendor_absent
FROM unnest($1::uuid[]) WITH ORDINALITY AS line (id, position)
LEFT JOIN product_variants AS ordered ON ordered.id = line.id
LEFT JOIN LATERAL ({CURRENT_OFFER.format(variant_id="line.id")}
    WHERE product.id = coalesce(ordered.product_id, line.id)) AS offer
    ON ordered.id IS NULL OR offer.variant_id IS NOT NULL
LEFT JOIN vendors AS vendor ON vendor.id = offer.vendor_id
ORDER BY line.position
"""


async def find_purchase_draft(reads: Reads, draft_id: UUID, now: datetime) -> PurchaseDraft | None:
    """Return the caller's draft; None when it is absent or invisible."""
    row = await reads.fetch_row(_DRAFT, draft_id, OPEN_FOR)
    if row is None:
        return None
    items = [_item(item) for item in await list_draft_items(reads, lines_of(row["lines"]), now)]
    return PurchaseDraft.from_row(
        row,
        status=draft_status(row["purchase_id"], row["created_at"], now),
        items=items,
        subtotal_minor=sum(item.line_total_minor or 0 for item in items if item.obstacle is None),
        currency="NGN",
    )


async def list_draft_items(reads: Reads, lines: Sequence[DraftLine], now: datetime) -> list[DraftItem]:
    """Return the lines at the current prices (kobo)."""
    offers = await reads.fetch(_OFFERS, [parse_uuid(line.retailer_id) for line in lines], now)
    return [
        DraftItem(
            retailer_id=line.retailer_id,
            quantity=line.quantity,
            product_id=offer["product_id"],
            variant_id=offer["variant_id"],
            vendor_id=offer["vendor_id"],
            vendor_name=offer["vendor_name"],
            name=offer["name"] if offer["option_values"] is None else named(offer["name"], offer["option_values"]),
            unit_price_minor=offer["unit_price_minor"],
            available=offer["available"],
            has_variants=bool(offer["has_variants"]),
            is_vendor_absent=offer["is_vendor_absent"],
        )
        for line, offer in zip(lines, offers, strict=True)
    ]


def _item(item: DraftItem) -> PurchaseDraftItem:
    price_minor = item.unit_price_minor
    return PurchaseDraftItem(
        retailer_id=item.retailer_id,
        quantity=item.quantity,
        product_id=item.product_id,
        variant_id=item.variant_id,
        vendor_id=item.vendor_id,
        vendor_name=item.vendor_name,
        name=item.name,
        unit_price_minor=price_minor,
        line_total_minor=None if price_minor is None else price_minor * item.quantity,
        obstacle=item.obstacle,
    )
