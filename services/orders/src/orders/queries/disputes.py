"""Disputes and their resolutions (contract section 6)."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.web.http import OffsetPage
from orders.domain.disputes import Resolution
from orders.queries.pages import Row

_DISPUTE: Final = """
SELECT dispute.order_id, dispute.cause, dispute.reason, dispute.details, dispute.raised_by, dispute.raised_at,
    dispute.outcome, dispute.ended_at, dispute.charge_outcome
FROM order_disputes AS dispute WHERE dispute.order_id = $1
"""
_RESOLUTION_COLUMNS: Final = """
    resolution.id, resolution.order_id, resolution.outcome, resolution.refund_minor, resolution.release_minor,
    resolution.refund_id, resolution.status, resolution.prepared_by, resolution.prepared_at, resolution.decided_by,
    resolution.decided_at, dispute.cause, dispute.reason, dispute.details, dispute.charge_outcome
"""
_FROM_RESOLUTIONS: Final = "FROM dispute_resolutions AS resolution JOIN order_disputes AS dispute USING (order_id)"
_RESOLUTION: Final = f"SELECT {_RESOLUTION_COLUMNS} {_FROM_RESOLUTIONS} WHERE resolution.id = $1"
_FILTERS: Final[Mapping[str, str]] = {"orderId": "resolution.order_id = {}", "status": "resolution.status = {}"}


async def find_dispute(uow: UnitOfWork, order_id: UUID) -> Row | None:
    """Why the order was disputed and how that ended, for its parties and for staff."""
    record = await uow.fetch_row(_DISPUTE, order_id)
    if record is None:
        return None
    return {
        "orderId": record["order_id"],
        "cause": record["cause"],
        "reason": record["reason"],
        "details": record["details"],
        "raisedBy": record["raised_by"],
        "raisedAt": iso(record["raised_at"]),
        "chargebackOutcome": record["charge_outcome"],
        "outcome": record["outcome"],
        "endedAt": iso_or_none(record["ended_at"]),
    }


async def page_of_resolutions(uow: UnitOfWork, page: OffsetPage, filters: Mapping[str, Any]) -> tuple[list[Row], int]:
    """One page of the resolutions, and how many there are."""
    values = list(filters.values())
    clauses = [_FILTERS[name].format(f"${number}") for number, name in enumerate(filters, 1)]
    where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
    direction = "DESC" if page.descending else "ASC"
    records = await uow.fetch(
        f"SELECT {_RESOLUTION_COLUMNS} {_FROM_RESOLUTIONS} {where} "
        f"ORDER BY resolution.prepared_at {direction}, resolution.id {direction} LIMIT {page.limit} OFFSET {page.offset}",
        *values,
    )
    total = await uow.fetch_value(f"SELECT count(*) FROM dispute_resolutions AS resolution {where}", *values)
    return [_shown(record) for record in records], total


async def find_resolution(uow: UnitOfWork, resolution_id: UUID) -> Row | None:
    record = await uow.fetch_row(_RESOLUTION, resolution_id)
    return None if record is None else _shown(record)


def _resolution(record: Any) -> Resolution:
    return Resolution(
        *(record[name] for name in ("id", "order_id", "outcome", "refund_minor", "status", "prepared_by"))
    )


def _shown(record: Any) -> Row:
    return {
        "id": record["id"],
        "orderId": record["order_id"],
        "outcome": record["outcome"],
        "refundMinor": record["refund_minor"],
        "releaseMinor": record["release_minor"],
        "refundId": record["refund_id"],
        "status": record["status"],
        "hash": _resolution(record).hash,
        "dispute": {
            "cause": record["cause"],
            "reason": record["reason"],
            "details": record["details"],
            "chargebackOutcome": record["charge_outcome"],
        },
        "preparedBy": record["prepared_by"],
        "createdAt": iso(record["prepared_at"]),
        "decidedBy": record["decided_by"],
        "decidedAt": iso_or_none(record["decided_at"]),
    }
