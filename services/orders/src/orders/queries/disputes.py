"""Disputes and their resolutions (contract section 6)."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from asyncpg import Record

from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from orders.domain.disputes import Resolution
from orders.queries.filters import Filters
from orders.responses.disputes import Dispute, DisputeEvidence, DisputeResolution

_DISPUTE: Final = """
SELECT order_id, cause, reason, details, raised_by, raised_at, refund_to, charge_outcome AS chargeback_outcome, outcome,
    ended_at
FROM order_disputes WHERE order_id = $1
"""
_EVIDENCE: Final = """
SELECT id, order_id, author, byte_count, '/api/orders/' || order_id || '/dispute/evidence/' || id AS url, created_at
FROM dispute_evidence WHERE order_id = $1 ORDER BY created_at, id
"""
_HAS_EVIDENCE: Final = "SELECT EXISTS (SELECT FROM dispute_evidence WHERE id = $1 AND order_id = $2)"
_RESOLUTION_COLUMNS: Final = """
    resolution.id, resolution.order_id,
    (SELECT number FROM orders WHERE orders.id = resolution.order_id) AS order_number, resolution.outcome,
    resolution.refund_minor, resolution.release_minor, resolution.refund_id, resolution.status, resolution.reason,
    dispute.cause AS dispute__cause, dispute.reason AS dispute__reason, dispute.details AS dispute__details,
    dispute.charge_outcome AS dispute__chargeback_outcome, resolution.prepared_by, resolution.prepared_at AS created_at,
    resolution.decided_by, resolution.decided_at
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


async def find_dispute(uow: UnitOfWork, order_id: UUID) -> Dispute | None:
    """Return the order's dispute with its evidence, for its parties and for staff; None when it is absent or
    invisible.
    """
    record = await uow.fetch_row(_DISPUTE, order_id)
    return None if record is None else Dispute.from_row(record, evidence=await list_evidence(uow, order_id))


async def list_evidence(uow: UnitOfWork, order_id: UUID) -> list[DisputeEvidence]:
    """Return the images of the order's dispute, oldest first."""
    return [DisputeEvidence.from_row(record) for record in await uow.fetch(_EVIDENCE, order_id)]


async def has_evidence(uow: UnitOfWork, order_id: UUID, evidence_id: UUID) -> bool:
    """Return whether the image belongs to the dispute of this order and is visible to the caller."""
    return bool(await uow.fetch_value(_HAS_EVIDENCE, evidence_id, order_id))


async def page_of_resolutions(uow: UnitOfWork, page: OffsetPage, filters: Filters) -> Found[DisputeResolution]:
    """One page of the resolutions, and their total number."""
    parameters = Parameters()
    where = all_of(parameters.conditions(_FILTERS, filters))
    records = await uow.fetch(
        f"SELECT {_RESOLUTION_COLUMNS} {_FROM_RESOLUTIONS} WHERE {where} "
        f"{page.order_by('resolution.prepared_at', 'resolution.id')} LIMIT {page.limit} OFFSET {page.offset}",
        *parameters.values,
    )
    count = f"SELECT count(*) FROM dispute_resolutions AS resolution WHERE {where}"
    total = await uow.fetch_value(count, *parameters.values)
    return [_resolution(record) for record in records], total


async def find_resolution(uow: UnitOfWork, resolution_id: UUID) -> DisputeResolution | None:
    """Return the resolution; None when it is absent or invisible."""
    record = await uow.fetch_row(_RESOLUTION, resolution_id)
    return None if record is None else _resolution(record)


def _resolution(record: Record) -> DisputeResolution:
    hashed = ("id", "order_id", "outcome", "refund_minor", "status", "prepared_by", "reason")
    return DisputeResolution.from_row(record, hash=Resolution(*(record[name] for name in hashed)).hash)
