"""Disputes of charges, for finance and auditors."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.web.pages import Found, OffsetPage

_FILTER: Final = "($1::text IS NULL OR b.status = $1) AND ($2::uuid IS NULL OR b.order_id = $2)"


async def page_of_chargebacks(uow: UnitOfWork, page: OffsetPage, status: str | None, order_id: UUID | None) -> Found:
    """Chargebacks by status and order. `lossMinor` is the uncovered part of a loss."""
    total = await uow.fetch_value(f"SELECT count(*) FROM chargebacks b WHERE {_FILTER}", status, order_id)
    order = page.order_by({"created_at": "b.opened_at", "amount": "b.amount_minor"}[page.sort], "b.id")
    rows = await uow.fetch(
        f"""
        SELECT b.id, b.identity, b.order_id, b.amount_minor, b.currency, b.status, b.reason, b.loss_minor, b.opened_at, b.decided_at
        FROM chargebacks b WHERE {_FILTER} {order} LIMIT $3 OFFSET $4
        """,
        status,
        order_id,
        page.limit,
        page.offset,
    )
    return [
        {
            "id": row["id"],
            "disputeId": row["identity"],
            "orderId": row["order_id"],
            "amountMinor": row["amount_minor"],
            "currency": row["currency"],
            "status": row["status"],
            "reason": row["reason"],
            "lossMinor": row["loss_minor"],
            "createdAt": iso(row["opened_at"]),
            "decidedAt": iso_or_none(row["decided_at"]),
        }
        for row in rows
    ], total
