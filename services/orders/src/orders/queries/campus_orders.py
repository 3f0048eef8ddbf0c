"""Orders for staff by campus, as an offset list and as an export (contract section 6)."""

from collections.abc import Mapping
from typing import Final

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from orders.domain.buyer_addresses import AddressHashes
from orders.domain.contacts import ContactDecryption
from orders.domain.exports import ExportedOrder
from orders.queries.filters import Filters, FilterValue
from orders.queries.orders import ORDER_COLUMNS, ORDER_FILTERS, filter_values, order_of, search_by_number
from orders.responses.orders import Order

# A disputed order without a prepared resolution. A party of the order does not resolve it.
AWAITING_DISPUTED: Final = """
orders.status = 'disputed' AND orders.buyer_id <> (SELECT app_user_id())
AND NOT coalesce(orders.vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')), false)
AND EXISTS (SELECT FROM order_disputes AS dispute WHERE dispute.order_id = orders.id AND dispute.ended_at IS NULL)
AND NOT EXISTS (
    SELECT FROM dispute_resolutions AS prepared WHERE prepared.order_id = orders.id AND prepared.status = 'prepared'
)
"""
_FILTERS: Final[Mapping[str, str]] = {
    **ORDER_FILTERS,
    "awaiting": f"{{}} = 'resolution' AND {AWAITING_DISPUTED}",
    "campusId": "campus_id = {}",
    "vendorId": "vendor_id = {}",
    "buyerId": "buyer_id = {}",
    # The row policies of buyer_addresses show campus admins the buyers of their campus only.
    "buyerEmail": "buyer_id IN (SELECT user_id FROM buyer_addresses WHERE email_hash = {})",
    "buyerPhone": "buyer_id IN (SELECT user_id FROM buyer_addresses WHERE phone_hash = {})",
}
_SORTS: Final[Mapping[str, str]] = {"created_at": "orders.created_at", "total": "orders.total_amount"}
_EXPORT: Final = """
SELECT id, status, campus_id, vendor_id, buyer_id, hub_id, currency, total_amount, subtotal_minor, delivery_fee_minor,
       commission_minor, refunded_minor, created_at, updated_at, delivered_at, delivery_note, number
FROM orders {where} ORDER BY created_at, id LIMIT {limit}
"""


def search_by_address(filters: Filters, hashes: AddressHashes) -> Filters:
    """`q` as the buyer's exact address where it is one; the filters as they are otherwise."""
    text = filters.get("q")
    if not isinstance(text, str):
        return filters
    others = {name: value for name, value in filters.items() if name != "q"}
    if (email := hashes.of_email(text)) is not None:
        return {**others, "buyerEmail": email}
    if (phone := hashes.of_phone(text)) is not None:
        return {**others, "buyerPhone": phone}
    return filters


async def page_of_campus_orders(
    uow: UnitOfWork, contacts: ContactDecryption, caller: Caller, page: OffsetPage, filters: Filters
) -> Found[Order]:
    """One page of the orders that the caller oversees, and their total number."""
    where, values = _where(caller, await search_by_number(uow, filters))
    records = await uow.fetch(
        f"SELECT {ORDER_COLUMNS} FROM orders {where} {page.order_by(_SORTS[page.sort], 'orders.id')} "
        f"LIMIT {page.limit} OFFSET {page.offset}",
        *values,
    )
    total = await uow.fetch_value(f"SELECT count(*) FROM orders {where}", *values)
    return [order_of(record, caller, contacts) for record in records], total


async def list_campus_orders(uow: UnitOfWork, caller: Caller, filters: Filters, limit: int) -> list[ExportedOrder]:
    """At most `limit` orders that the caller oversees, oldest first."""
    where, values = _where(caller, await search_by_number(uow, filters))
    return [ExportedOrder(*record) for record in await uow.fetch(_EXPORT.format(where=where, limit=limit), *values)]


def _where(caller: Caller, filters: Filters) -> tuple[str, list[FilterValue]]:
    """Return the filters and the caller's campus.

    Row policies also show a campus admin purchases of their own on other campuses.
    """
    parameters = Parameters()
    conditions = parameters.conditions(_FILTERS, filter_values(filters))
    if not caller.may("orders:read"):
        conditions.append(parameters.condition("campus_id = {}", caller.campus_id))
    return f"WHERE {all_of(conditions)}", parameters.values
