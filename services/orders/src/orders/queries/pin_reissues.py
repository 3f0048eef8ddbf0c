"""Reissues of delivery PINs by staff (contract section 6)."""

from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record

from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from orders.domain import pin_reissues as domain
from orders.queries.filters import Filters
from orders.responses.pin_reissues import PinReissue

# $1 is the present time.
_FROM: Final = """
FROM pin_reissues AS reissue JOIN orders ON orders.id = reissue.order_id, LATERAL (
    SELECT CASE WHEN reissue.status = 'prepared' AND reissue.expires_at <= $1 THEN 'expired' ELSE reissue.status END
        AS status
) AS shown
"""
_COLUMNS: Final = """
    reissue.id, reissue.order_id, orders.number AS order_number, reissue.reason, shown.status, reissue.prepared_by,
    reissue.prepared_at, reissue.expires_at, reissue.decided_by, reissue.decided_at,
    reissue.rejection AS rejection_reason
"""
# $1 is the present time. Neither who prepared it nor a party of the order approves it.
AWAITING_REISSUE: Final = """
reissue.status = 'prepared' AND reissue.expires_at > $1 AND reissue.prepared_by <> (SELECT app_user_id())
AND NOT EXISTS (
    SELECT FROM orders AS own WHERE own.id = reissue.order_id AND (
        own.status NOT IN ('paid_escrow', 'dispatched') OR own.buyer_id = (SELECT app_user_id())
        OR (own.vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
    )
)
"""
_FILTERS: Final = {
    "orderId": "reissue.order_id = {}",
    "status": "shown.status = {}",
    "awaiting": f"{{}} = 'approval' AND {AWAITING_REISSUE}",
}


async def page_of_pin_reissues(
    uow: UnitOfWork, page: OffsetPage, filters: Filters, *, now: datetime
) -> Found[PinReissue]:
    """One page of the reissues, and their total number."""
    parameters = Parameters(now)
    where = all_of(parameters.conditions(_FILTERS, filters))
    records = await uow.fetch(
        f"SELECT {_COLUMNS} {_FROM} WHERE {where} {page.order_by('reissue.prepared_at', 'reissue.id')} "
        f"LIMIT {page.limit} OFFSET {page.offset}",
        *parameters.values,
    )
    total = await uow.fetch_value(f"SELECT count(*) {_FROM} WHERE {where}", *parameters.values)
    return [_response(record) for record in records], total


async def find_pin_reissue(uow: UnitOfWork, reissue_id: UUID, *, now: datetime) -> PinReissue | None:
    """Return the reissue; None when it is absent or invisible."""
    record = await uow.fetch_row(f"SELECT {_COLUMNS} {_FROM} WHERE reissue.id = $2", now, reissue_id)
    return None if record is None else _response(record)


def _response(record: Record) -> PinReissue:
    hashed = ("id", "prepared_by", "order_id", "reason", "expires_at")
    return PinReissue.from_row(record, hash=domain.PinReissue(*(record[name] for name in hashed)).hash)
