"""Charges that wait for people."""

from common.clock import iso
from common.database import UnitOfWork
from common.http import OffsetPage
from payments.queries.pages import Page, ordered


async def page_of_quarantined_charges(uow: UnitOfWork, page: OffsetPage) -> Page:
    total = await uow.fetch_value("SELECT count(*) FROM quarantined_charges")
    order = ordered(page, {"created_at": "created_at"}, "id")
    rows = await uow.fetch(
        f"""
        SELECT id, reference, order_id, amount_minor, currency, reason, status, created_at FROM quarantined_charges
        {order} LIMIT $1 OFFSET $2
        """,
        page.limit,
        page.offset,
    )
    return [
        {
            "id": row["id"],
            "reference": row["reference"],
            "orderId": row["order_id"],
            "amountMinor": row["amount_minor"],
            "currency": row["currency"],
            "reason": row["reason"],
            "status": row["status"],
            "createdAt": iso(row["created_at"]),
        }
        for row in rows
    ], total
