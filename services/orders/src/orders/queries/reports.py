"""Reports as their reporters and staff see them (contract section 11.10)."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from asyncpg import Record

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.web.pages import CursorPage, CursorRequest
from orders.queries.filters import Filters
from orders.queries.pages import newest_page
from orders.responses.reports import Report, ReportedSubject

# A removed product and an erased review have no text any more.
_COLUMNS: Final = """
SELECT report.id, report.kind, report.subject_id, CASE report.kind
        WHEN 'product' THEN (SELECT product.name FROM products AS product WHERE product.id = report.subject_id)
        WHEN 'review' THEN (SELECT nullif(left(review.text, 200), '') FROM reviews AS review
            WHERE review.id = report.subject_id)
        WHEN 'message' THEN nullif(left(message.text, 200), '')
        ELSE nullif(vendor.business_name, '') END AS subject_text, message.conversation_id,
    report.vendor_id, nullif(vendor.business_name, '') AS vendor_name, report.reason, report.details,
    report.reporter_id, report.outcome, report.decided_by, report.decided_at, report.created_at
FROM reports AS report LEFT JOIN vendors AS vendor ON vendor.id = report.vendor_id
LEFT JOIN conversation_messages AS message ON report.kind = 'message' AND message.id = report.subject_id
"""
_REPORT: Final = f"{_COLUMNS} WHERE report.id = $1"
_FILTERS: Final[Mapping[str, str]] = {"kind": "report.kind = {}", "vendorId": "report.vendor_id = {}"}
_STATUS: Final[Mapping[str, str]] = {"open": "report.outcome IS NULL", "decided": "report.outcome IS NOT NULL"}
# Not the caller's own reports, nor those about their own vendor.
AWAITING_DECISION: Final = """
outcome IS NULL AND reporter_id <> (SELECT app_user_id()) AND vendor_id IS DISTINCT FROM (SELECT app_vendor_id())
"""


async def find_report(uow: UnitOfWork, report_id: UUID) -> Report | None:
    """Return the report; None when it is absent or invisible."""
    record = await uow.fetch_row(_REPORT, report_id)
    return None if record is None else _report(record)


async def page_of_reports(
    uow: UnitOfWork,
    requested: CursorRequest,
    caller: Caller,
    filters: Filters,
    status: str | None,
    *,
    awaiting_decision: bool = False,
) -> CursorPage[Report]:
    """One page of the reports that the caller may see, newest first. Row policies decide which these are."""
    scope = ["reports", status, awaiting_decision, *sorted(filters.items()), caller.id]
    parameters = Parameters()
    conditions = parameters.conditions(_FILTERS, filters)
    if status is not None:
        conditions.append(_STATUS[status])
    if awaiting_decision:
        conditions.append(f"report.id IN (SELECT id FROM reports WHERE {AWAITING_DECISION})")
    if position := requested.time_position(scope):
        conditions.append(parameters.condition("(report.created_at, report.id) < ({}, {})", *position))
    where = all_of(conditions)
    records = await uow.fetch(
        f"{_COLUMNS} WHERE {where} ORDER BY report.created_at DESC, report.id DESC LIMIT {requested.limit + 1}",
        *parameters.values,
    )
    return newest_page(records, requested, scope, _report)


def _report(record: Record) -> Report:
    return Report.from_row(record, subject=ReportedSubject(kind=record["kind"], id=record["subject_id"]))
