"""Goodwill refunds, for support and finance (decision 205)."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import asyncpg

from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.domain import postings
from payments.domain.goodwill import Goodwill
from payments.responses.goodwill import GoodwillRefund
from payments.responses.ledger import LedgerEntry

_SELECT: Final = """
SELECT g.id, g.order_id, number_of_order(g.order_id) AS order_number, g.buyer_id,
    g.amount_minor, g.reason, g.status, g.prepared_by, g.prepared_at, g.decided_by, g.decided_at,
    g.rejection AS rejection_reason
FROM goodwill_refunds g
"""
# Neither who prepared it nor a party of the order approves it.
AWAITING_GOODWILL: Final = """
g.status = 'prepared' AND g.prepared_by <> (SELECT app_user_id()) AND g.buyer_id <> (SELECT app_user_id())
"""
_FILTERS: Final = {
    "orderId": "g.order_id = {}",
    "status": "g.status = {}",
    "awaiting": f"{{}} = 'approval' AND {AWAITING_GOODWILL}",
}


async def page_of_goodwill(uow: UnitOfWork, page: OffsetPage, filters: Mapping[str, object]) -> Found[GoodwillRefund]:
    """One page of the goodwill refunds, and their total number."""
    parameters = Parameters()
    given = {name: value for name, value in filters.items() if value is not None}
    where = all_of(parameters.conditions(_FILTERS, given))
    total = await uow.fetch_value(f"SELECT count(*) FROM goodwill_refunds g WHERE {where}", *parameters.values)
    order = page.order_by("g.prepared_at", "g.id")
    rows = await uow.fetch(
        f"{_SELECT} WHERE {where} {order} LIMIT {page.limit} OFFSET {page.offset}", *parameters.values
    )
    return [_response(row) for row in rows], total


async def find_goodwill(uow: UnitOfWork, goodwill_id: UUID) -> GoodwillRefund:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_SELECT} WHERE g.id = $1", goodwill_id)
    if row is None:
        raise NotFound
    return _response(row)


def _response(row: asyncpg.Record) -> GoodwillRefund:
    content = Goodwill(
        row["id"], row["prepared_by"], row["order_id"], row["buyer_id"], row["amount_minor"], row["reason"]
    )
    posting = postings.goodwill_refund(row["id"], row["buyer_id"], row["amount_minor"])
    entries = [LedgerEntry(account=entry.account.name, amount_minor=entry.amount_minor) for entry in posting.entries]
    return GoodwillRefund.from_row(row, hash=content.hash, entries=entries)
