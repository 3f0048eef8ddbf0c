"""Sales by period, product, variant, campus, vendor or category (contract section 6.8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from orders.domain.sales import SaleGroup
from orders.queries.filters import FilterValue
from orders.responses.sales import SalesGroup

_DAY: Final = "(sold_at AT TIME ZONE 'Africa/Lagos')"
# The key of each group and its label; `{0}` is the newest name of the group's products.
_GROUPS: Final[Mapping[SaleGroup, tuple[str, str]]] = {
    "day": (f"to_char({_DAY}, 'YYYY-MM-DD')", "key"),
    "week": (f"to_char(date_trunc('week', {_DAY}), 'YYYY-MM-DD')", "to_char(key::date, 'IYYY-\"W\"IW')"),
    "month": (f"to_char({_DAY}, 'YYYY-MM')", "key"),
    "product": ("product_id::text", "name"),
    # A product without variants is its own group.
    "variant": (
        "coalesce(variant_id, product_id)::text",
        """
        name || coalesce((
            SELECT ' (' || string_agg(pair ->> 1, ', ' ORDER BY place) || ')'
            FROM product_variants AS variant
            CROSS JOIN jsonb_array_elements(variant.option_values) WITH ORDINALITY AS pairs (pair, place)
            WHERE variant.id = key::uuid
        ), '')
        """,
    ),
    "campus": ("campus_id::text", "(SELECT campuses.name FROM campuses WHERE campuses.id = key::uuid)"),
    # An erased vendor has no name.
    "vendor": ("vendor_id::text", "(SELECT nullif(business_name, '') FROM vendors WHERE vendors.id = key::uuid)"),
    "category": ("category", "key"),
}
_SORTS: Final[Mapping[str, str]] = {"key": "key", "orders": "orders", "gross": "gross_minor", "net": "net_minor"}
SALE_SORTS: Final = tuple(_SORTS)
_GROUPED: Final = """
SELECT {key} AS key, (array_agg(name ORDER BY sold_at DESC, item_id))[1] AS name,
    count(DISTINCT order_id) AS orders, sum(quantity)::bigint AS units, sum(gross_minor)::bigint AS gross_minor,
    sum(commission_minor)::bigint AS commission_minor, sum(refunded_minor)::bigint AS refunded_minor,
    sum(net_minor)::bigint AS net_minor, sum(delivery_fee_minor)::bigint AS delivery_fee_minor,
    sum(locked_minor)::bigint AS locked_minor
FROM sale_lines {where} GROUP BY 1
"""
_COLUMNS: Final = (
    "orders, units, gross_minor, commission_minor, refunded_minor, net_minor, delivery_fee_minor, locked_minor"
)
# Also true for the vendor of the caller, which may be newer here than in the event of its approval.
_VENDOR_VISIBLE: Final = "SELECT EXISTS (SELECT FROM vendors WHERE id = $1 AND ($2 OR campus_id = $3))"


@dataclass(frozen=True, slots=True)
class SalesQuery:
    """Sales paid from `start` up to, not including, `end`, in groups; of one vendor, if given."""

    group: SaleGroup
    start: datetime | None
    end: datetime | None
    vendor_id: UUID | None = None


async def is_vendor_visible(uow: UnitOfWork, caller: Caller, vendor_id: UUID) -> bool:
    """Return whether the caller sees sales of this vendor: its merchants, the admins of its campus, finance and
    auditors.
    """
    if caller.may("orders:fulfil") and caller.vendor_id == vendor_id:
        return True
    if not (caller.may("ledger:read") or caller.may("campus_orders:read")):
        return False
    return bool(await uow.fetch_value(_VENDOR_VISIBLE, vendor_id, caller.may("ledger:read"), caller.campus_id))


async def page_of_sales(uow: UnitOfWork, caller: Caller, query: SalesQuery, page: OffsetPage) -> Found[SalesGroup]:
    """One page of the groups, and their total number."""
    grouped, values = _grouped(caller, query)
    ordering = page.order_by(_SORTS[page.sort], "key")
    records = await uow.fetch(
        _rows(query.group, f"{grouped} {ordering} LIMIT {page.limit} OFFSET {page.offset}", ordering), *values
    )
    total = await uow.fetch_value(f"SELECT count(*) FROM ({grouped}) AS sales", *values)
    return [SalesGroup.from_row(record) for record in records], total


async def list_sales(uow: UnitOfWork, caller: Caller, query: SalesQuery, limit: int) -> list[SalesGroup]:
    """At most `limit` groups, by their keys."""
    grouped, values = _grouped(caller, query)
    rows = _rows(query.group, f"{grouped} ORDER BY key LIMIT {limit}", "ORDER BY key")
    return [SalesGroup.from_row(record) for record in await uow.fetch(rows, *values)]


def _rows(group: SaleGroup, grouped: str, ordering: str) -> str:
    """Return the groups with their labels; a group without a name is labelled by its key."""
    _, label = _GROUPS[group]
    return f"SELECT key, coalesce({label}, key) AS label, {_COLUMNS} FROM ({grouped}) AS sales {ordering}"


def _grouped(caller: Caller, query: SalesQuery) -> tuple[str, list[FilterValue]]:
    """Return the groups, narrowed to the caller's campus: row policies also show a campus admin sales of their own
    vendor.
    """
    parameters = Parameters()
    conditions = []
    if query.vendor_id is not None:
        conditions.append(parameters.condition("vendor_id = {}", query.vendor_id))
    elif not caller.may("ledger:read"):
        conditions.append(parameters.condition("campus_id = {}", caller.campus_id))
    if query.start is not None:
        conditions.append(parameters.condition("sold_at >= {}", query.start))
    if query.end is not None:
        conditions.append(parameters.condition("sold_at < {}", query.end))
    where = f"WHERE {all_of(conditions)}"
    return _GROUPED.format(key=_GROUPS[query.group][0], where=where), parameters.values
