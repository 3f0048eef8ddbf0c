"""Disputes and their resolutions (contract section 6)."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from orders.domain.disputes import Resolution
from orders.queries.pages import Row, response_row

_DISPUTE: Final = """
SELECT order_id AS "orderId", cause, reason, details, raised_by AS "raisedBy", raised_at AS "raisedAt",
    charge_outcome AS "chargebackOutcome", outcome, ended_at AS "endedAt"
FROM order_disputes WHERE order_id = $1
"""
_EVIDENCE: Final = """
SELECT id, order_id AS "orderId", author, byte_count AS "byteCount",
    '/api/orders/' || order_id || '/dispute/evidence/' || id AS url, created_at AS "createdAt"
FROM dispute_evidence WHERE order_id = $1 ORDER BY created_at, id
"""
_HAS_EVIDENCE: Final = "SELECT EXISTS (SELECT FROM dispute_evidence WHERE id = $1 AND order_id = $2)"
_RESOLUTION_COLUMNS: Final = """
    resolution.id, resolution.order_id AS "orderId",
    (SELECT number FROM orders WHERE orders.id = resolution.order_id) AS "orderNumber",
    resolution.outcome, resolution.refund_minor AS "refundMinor",
    resolution.release_minor AS "releaseMinor", resolution.refund_id AS "refundId", resolution.status,
    jsonb_build_object(
        'cause', dispute.cause, 'reason', dispute.reason, 'details', dispute.details,
        'chargebackOutcome', dispute.charge_outcome
    ) AS dispute,
    resolution.prepared_by AS "preparedBy", resolution.prepared_at AS "createdAt", resolution.decided_by AS "decidedBy",
    resolution.decided_at AS "decidedAt"
"""
_FROM_RESOLUTIONS: Final = "FROM dispute_resolutions AS resolution JOIN order_disputes AS dispute USING (order_id)"
_RESOLUTION: Final = f"SELECT {_RESOLUTION_COLUMNS} {_FROM_RESOLUTIONS} WHERE resolution.id = $1"
# Neither who prepared it nor a party of the order approves it.
AWAITING_RESOLUTION: Final = """
resolution.status = 'prepared' AND resolution.prepared_by <> (SELECT app_user_id()) AND NOT EXISTS (
    SELECT FROM orders AS own WHERE own.id = resolution.order_id AND (
        own.buyer_id = (SELECT app_user_id())
        OR (own.vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
    )
)
"""
_FILTERS: Final[Mapping[str, str]] = {
    "orderId": "resolution.order_id = {}",
    "status": "resolution.status = {}",
    "awaiting": f"{{}} = 'approval' AND {AWAITING_RESOLUTION}",
}


async def find_dispute(uow: UnitOfWork, order_id: UUID) -> Row | None:
    """Return the order's dispute with its evidence, for its parties and for staff; None when it is absent or invisible."""
    record = await uow.fetch_row(_DISPUTE, order_id)
    return None if record is None else {**response_row(record), "evidence": await list_evidence(uow, order_id)}


async def list_evidence(uow: UnitOfWork, order_id: UUID) -> list[Row]:
    """Return the images of the order's dispute, oldest first."""
    return [response_row(record) for record in await uow.fetch(_EVIDENCE, order_id)]


async def has_evidence(uow: UnitOfWork, order_id: UUID, evidence_id: UUID) -> bool:
    """Whether the image belongs to the dispute of this order and is visible to the caller."""
    return bool(await uow.fetch_value(_HAS_EVIDENCE, evidence_id, order_id))


async def page_of_resolutions(uow: UnitOfWork, page: OffsetPage, filters: Mapping[str, Any]) -> Found[dict[str, Any]]:
    """One page of the resolutions, and their total number."""
    values = list(filters.values())
    clauses = [_FILTERS[name].format(f"${number}") for number, name in enumerate(filters, 1)]
    where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
    records = await uow.fetch(
        f"SELECT {_RESOLUTION_COLUMNS} {_FROM_RESOLUTIONS} {where} "
        f"{page.order_by('resolution.prepared_at', 'resolution.id')} LIMIT {page.limit} OFFSET {page.offset}",
        *values,
    )
    total = await uow.fetch_value(f"SELECT count(*) FROM dispute_resolutions AS resolution {where}", *values)
    return [_resolution(record) for record in records], total


async def find_resolution(uow: UnitOfWork, resolution_id: UUID) -> Row | None:
    """Return the resolution; None when it is absent or invisible."""
    record = await uow.fetch_row(_RESOLUTION, resolution_id)
    return None if record is None else _resolution(record)


def _resolution(record: Any) -> Row:
    hashed = ("id", "orderId", "outcome", "refundMinor", "status", "preparedBy")
    return {**response_row(record), "hash": Resolution(*(record[name] for name in hashed)).hash}
