"""Takedowns of products for campus admins and staff (contract section 11.11)."""

from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.web.pages import CursorPage, CursorRequest
from orders.queries.filters import Filters
from orders.queries.pages import newest_page
from orders.responses.takedowns import ProductTakedown

# A product that was removed after the takedown's end is invisible to staff.
_COLUMNS: Final = """
SELECT takedown.id, takedown.product_id, product.name AS product_name, takedown.vendor_id,
    nullif(vendor.business_name, '') AS vendor_name, takedown.campus_id, takedown.reason, takedown.delisted_by,
    takedown.created_at, takedown.restored_by, takedown.restored_at, takedown.restored_because
FROM product_takedowns AS takedown LEFT JOIN products AS product ON product.id = takedown.product_id
LEFT JOIN vendors AS vendor ON vendor.id = takedown.vendor_id
"""
_TAKEDOWN: Final = f"{_COLUMNS} WHERE takedown.id = $1"
_FILTERS: Final = {
    "productId": "takedown.product_id = {}",
    "vendorId": "takedown.vendor_id = {}",
    "open": "(takedown.restored_at IS NULL) = {}",
}


async def find_takedown(uow: UnitOfWork, takedown_id: UUID) -> ProductTakedown | None:
    """Return the takedown; None when it is absent or invisible."""
    record = await uow.fetch_row(_TAKEDOWN, takedown_id)
    return None if record is None else ProductTakedown.from_row(record)


async def page_of_takedowns(
    uow: UnitOfWork, requested: CursorRequest, caller: Caller, filters: Filters
) -> CursorPage[ProductTakedown]:
    """One page of the takedowns that the caller may see, newest first. Row policies decide which these are."""
    scope = ["product-takedowns", *sorted(filters.items()), caller.id]
    parameters = Parameters()
    conditions = parameters.conditions(_FILTERS, filters)
    if position := requested.time_position(scope):
        conditions.append(parameters.condition("(takedown.created_at, takedown.id) < ({}, {})", *position))
    records = await uow.fetch(
        f"{_COLUMNS} WHERE {all_of(conditions)} ORDER BY takedown.created_at DESC, takedown.id DESC "
        f"LIMIT {requested.limit + 1}",
        *parameters.values,
    )
    return newest_page(records, requested, scope, ProductTakedown.from_row)
